// SPDX-License-Identifier: Apache-2.0
// tests/mem/kernel_counts.h — what the kernel reports of this process: its number of mappings and its resident memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rt/mem/pages.h"
#include "rt/platform.h"

namespace janus::kernel_counts {

inline constexpr long kRead = 0, kClose = 3, kOpenat = 257;

inline long call(long nr, long a, long b, long c, long d = 0) {
  const long args[6] = {a, b, c, d, 0, 0};
  return platform::syscall(nr, args);
}

// Calls each(byte) for every byte of a file; false if the file cannot be read.
template <class F>
bool read_file(const char* path, F each) {
  const long file = call(kOpenat, -100, reinterpret_cast<long>(path), 0);
  if (file < 0) return false;
  static char bytes[4096];
  for (long n; (n = call(kRead, file, reinterpret_cast<long>(bytes), sizeof bytes)) > 0;)
    for (long at = 0; at < n; at++) each(bytes[at]);
  call(kClose, file, 0, 0);
  return true;
}

inline std::size_t mappings() {
  std::size_t lines = 0;
  (void)read_file("/proc/self/maps", [&](char byte) { lines += byte == '\n'; });
  return lines;
}

// The second number of /proc/self/statm is the number of resident pages.
inline std::size_t resident_bytes() {
  std::size_t pages = 0, field = 0;
  (void)read_file("/proc/self/statm", [&](char byte) {
    if (byte == ' ') field++;
    if (field == 1 && byte >= '0' && byte <= '9') pages = pages * 10 + static_cast<std::size_t>(byte - '0');
  });
  return pages * kPageBytes;
}

}  // namespace janus::kernel_counts
