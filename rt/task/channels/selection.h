// SPDX-License-Identifier: Apache-2.0
// rt/task/channels/selection.h — which of its cases a select takes.
//
// INVARIANT taken-once: a selection leaves kOpen once, under its lock, and the same hold of the lock sees the element
// copied. Where both sides of a transfer are selects, both locks are held, so both are taken or neither is: nobody gives
// back what it has claimed.
//
// INVARIANT no-two-sleep: a select looks at the other side's queue and enters its own under one hold of the channel's
// lock. So of two that fit each other, the later one finds the earlier. It sleeps only after a look at its selection under
// the selection's lock, which it holds until it has left its stack; so whoever takes it afterwards finds it asleep, and
// wakes it. tests/models/selection_model_test.cpp, docs/decisions/0332
#pragma once

#include <cstdint>

#include "rt/base/lock_rank.h"
#include "rt/base/spinlock.h"

namespace janus {

// On the stack of the task that selects. It leaves its select only after it has taken, since then, the lock of each
// channel in whose queue it was; so a thread that finds one of its waits in a queue may use the selection as long as it
// holds that channel's lock.
class Selection {
 public:
  // Or the index of the case that was taken.
  static constexpr std::int32_t kOpen = -1, kAgain = -2, kGivenUp = -3;

  void lock() noexcept {
    if constexpr (kAssertions) expect_lock_in_order(LockRank::kSelection);
    lock_.lock();
    if constexpr (kAssertions) note_locked(LockRank::kSelection);
  }
  void unlock() noexcept {
    if constexpr (kAssertions) note_unlocked(LockRank::kSelection);
    lock_.unlock();
  }

  // Under the lock, or once it is not open.
  [[nodiscard]] std::int32_t taken() const noexcept { return taken_; }
  [[nodiscard]] bool is_open() const noexcept { return taken_ == kOpen; }
  // Under the lock.
  void take(std::int32_t what) noexcept {
    JANUS_ASSERT(is_open());
    taken_ = what;
  }
  // For the task that selects, while it is in no queue.
  void open() noexcept { taken_ = kOpen; }

  bool may_queue = false;  // false: the select only looks whether a case is ready, and is in no queue

 private:
  friend class Claim;

  SpinLock lock_;
  std::int32_t taken_ = kOpen;
};

// Holds the locks of the selections on the two sides of a transfer; nullptr: that side is no select. Two are locked in the
// order of their addresses.
class Claim {
 public:
  Claim(Selection* mine, Selection* theirs) noexcept : mine_(mine), theirs_(theirs) {
    if (mine == nullptr && theirs == nullptr) [[likely]]
      return;
    if constexpr (kAssertions) expect_lock_in_order(LockRank::kSelection);
    Selection* const first = mine == nullptr || (theirs != nullptr && theirs < mine) ? theirs : mine;
    Selection* const second = first == mine ? theirs : mine;
    first->lock_.lock();
    if (second != nullptr) second->lock_.lock();
    if constexpr (kAssertions) note_locked(LockRank::kSelection);
  }
  ~Claim() { release(); }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  [[nodiscard]] bool is_mine_open() const noexcept { return mine_ == nullptr || mine_->is_open(); }
  [[nodiscard]] bool is_theirs_open() const noexcept { return theirs_ == nullptr || theirs_->is_open(); }
  // What is not open must not be taken. No effect on a side that is no select.
  void take_mine(std::int32_t what) noexcept {
    if (mine_ != nullptr) mine_->take(what);
  }
  void take_theirs(std::int32_t what) noexcept {
    if (theirs_ != nullptr) theirs_->take(what);
  }
  void release() noexcept {
    if (mine_ == nullptr && theirs_ == nullptr) [[likely]]
      return;
    if constexpr (kAssertions) note_unlocked(LockRank::kSelection);
    if (mine_ != nullptr) mine_->lock_.unlock();
    if (theirs_ != nullptr) theirs_->lock_.unlock();
    mine_ = theirs_ = nullptr;
  }

 private:
  Selection *mine_, *theirs_;
};

}  // namespace janus
