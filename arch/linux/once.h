// SPDX-License-Identifier: Apache-2.0
// arch/linux/once.h — runs a function once, when the first thread needs its result. Static constructors cannot do that:
// there are none here, and a host may call any function first.
#pragma once

#include <atomic>
#include <cstdint>

#include "arch/linux/kernel_call.h"

namespace janus::kernel {

class Once {
 public:
  // Returns when `find` has run, here or on another thread. `find` must not use the same Once.
  template <typename Find>
  void run(Find find) noexcept {
    if (state_.load(std::memory_order_acquire) == kDone) return;  // pairs with the exchange below
    std::uint32_t seen = kNew;
    if (state_.compare_exchange_strong(seen, kRunning, std::memory_order_acquire)) {
      find();
      if (state_.exchange(kDone, std::memory_order_release) == kAwaited)  // pairs with the acquires
        call(kFutex, &state_, kFutexWakePrivate, 0x7fffffff);
      return;
    }
    while (seen != kDone) {
      if (seen == kAwaited || state_.compare_exchange_strong(seen, kAwaited, std::memory_order_acquire))
        call(kFutex, &state_, kFutexWaitBitsetPrivate, kAwaited, nullptr, nullptr, kFutexAnyone);
      seen = state_.load(std::memory_order_acquire);
    }
  }

 private:
  enum : std::uint32_t { kNew, kRunning, kAwaited, kDone };
  std::atomic<std::uint32_t> state_{kNew};
};

}  // namespace janus::kernel
