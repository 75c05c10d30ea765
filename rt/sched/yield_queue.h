// SPDX-License-Identifier: Apache-2.0
// rt/sched/yield_queue.h — a worker's yield queue: first in, first out for its owner, which takes without an atomic
// read-modify-write; a thief takes up to half of it at a time. After the THE protocol of Frigo, Leiserson and Randall
// (1998): owner and thief compete only for slots where head meets the limit, and there the lock decides. Here both ends
// are the owner's, so a thief takes from the middle and leaves a gap, which the owner skips. docs/decisions/0076
//
//     head ........ limit  (gap: stolen)  gap_end ........ tail
//     for the owner        empty          taken only        the owner pushes here
//     up to limit                         under the lock
//
// INVARIANT yield-queue-once: every pushed runnable is taken exactly once, by take or by steal.
//   take:   1 head := h+1     2 fence   3 load limit: if h < limit, slot h is the owner's. Else decide under the lock.
//   steal:  1 limit := m      2 fence   3 load head: if head <= m, slots m.. are the thief's. Else restore limit.
//   The two fences are totally ordered, so if the owner does not see the new limit, the thief sees the owner's claim.
//   Where the machine has platform::heavy_fence(), the thief executes both fences.
//   tests/models/yield_queue_model_test.cpp
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
  // Maps pages for a ring of 2^log2_capacity slots. False: no memory.
  [[nodiscard]] bool init(unsigned log2_capacity) noexcept;
  void destroy() noexcept;

  // Owner only. False: the ring is full, the machine has no memory for a larger one, and the runnable is not queued.
  [[nodiscard]] bool push(Runnable* runnable) noexcept {
    const std::int64_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_relaxed) > mask_) [[unlikely]] {
      if (!grow(tail)) return false;
    }
    slots_[tail & mask_].store(runnable, std::memory_order_relaxed);
    tail_.store(tail + 1, std::memory_order_release);  // pairs with a thief's load of tail_
    return true;
  }

  // Owner only. Removes and returns the oldest, or returns nullptr.
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

  // Owner only. A push in two steps, for which a take() just before has made room: reserve_tail() stores the runnable
  // where no thief sees it, commit_tail() publishes it.
  [[gnu::always_inline]] void reserve_tail(Runnable* runnable) noexcept {
    slots_[tail_.load(std::memory_order_relaxed) & mask_].store(runnable, std::memory_order_relaxed);
  }
  [[gnu::always_inline]] void commit_tail() noexcept {
    tail_.store(tail_.load(std::memory_order_relaxed) + 1, std::memory_order_release);  // as in push()
  }

  // Owner only. What take() will return after `ahead` others, or nullptr. A hint: it may already have been stolen.
  Runnable* upcoming(std::int64_t ahead) const noexcept {
    const std::int64_t head = head_.load(std::memory_order_relaxed);
    return tail_.load(std::memory_order_relaxed) - head > ahead ? at(head + ahead) : nullptr;
  }

  // Any thread. Moves up to `most` runnables, and at most half of those queued, rounded up, to `out`; returns how many.
  // 0: none is queued, or another thread holds the lock.
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

  // While the owner and all thieves stand: each runnable, the oldest first.
  template <typename Use>
  void for_each(Use use) const noexcept {
    const std::int64_t limit = limit_.load(std::memory_order_relaxed), tail = tail_.load(std::memory_order_relaxed);
    for (std::int64_t i = head_.load(std::memory_order_relaxed); i < tail; ++i) {
      if (i == limit) i = gap_end_.load(std::memory_order_relaxed);
      if (i < tail) use(at(i));
    }
  }

 private:
  static constexpr std::int64_t kNoLimit = INT64_MAX;

  Runnable* take_at_limit(std::int64_t head) noexcept;
  bool grow(std::int64_t tail) noexcept;
  std::size_t steal_locked(Runnable** out, std::size_t most) noexcept;
  bool set_limit(std::int64_t limit) noexcept;
  std::size_t copy(Runnable** out, std::int64_t from, std::int64_t count) const noexcept;
  Runnable* at(std::int64_t index) const noexcept { return slots_[index & mask_].load(std::memory_order_relaxed); }

  // The owner's cache line. The ring is replaced only under the lock, so that thieves may read it while they hold it.
  alignas(arch::kCacheLine) Atomic<std::int64_t> head_{0};
  Atomic<std::int64_t> tail_{0};
  Atomic<Runnable*>* slots_ = nullptr;
  std::int64_t mask_ = -1;
  bool fences_ = false;  // the machine has no heavy fence, so the owner fences
  // The thieves' cache line; the owner writes it only under the lock.
  alignas(arch::kCacheLine) Atomic<std::int64_t> limit_{kNoLimit};
  Atomic<std::int64_t> gap_end_{0};  // written under lock_; the end of the gap while there is a limit
  RankedLock<LockRank::kYieldQueue> lock_;
};

}  // namespace janus
