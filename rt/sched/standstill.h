// SPDX-License-Identifier: Apache-2.0
// rt/sched/standstill.h — since when a worker has stood still, as far as others have seen: it waits in the kernel, runs
// one task for long, or has no CPU. Those that look for work share what they have seen of it, so that each of many
// workers that stand still is known as such after two looks, whoever takes them. docs/decisions/0325
#pragma once

#include <atomic>
#include <cstdint>

namespace janus {

// Any thread; all-zero bytes are the first state. Only hints: of two that look at once, one may undo what the other saw,
// and then the time begins anew.
class Standstill {
 public:
  // Whether the worker's count of what it has done has been `progress` for `least_ns`. Times are of one clock.
  [[nodiscard]] bool has_lasted(std::uint64_t progress, std::uint64_t now_ns, std::uint64_t least_ns) noexcept {
    // Read and written in this order, so that no time is taken for that of a later progress.
    const bool is_same = progress_.load(std::memory_order_acquire) == progress;
    const std::uint64_t since = since_ns_.load(std::memory_order_relaxed);
    if (is_same && since != 0) return now_ns >= since + least_ns;
    since_ns_.store(now_ns, std::memory_order_relaxed);
    progress_.store(progress, std::memory_order_release);
    return false;
  }

 private:
  std::atomic<std::uint64_t> progress_;
  std::atomic<std::uint64_t> since_ns_;  // 0: never looked at
};

}  // namespace janus
