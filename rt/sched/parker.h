// SPDX-License-Identifier: Apache-2.0
// rt/sched/parker.h — where one worker sleeps.
#pragma once

#include <cstdint>

#include <arch/cpu.h>
#include "rt/base/atomic.h"
#include "rt/platform.h"

namespace janus {

// unpark() leaves a token, park() takes it; there is at most one token.
//     kEmpty --park--> kParked --unpark--> kToken --(park returns)--> kEmpty
class Parker {
 public:
  // Owner only. Sleeps until there is a token or `until_ns` passes; true if it took a token. May return false early.
  bool park(std::uint64_t until_ns) noexcept {
    std::uint32_t expected = kEmpty;
    if (state_.compare_exchange_strong(expected, kParked, std::memory_order_relaxed))
      platform::wait(state_, kParked, until_ns);
    return state_.exchange(kEmpty, std::memory_order_acquire) == kToken;  // pairs with unpark()
  }

  // By a handler that interrupts the owner: whether it sleeps, and nobody has woken it.
  [[nodiscard]] bool is_parked() const noexcept { return state_.load(std::memory_order_relaxed) == kParked; }

  // Any thread.
  void unpark() noexcept {
    if (state_.exchange(kToken, std::memory_order_release) == kParked) platform::wake(state_, 1);
  }

 private:
  enum : std::uint32_t { kEmpty, kParked, kToken };
  alignas(arch::kCacheLine) Atomic<std::uint32_t> state_{kEmpty};
};

}  // namespace janus
