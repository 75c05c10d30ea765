// SPDX-License-Identifier: Apache-2.0
// rt/task/report/log.cpp — lines of the runtime. The writing worker may be the only one, and the reader may be slow or
// stopped: many tasks that panic must not delay the others through a full pipe. So all waits for the reader share one
// time budget, called patience; lines that it does not cover are dropped. docs/decisions/0304
#include "rt/task/report/log.h"

#include <atomic>
#include <cstdint>

#include "rt/base/format.h"
#include "rt/platform.h"

namespace janus {

namespace {

constexpr int kStandardError = 2;
constexpr std::uint64_t kMaxPatienceNs = 20'000'000;
constexpr std::uint64_t kPatienceInterval = 100;  // one nanosecond of patience is regained every 100 ns

std::atomic<std::uint64_t> lines_dropped{0};
// The time at which the patience is full again.
std::atomic<std::uint64_t> patience_whole_ns{0};

// Takes half of the patience that is left at `now`, so that another writer has some, too, and all together wait no longer
// than it allows.
std::uint64_t take_patience(std::uint64_t now) noexcept {
  constexpr std::uint64_t kAll = kMaxPatienceNs * kPatienceInterval;
  std::uint64_t whole = patience_whole_ns.load(std::memory_order_relaxed), half;
  do {
    if (whole >= now + kAll) return 0;
    half = (whole > now ? now + kAll - whole : kAll) / 2;
  } while (!patience_whole_ns.compare_exchange_weak(whole, now + kAll - half, std::memory_order_relaxed));
  return half / kPatienceInterval;
}

// Writes once, and waits for the reader if patience is left. 0 or less: nothing was written.
long put_some(const char* bytes, std::size_t count) noexcept {
  const long written = platform::write(kStandardError, bytes, count, 0);
  if (written > 0) return written;
  const std::uint64_t from = platform::now_ns(), patience = take_patience(from);
  if (patience == 0) return written;
  const long written_later = platform::write(kStandardError, bytes, count, from + patience);
  // Gives back what was not needed, or pays for what the write took beyond it: the difference may be negative.
  patience_whole_ns.fetch_add((platform::now_ns() - from - patience) * kPatienceInterval, std::memory_order_relaxed);
  return written_later;
}

// False: not all of it was written.
bool put(const char* bytes, std::size_t count) noexcept {
  while (count != 0) {
    const long written = put_some(bytes, count);
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

// Writes a line that tells how many lines were dropped before. False: that line could not be written either.
bool account_for_dropped() noexcept {
  const std::uint64_t dropped = lines_dropped.exchange(0, std::memory_order_relaxed);
  if (dropped == 0) return true;
  Text<64> line;
  line.append("janus: %lu lines dropped\n", static_cast<unsigned long>(dropped));
  if (put(line.data(), line.size())) return true;
  lines_dropped.fetch_add(dropped, std::memory_order_relaxed);
  return false;
}

}  // namespace

void say(const char* lines, std::size_t size) noexcept {
  if (account_for_dropped() && put(lines, size)) return;
  lines_dropped.fetch_add(lines_in(lines, size), std::memory_order_relaxed);
}

}  // namespace janus
