// SPDX-License-Identifier: Apache-2.0
// tests/linux/kernel_eye.h — asking the kernel what a test must not try by itself, and joining threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rt/platform.h"

namespace janus::test {

template <typename... Args>
long kernel(long number, Args... args) {
  const long list[6] = {(long)args...};
  return platform::syscall(number, list);
}

// Would reading this byte fault? A pipe's write reads it in the kernel, which answers EFAULT.
inline bool is_readable(const void* byte) {
  int ends[2];
  if (kernel(293, ends, 0) < 0) return false;  // pipe2
  const bool readable = kernel(1, ends[1], byte, 1) == 1;
  kernel(3, ends[0]);
  kernel(3, ends[1]);
  return readable;
}

// Waits until `word` is `value`; false after ten seconds.
inline bool reaches(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  const std::uint64_t until = platform::now_ns() + 10'000'000'000;
  for (std::uint32_t seen; (seen = word.load()) != value;) {
    if (platform::now_ns() > until) return false;
    platform::wait(word, seen, until);
  }
  return true;
}

inline void bump(std::atomic<std::uint32_t>& word) {
  word.fetch_add(1);
  platform::wake(word, ~0u);
}

// Runs `body` in a child process of one thread, and gives the child's wait status.
template <typename Body>
int in_child(Body body) {
  const long child = kernel(57);  // fork
  if (child == 0) {
    body();
    platform::exit(0);
  }
  int status = -1;
  while (kernel(61, child, &status, 0, 0) == -4) {
  }
  return status;
}
inline bool exited_with(int status, int code) { return status == code << 8; }
inline bool died_of(int status, int signal) { return (status & 0x7f) == signal; }

}  // namespace janus::test
