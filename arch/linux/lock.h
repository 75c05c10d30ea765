// SPDX-License-Identifier: Apache-2.0
// arch/linux/lock.h — a lock for the few tables of this layer, used once for each slab or handler. Waiters sleep.
#pragma once

#include <atomic>
#include <cstdint>

#include "arch/linux/kernel_call.h"

namespace janus::kernel {

// kFree --lock--> kHeld --a second lock--> kContended --unlock wakes one--> kFree
class Lock {
 public:
  void lock() noexcept {
    std::uint32_t seen = kFree;
    if (word_.compare_exchange_strong(seen, kHeld, std::memory_order_acquire)) return;  // pairs with unlock()
    while (word_.exchange(kContended, std::memory_order_acquire) != kFree)              // pairs with unlock()
      call(kFutex, &word_, kFutexWaitBitsetPrivate, kContended, nullptr, nullptr, kFutexAnyone);
  }
  void unlock() noexcept {
    if (word_.exchange(kFree, std::memory_order_release) == kContended)  // pairs with lock()
      call(kFutex, &word_, kFutexWakePrivate, 1);
  }

 private:
  enum : std::uint32_t { kFree, kHeld, kContended };
  std::atomic<std::uint32_t> word_{kFree};
};

class Hold {
 public:
  explicit Hold(Lock& lock) : lock_(lock) { lock_.lock(); }
  ~Hold() { lock_.unlock(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  Lock& lock_;
};

}  // namespace janus::kernel
