// SPDX-License-Identifier: Apache-2.0
// rt/sched/yield_queue.h — a worker's queue of what yielded: first in, first out for its owner, who takes without an
// atomic read-modify-write; thieves take half of it at a time. After the THE protocol of Frigo, Leiserson and Randall
// (1998): the two sides meet only where they are close, and there the lock decides. Here both ends are the owner's, so
// a thief takes from the middle and leaves a gap that the owner leaps over.
//
//     head ........ limit  (gap: stolen)  gap_end ........ tail
//     the owner's,         nobody's       the lock's        the owner pushes
//     up to limit
//
// INVARIANT yield-queue-once: every pushed runnable is taken exactly once, by take or by steal.
//   take:   1 head := h+1     2 fence   3 look at limit; h < limit: slot h is ours. Else ask under the lock.
//   steal:  1 limit := m      2 fence   3 look at head; head <= m: slots m.. are ours. Else limit is put back.
//   The two fences are totally ordered, so an owner that does not see the new limit is seen by the thief. Where the
//   machine has platform::heavy_fence() the thief executes both of them. tests/models/yield_queue_model_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>

#include <arch/cpu.h>
#include "rt/base/atomic.h"
#include "rt/base/lock_rank.h"
#include "rt/platform.h"
#include "rt/sched/path.h"

namespace janus {

struct Runnable;

class YieldQueue {
 public:
  // `log2_capacity` slots to begin with, on pages of its own. False: no memory.
  [[nodiscard]] bool init(unsigned log2_capacity) noexcept;
  void destroy() noexcept;

  // Owner only. False when full and the machine has no memory for a larger ring: it is not in.
  [[nodiscard]] bool push(Runnable* runnable) noexcept {
    const std::int64_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_relaxed) > mask_) [[unlikely]] {
      if (!grow(tail)) return false;
    }
    slots_[tail & mask_].store(runnable, std::memory_order_relaxed);
    tail_.store(tail + 1, std::memory_order_release);  // pairs with a thief's load of tail_
    return true;
  }

  // Owner only: the oldest, or nullptr.
  template <Path kPath = Path::kGeneral>
  [[gnu::always_inline]] Runnable* take() noexcept {
    const std::int64_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_.load(std::memory_order_relaxed)) return nullptr;
    head_.store(head + 1, std::memory_order_relaxed);
    if (kPath == Path::kGeneral && fences_) [[unlikely]]
      full_fence();
    compiler_barrier();
    if (head >= limit_.load(std::memory_order_relaxed)) [[unlikely]]
      return take_at_limit(head);
    return at(head);
  }

  // Owner only, in two steps: after a take() there is room for one more, which nobody but the owner sees until it is
  // published.
  [[gnu::always_inline]] void reserve_tail(Runnable* runnable) noexcept {
    slots_[tail_.load(std::memory_order_relaxed) & mask_].store(runnable, std::memory_order_relaxed);
  }
  [[gnu::always_inline]] void commit_tail() noexcept {
    tail_.store(tail_.load(std::memory_order_relaxed) + 1, std::memory_order_release);  // as in push()
  }

  // Owner only: what take() will give after `ahead` others, or nullptr; a hint that may have been stolen.
  Runnable* upcoming(std::int64_t ahead) const noexcept {
    const std::int64_t head = head_.load(std::memory_order_relaxed);
    return tail_.load(std::memory_order_relaxed) - head > ahead ? at(head + ahead) : nullptr;
  }

  // Any thread: moves up to `most` and at most half of what is there, rounded up, to `out`; how many. 0: nothing is
  // there, or somebody else is at it.
  std::size_t steal(Runnable** out, std::size_t most) noexcept;

  // Any thread, a hint.
  std::int64_t size() const noexcept {
    const std::int64_t head = head_.load(std::memory_order_acquire);
    const std::int64_t tail = tail_.load(std::memory_order_acquire);
    const std::int64_t limit = limit_.load(std::memory_order_acquire);
    const std::int64_t gap = limit != kNoLimit ? gap_end_.load(std::memory_order_relaxed) - limit : 0;
    const std::int64_t size = tail - head - gap;
    return size > 0 ? size : 0;
  }

 private:
  static constexpr std::int64_t kNoLimit = INT64_MAX;

  Runnable* take_at_limit(std::int64_t head) noexcept;
  bool grow(std::int64_t tail) noexcept;
  std::size_t steal_locked(Runnable** out, std::size_t most) noexcept;
  bool set_limit(std::int64_t limit) noexcept;
  std::size_t copy(Runnable** out, std::int64_t from, std::int64_t count) const noexcept;
  Runnable* at(std::int64_t index) const noexcept { return slots_[index & mask_].load(std::memory_order_relaxed); }

  // The owner's line. A ring is replaced under the lock only, so that thieves may read it there.
  alignas(arch::kCacheLine) Atomic<std::int64_t> head_{0};
  Atomic<std::int64_t> tail_{0};
  Atomic<Runnable*>* slots_ = nullptr;
  std::int64_t mask_ = -1;
  bool fences_ = false;  // no heavy fence on this machine
  // The thieves', which the owner only reads.
  alignas(arch::kCacheLine) Atomic<std::int64_t> limit_{kNoLimit};
  Atomic<std::int64_t> gap_end_{0};  // under lock_, while there is a limit
  RankedLock<LockRank::kYieldQueue> lock_;
};

}  // namespace janus
