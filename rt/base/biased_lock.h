// SPDX-License-Identifier: Apache-2.0
// rt/base/biased_lock.h — a lock that can be biased to one worker, its owner, which then locks it by plain stores. When
// another thread takes the lock, that thread executes the fences for both sides. From then on the lock is an ordinary
// SpinLock, until one worker has taken it often enough in a row. Not recursive, not fair. The holder of a biased lock
// takes no other one. docs/decisions/0088
#pragma once

#include <arch/user_copy.h>

#include "rt/base/assert.h"
#include "rt/base/atomic.h"
#include "rt/base/lock_rank.h"
#include "rt/base/spinlock.h"
#include "rt/platform.h"

namespace janus {

class BiasedLock;

// A worker as a possible owner of locks. It lives at least as long as any lock that it has ever taken.
class LockOwner {
 private:
  friend class BiasedLock;
  Atomic<const BiasedLock*> holds_{nullptr};  // the biased lock that it holds, or is trying to enter
};

// INVARIANT biased-or-locked: no two threads hold the lock at once. A thread holds it if it holds lock_, and owner_ has
// since been null or the thread itself; or if it has announced itself (LockOwner::holds_) and has then seen itself in
// owner_.
//   owner:  1 holds = this     2 light fence   3 owner still me? then it holds it. Else: holds = null, and take lock_
//   others: 1 take lock_       2 owner = null  3 heavy fence   4 does the former owner hold this? then wait
// The heavy fence makes the light one a full one at that moment, so if the owner does not see step 2 of the other, that
// one sees the owner in its step 4. Only the holder of lock_ changes owner_, to itself or to null, and the owner
// itself, to null. Each owner announces itself in a word of its own: between steps 1 and 3 of a slow owner another
// worker may become owner, and its announcement must not be overwritten.
//
// INVARIANT no-lost-departure: a thread that waits in step 4 is woken when the owner leaves.
//   owner:  1 holds = null     2 light fence   3 owner no longer me? departures += 1, wake
//   others: 1 heavy fence      2 read departures   3 does it still hold this? sleep on departures as read
// Either the owner's step 1 comes before the heavy fence and is seen, or its step 3 comes after it and sees no owner.
// tests/models/biased_lock_model_test.cpp explores both.
class BiasedLock {
 public:
  // How the lock was taken; to be passed to unlock().
  enum class Hold : bool { kPlain, kBiased };

  // Precondition: no thread uses the lock. `may_bias` false: it never has an owner.
  void init(bool may_bias) noexcept {
    uses_to_own_ = may_bias && platform::has_heavy_fence() ? kFirstUses : 0;
    previous_ = nullptr;
    uses_left_ = 0;
  }

  // Locking and unlocking in steps, for callers that take another path when a step fails.
  [[nodiscard, gnu::always_inline]] bool is_owned_by(LockOwner& me) const noexcept { return cmp_relaxed(owner_, &me); }
  // Precondition: is_owned_by(me) was true. False: the lock has been revoked, and the caller must call leave().
  [[nodiscard, gnu::always_inline]] bool try_enter(LockOwner& me) noexcept {
    JANUS_ASSERT(me.holds_.load(std::memory_order_relaxed) == nullptr);  // the holder of one takes no other one
    me.holds_.store(this, std::memory_order_relaxed);
    compiler_barrier();  // its partner is the heavy fence in revoke()
    const bool is_mine = cmp_acquire(owner_, &me);
    if constexpr (kAssertions) {
      if (is_mine) note_locked(LockRank::kChannel);
    }
    return is_mine;
  }
  // Called after try_enter() or try_exit() returned false, because the lock was revoked. The revoker may have seen the
  // owner's announcement in holds_; it waits until the announcement is withdrawn.
  void leave(LockOwner& me) noexcept;
  // Unlocks the lock. False: the lock has been revoked meanwhile, and the caller must call leave(), which wakes the
  // revoker.
  [[nodiscard, gnu::always_inline]] bool try_exit(LockOwner& me) noexcept {
    JANUS_ASSERT(me.holds_.load(std::memory_order_relaxed) == this);
    if constexpr (kAssertions) note_unlocked(LockRank::kChannel);
    me.holds_.store(nullptr, std::memory_order_release);  // pairs with revoke()
    compiler_barrier();                                   // as above
    return cmp_relaxed(owner_, &me);
  }

  // Locks the lock if `me` is its owner. False: `me` is not the owner, and nothing has changed.
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

  // `me`: the calling worker's LockOwner; nullptr: the caller cannot become owner.
  [[nodiscard]] Hold lock(LockOwner* me) noexcept {
    if (me != nullptr && try_lock_biased(*me)) return Hold::kBiased;
    lock_plain(me);
    return Hold::kPlain;
  }
  // As lock(), for a caller that will not take the lock again, or does not know whether the object that it guards has
  // ended: the caller does not become owner. Allowed after unlock_for_good().
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

  // Unlocks the lock when the object that it guards has ended: the lock has no owner afterwards.
  void unlock_for_good(LockOwner* me, Hold hold) noexcept;

 private:
  // A worker that takes the lock once and then so many more times in a row becomes its owner. Each revocation doubles
  // that number, since a heavy fence costs as much as hundreds of uncontended locks.
  static constexpr std::uint32_t kFirstUses = tunable(32, 1), kMaxUses = tunable(4096, 1);

  void lock_plain(LockOwner* me) noexcept;
  void shut_out_owner() noexcept;
  void revoke(const LockOwner& owner) noexcept;
  void wake_revoker() noexcept;

  Atomic<LockOwner*> owner_{nullptr};  // written under lock_, or by unlock_for_good()
  RankedLock<LockRank::kChannel> lock_;
  Atomic<std::uint32_t> departures_{0};  // a revoker sleeps on this
  // Guarded by lock_.
  LockOwner* previous_ = nullptr;  // the worker that took lock_ last, guests not counted
  // How many more times in a row previous_ has to take the lock to become owner. 0: it is the owner, or was; after a
  // revocation by a guest it becomes owner again only when another caller of lock() has taken the lock meanwhile. Also
  // 0 if there is never an owner.
  std::uint32_t uses_left_ = 0;
  std::uint32_t uses_to_own_ = 0;  // 0: there is never an owner
};

}  // namespace janus
