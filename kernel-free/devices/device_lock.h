// SPDX-License-Identifier: Apache-2.0
// device_lock.h — a spinlock that is held while a device works, which takes long: interrupts stay on, so that requests
// are answered and threads take turns. Touches the needed stack first, as in lock.h, so that a task that overflows
// holds no lock.
#pragma once

#include <atomic>

#include <arch/cpu.h>

#include "kernel-free/smp/lock.h"

namespace janus::bare {

class DeviceLock {
 public:
  [[nodiscard]] bool try_lock() noexcept { return !held_.exchange(true, std::memory_order_acquire); }
  void unlock() noexcept {
    BARE_ASSERT(held_.load(std::memory_order_relaxed));
    held_.store(false, std::memory_order_release);  // pairs with try_lock()
  }

 private:
  std::atomic<bool> held_{false};
};

class DeviceLockGuard {
 public:
  explicit DeviceLockGuard(DeviceLock& lock) noexcept : lock_(lock) {
    touch_stack<kDeviceStack>();  // with the sections of other locks that are entered within
    while (!lock_.try_lock()) arch::pause();
  }
  ~DeviceLockGuard() { lock_.unlock(); }
  DeviceLockGuard(const DeviceLockGuard&) = delete;
  DeviceLockGuard& operator=(const DeviceLockGuard&) = delete;

 private:
  DeviceLock& lock_;
};

}  // namespace janus::bare
