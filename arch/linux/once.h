// SPDX-License-Identifier: Apache-2.0
// arch/linux/once.h — something found out about the machine at its first use, by whichever thread comes first. Static
// constructors do not exist here, and a host may call any function first.
#pragma once

#include <atomic>
#include <cstdint>

#include "arch/linux/kernel_call.h"

namespace janus::kernel {

class Once {
 public:
  // Returns when `find` has run, here or elsewhere. `find` must not come back to the same Once.
  template <typename Find>
  void run(Find find) noexcept {
    if (state_.load(std::memory_order_acquire) == kDone) return;  // pairs with the store below
    std::uint32_t expected = kNew;
    if (state_.compare_exchange_strong(expected, kRunning, std::memory_order_relaxed)) {
      find();
      state_.store(kDone, std::memory_order_release);
      call(kFutex, &state_, kFutexWakePrivate, 0x7fffffff);
      return;
    }
    while (state_.load(std::memory_order_acquire) != kDone)  // pairs with the store above
      call(kFutex, &state_, kFutexWaitBitsetPrivate, kRunning, nullptr, nullptr, kFutexAnyone);
  }

 private:
  enum : std::uint32_t { kNew, kRunning, kDone };
  std::atomic<std::uint32_t> state_{kNew};
};

}  // namespace janus::kernel
