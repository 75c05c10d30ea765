// SPDX-License-Identifier: Apache-2.0
// spinlock.cpp — what happens when the lock is not free.
#include "rt/base/spinlock.h"

#include "arch/x86_64/cpu.h"
#include "rt/platform.h"

namespace janus {

namespace {
// Longer than any of our critical sections that makes no system call, shorter than a sleep and a wake-up.
constexpr int kSpins = 100;
}  // namespace

void SpinLock::lock_slowly() noexcept {
  for (int spin = 0; spin < kSpins; spin++) {
    if (word_.load(std::memory_order_relaxed) == kFree && try_lock()) return;
    arch::pause();
  }
  while (word_.exchange(kAwaited, std::memory_order_acquire) != kFree)
    platform::wait(word_, kAwaited, platform::kForever);
}

void SpinLock::wake_one() noexcept {
  platform::wake(word_, 1);
}

}  // namespace janus
