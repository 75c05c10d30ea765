// SPDX-License-Identifier: Apache-2.0
// rt/base/biased_lock.h — a lock for what one worker uses again and again: to that one it costs plain stores. Whoever
// else comes pays for both, and then it is an ordinary SpinLock until somebody has had it to himself for long enough.
// Not recursive, not fair; who holds one takes no other one.
#pragma once

#include <arch/user_copy.h>

#include "rt/base/assert.h"
#include "rt/base/atomic.h"
#include "rt/base/lock_rank.h"
#include "rt/base/spinlock.h"
#include "rt/platform.h"

namespace janus {

class BiasedLock;

// One that a lock may be biased to: a worker. It stays as long as any lock that it has ever taken.
class LockOwner {
 private:
  friend class BiasedLock;
  Atomic<const BiasedLock*> holds_{nullptr};  // the biased lock that it is in, or is just trying
};

// INVARIANT biased-or-locked: two never hold the lock. To hold it is to hold lock_ with owner_ null or one's own since
// then, or to have announced itself (LockOwner::holds_) and seen owner_ to be one's own afterwards.
//   owner:  1 holds = this     2 light fence   3 owner still me? mine. else: holds = null, and take lock_
//   others: 1 take lock_       2 owner = null  3 heavy fence   4 does the one that was owner hold this? wait
// The heavy fence makes the light one a full one at that moment, so an owner that does not see step 2 of the other is
// seen in its step 4. Who holds lock_ changes owner_, and only to itself or null; the owner itself changes it to null.
// Each owner announces itself in a word of its own, since one that was slow between 1 and 3 may find that another has
// become owner meanwhile, whose announcement must not be overwritten.
//
// INVARIANT no-lost-departure: who waits in step 4 is woken when the owner leaves.
//   owner:  1 holds = null     2 light fence   3 owner no longer me? departures += 1, wake
//   others: 1 (3 above)        2 read departures   3 does it still hold this? sleep on departures as read
// Either the owner's step 1 comes before the heavy fence and is seen, or its step 3 comes after it and sees no owner.
// tests/models/biased_lock_model_test.cpp explores both.
class BiasedLock {
 public:
  // How it was taken; unlock() wants to know.
  enum class Hold : bool { kPlain, kBiased };

  // For a lock at rest. `may_bias` false: others share it by the plain lock only.
  void init(bool may_bias) noexcept {
    turns_to_own_ = may_bias && platform::has_heavy_fence() ? kFirstTurns : 0;
    previous_ = nullptr;
    turns_left_ = 0;
  }

  // In steps, for who wants to go elsewhere when a step fails.
  [[nodiscard, gnu::always_inline]] bool is_owned_by(LockOwner& me) const noexcept { return cmp_relaxed(owner_, &me); }
  // After is_owned_by(). False: leave() comes next.
  [[nodiscard, gnu::always_inline]] bool try_enter(LockOwner& me) noexcept {
    JANUS_ASSERT(me.holds_.load(std::memory_order_relaxed) == nullptr);  // who holds one takes no other one
    me.holds_.store(this, std::memory_order_relaxed);
    compiler_barrier();  // its partner is the heavy fence in revoke()
    const bool is_mine = cmp_acquire(owner_, &me);
    if constexpr (kAssertions) {
      if (is_mine) note_locked(LockRank::kChannel);
    }
    return is_mine;
  }
  // It was revoked while we had announced ourselves: whoever did may have seen that, and waits.
  void leave(LockOwner& me) noexcept;
  // Has unlocked it; false: leave() comes next.
  [[nodiscard, gnu::always_inline]] bool try_exit(LockOwner& me) noexcept {
    JANUS_ASSERT(me.holds_.load(std::memory_order_relaxed) == this);
    if constexpr (kAssertions) note_unlocked(LockRank::kChannel);
    me.holds_.store(nullptr, std::memory_order_release);  // pairs with revoke()
    compiler_barrier();                                   // as above
    return cmp_relaxed(owner_, &me);
  }

  // If `me` owns it: that is all there is to it. False: nothing has happened.
  [[nodiscard, gnu::always_inline]] bool try_lock_biased(LockOwner& me) noexcept {
    if (!is_owned_by(me)) [[unlikely]]
      return false;
    if (try_enter(me)) [[likely]]
      return true;
    leave(me);
    return false;
  }
  [[gnu::always_inline]] void unlock_biased(LockOwner& me) noexcept {
    if (!try_exit(me)) [[unlikely]]
      wake_revoker();
  }

  // `me` nullptr: one that cannot own it.
  [[nodiscard]] Hold lock(LockOwner* me) noexcept {
    if (me != nullptr && try_lock_biased(*me)) return Hold::kBiased;
    lock_plain(me);
    return Hold::kPlain;
  }
  // Who comes by chance and does not come again, maybe when the lock is already at rest: becomes no owner.
  [[nodiscard]] Hold lock_as_guest(LockOwner* me) noexcept {
    if (me != nullptr && try_lock_biased(*me)) return Hold::kBiased;
    shut_out_owner();
    return Hold::kPlain;
  }
  void unlock(LockOwner* me, Hold hold) noexcept {
    if (hold == Hold::kBiased)
      unlock_biased(*me);
    else
      lock_.unlock();
  }

  // What it guards is gone, and is nobody's more than others' when it comes back: a lock at rest has no owner.
  void unlock_for_good(LockOwner* me, Hold hold) noexcept;

 private:
  // So many turns in a row make an owner. Each time that one has to be revoked, the next has to have twice as many,
  // since a heavy fence costs as much as hundreds of them.
  static constexpr std::uint32_t kFirstTurns = tunable(32, 1), kMaxTurns = tunable(4096, 1);

  void lock_plain(LockOwner* me) noexcept;
  void shut_out_owner() noexcept;
  void revoke(const LockOwner& owner) noexcept;
  void wake_revoker() noexcept;

  Atomic<LockOwner*> owner_{nullptr};  // written under lock_, or by unlock_for_good()
  RankedLock<LockRank::kChannel> lock_;
  Atomic<std::uint32_t> departures_{0};  // what a revoker sleeps on
  // Under lock_.
  LockOwner* previous_ = nullptr;
  std::uint32_t turns_left_ = 0;    // of previous_, until it is owner
  std::uint32_t turns_to_own_ = 0;  // 0: nobody ever is
};

}  // namespace janus
