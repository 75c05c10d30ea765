// SPDX-License-Identifier: Apache-2.0
// rt/base/spinlock.h — the lock of the slow paths: a few spins, then sleep, so that it also works when its holder was
// preempted on the very CPU that waits for it. Not recursive, not fair; a task must not switch while it holds one.
#pragma once

#include <atomic>
#include <cstdint>

namespace janus {

//   kFree --lock--> kHeld --(someone waits)--> kAwaited --unlock--> kFree, and one waiter is woken
// A waiter that was woken leaves kAwaited behind: it cannot know whether it was the last one.
class SpinLock {
 public:
  void lock() noexcept {
    if (!try_lock()) [[unlikely]]
      lock_slowly();
  }

  [[nodiscard]] bool try_lock() noexcept {
    std::uint32_t expected = kFree;
    return word_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire, std::memory_order_relaxed);
  }

  void unlock() noexcept {
    if (word_.exchange(kFree, std::memory_order_release) == kAwaited) [[unlikely]]
      wake_one();
  }

 private:
  enum : std::uint32_t { kFree, kHeld, kAwaited };

  void lock_slowly() noexcept;
  void wake_one() noexcept;

  std::atomic<std::uint32_t> word_{kFree};
};

class LockGuard {
 public:
  explicit LockGuard(SpinLock& lock) noexcept : lock_(lock) { lock_.lock(); }
  ~LockGuard() { lock_.unlock(); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  SpinLock& lock_;
};

}  // namespace janus
