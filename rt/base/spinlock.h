// SPDX-License-Identifier: Apache-2.0
// rt/base/spinlock.h — the lock of the slow paths: spins briefly, then sleeps, so that it also works if its holder was
// preempted on the very CPU of the thread that waits. Not recursive, not fair; a task that holds one must not switch,
// unless the pending action releases it (lock_rank.h). Uncontended it costs one atomic read-modify-write, to lock.
// docs/decisions/0078
#pragma once

#include <cstdint>

#include "rt/base/assert.h"
#include "rt/base/atomic.h"

namespace janus {

// INVARIANT no-lost-unlock: a thread that sleeps is woken after the lock has become free.
//   unlock: 1 held = 0          2 light fence   3 waiting != 0? then wake one thread
//   wait:   1 waiting += 1      2 heavy fence   3 still held? then sleep while both words are unchanged
// The heavy fence makes the light one a full one at that moment: at least one side sees the other's step 1. On a
// machine without heavy fence, no thread sleeps for longer than kLockNapNs.
class alignas(std::uint32_t) SpinLock {
 public:
  void lock() noexcept {
    if (!try_lock()) [[unlikely]]
      lock_slow();
  }

  [[nodiscard]] bool try_lock() noexcept {
    std::uint16_t expected = 0;
    return held_.compare_exchange_strong(expected, 1, std::memory_order_acquire, std::memory_order_relaxed);
  }

  void unlock() noexcept {
    JANUS_ASSERT(held_.load(std::memory_order_relaxed) != 0);
    held_.store(0, std::memory_order_release);
    compiler_barrier();
    if (waiting_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      wake_one();
  }

 private:
  void lock_slow() noexcept;
  void wake_one() noexcept;
  // Both words as one, which is what a futex compares.
  Atomic<std::uint32_t>& both() noexcept { return *reinterpret_cast<Atomic<std::uint32_t>*>(this); }

  Atomic<std::uint16_t> held_{0};
  Atomic<std::uint16_t> waiting_{0};
};
static_assert(sizeof(SpinLock) == sizeof(std::uint32_t));

// Holds any lock that has lock() and unlock() for as long as it lives.
template <typename Lock>
class LockGuard {
 public:
  explicit LockGuard(Lock& lock) noexcept : lock_(lock) { lock_.lock(); }
  ~LockGuard() { lock_.unlock(); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  Lock& lock_;
};

}  // namespace janus
