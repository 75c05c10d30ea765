// SPDX-License-Identifier: Apache-2.0
// rt/task/report/log.cpp — lines of the runtime. A worker that has one to say may be the only one there is, and the reader may
// have stopped: many tasks that panic must not hold up the others through a full pipe.
#include "rt/task/report/log.h"

#include <atomic>
#include <cstdint>

#include "rt/base/format.h"
#include "rt/platform.h"

namespace janus {

namespace {

constexpr int kStandardError = 2;
constexpr std::uint64_t kPatienceNs = 100'000'000;

std::atomic<std::uint64_t> lines_dropped{0};
std::atomic<bool> nobody_reads{false};  // the last line was not taken: the next one does not wait at all

// False: not all of it went out.
bool put(const char* bytes, std::size_t count, std::uint64_t until_ns) noexcept {
  while (count != 0) {
    const long written = platform::write(kStandardError, bytes, count, until_ns);
    if (written <= 0) return false;
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
  return true;
}

std::uint64_t lines_in(const char* bytes, std::size_t count) noexcept {
  std::uint64_t lines = 0;
  for (std::size_t i = 0; i < count; ++i) lines += bytes[i] == '\n' ? 1 : 0;
  return lines;
}

// First says how many lines were dropped before.
bool account_for_dropped(std::uint64_t until_ns) noexcept {
  const std::uint64_t dropped = lines_dropped.exchange(0, std::memory_order_relaxed);
  if (dropped == 0) return true;
  Text<64> line;
  line.append("janus: %lu lines dropped\n", static_cast<unsigned long>(dropped));
  if (put(line.data(), line.size(), until_ns)) return true;
  lines_dropped.fetch_add(dropped, std::memory_order_relaxed);
  return false;
}

}  // namespace

void say(const char* lines, std::size_t size) noexcept {
  const bool waits = !nobody_reads.load(std::memory_order_relaxed);
  const std::uint64_t until = waits ? platform::now_ns() + kPatienceNs : 0;
  const bool is_said = account_for_dropped(until) && put(lines, size, until);
  nobody_reads.store(!is_said, std::memory_order_relaxed);
  if (!is_said) lines_dropped.fetch_add(lines_in(lines, size), std::memory_order_relaxed);
}

}  // namespace janus
