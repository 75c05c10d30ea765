// SPDX-License-Identifier: Apache-2.0
// biased_lock.cpp — locking by threads that are not the owner: revoking, counting uses in a row, becoming owner.
#include "rt/base/biased_lock.h"

namespace janus {

namespace {

// An owner holds the lock for some hundred nanoseconds; if it takes longer, its thread has lost its CPU.
constexpr std::uint32_t kDepartureSpins = tunable(100, 0);

}  // namespace

void BiasedLock::shut_out_owner() noexcept {
  lock_.lock();
  if (const LockOwner* const owner = owner_.load(std::memory_order_acquire)) revoke(*owner);
}

[[gnu::noinline]] void BiasedLock::lock_plain(LockOwner* me) noexcept {
  shut_out_owner();
  if (me != previous_ || me == nullptr) {
    previous_ = me;
    uses_left_ = uses_to_own_;
  } else if (uses_left_ != 0 && --uses_left_ == 0) {
    owner_.store(me, std::memory_order_relaxed);  // applies from its next lock() on; unlocking lock_ publishes it
  }
}

[[gnu::noinline]] void BiasedLock::revoke(const LockOwner& owner) noexcept {
  owner_.store(nullptr, std::memory_order_relaxed);
  platform::heavy_fence();
  if (uses_to_own_ < kMaxUses) uses_to_own_ *= 2;
  for (std::uint32_t spin = 0;; ++spin) {
    const std::uint32_t seen = departures_.load(std::memory_order_acquire);
    if (owner.holds_.load(std::memory_order_acquire) != this) return;  // pairs with try_exit(), leave()
    if (spin < kDepartureSpins)
      pause();
    else
      platform::wait(departures_, seen, platform::kForever);
  }
}

void BiasedLock::unlock_for_good(LockOwner* me, Hold hold) noexcept {
  if (hold == Hold::kPlain) {
    owner_.store(nullptr, std::memory_order_relaxed);
    return lock_.unlock();
  }
  JANUS_ASSERT(me->holds_.load(std::memory_order_relaxed) == this);
  if constexpr (kAssertions) note_unlocked(LockRank::kChannel);
  me->holds_.store(nullptr, std::memory_order_release);
  LockOwner* expected = me;
  if (!owner_.compare_exchange_strong(expected, nullptr, std::memory_order_release, std::memory_order_relaxed))
    wake_revoker();
}

[[gnu::noinline]] void BiasedLock::leave(LockOwner& me) noexcept {
  me.holds_.store(nullptr, std::memory_order_release);
  wake_revoker();
}

[[gnu::noinline]] void BiasedLock::wake_revoker() noexcept {
  departures_.fetch_add(1, std::memory_order_release);
  platform::wake(departures_, 1);
}

}  // namespace janus
