// SPDX-License-Identifier: Apache-2.0
// spinlock.cpp — waiting for a lock that is not free.
#include "rt/base/spinlock.h"

#include "rt/platform.h"

namespace janus {

namespace {

// So many spins outlast most critical sections, but not a walk along a long list, and are meant to cost less than a
// sleep and a wake-up.
constexpr std::uint32_t kSpins = tunable(100, 0);
constexpr std::uint64_t kLockNapNs = 1'000'000;
constexpr std::uint32_t kHeldHalf = 0xffff;

}  // namespace

[[gnu::noinline, gnu::cold]] void SpinLock::lock_slow() noexcept {
  for (std::uint32_t spin = 0; spin < kSpins; spin++) {
    if (held_.load(std::memory_order_relaxed) == 0 && try_lock()) return;
    pause();
  }
  waiting_.fetch_add(1, std::memory_order_seq_cst);
  const bool is_fenced = platform::has_heavy_fence();
  if (is_fenced) platform::heavy_fence();
  while (!try_lock()) {
    const std::uint32_t seen = both().load(std::memory_order_relaxed);
    if ((seen & kHeldHalf) == 0) continue;
    platform::wait(both(), seen, is_fenced ? platform::kForever : platform::now_ns() + kLockNapNs);
  }
  waiting_.fetch_sub(1, std::memory_order_relaxed);
}

[[gnu::noinline]] void SpinLock::wake_one() noexcept {
  platform::wake(both(), 1);
}

}  // namespace janus
