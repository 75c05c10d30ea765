// SPDX-License-Identifier: Apache-2.0
// rt/task/sync/mutex_word.h — how the word of a mutex changes: functions of its bits, for rt/task/sync/mutex.cpp and the
// model of its protocol.
//
// INVARIANT unlock-sees-waiters: HolderWord::kWaiters is set before a task waits, and while it is set the word changes only
// under the bucket's lock, or while the first waiter is awake. A holder that unlocks without that lock sees by its
// compare-and-swap that nobody waits, so a task that comes later sees the lock free, or that the first waiter will look.
//
// INVARIANT first-is-awake: while HolderWord::kBarges is not 0 the first waiter has been woken and not looked since. It looks
// under the bucket's lock, and the same compare-and-swap by which it sees that the lock is held sets kBarges to 0. If it
// leaves without a look, it wakes the next one instead. tests/models/mutex_model_test.cpp
#pragma once

#include "rt/task/record/holder_word.h"

namespace janus {

// What a task finds at a mutex. Of the first two it has the mutex.
enum class Found : std::uint8_t { kFree, kPoisoned, kHeld, kMine, kCalled };

struct Look {
  std::uint64_t me;  // HolderWord::kHolder
  bool have_others;  // wait, who stay in the queue
  bool will_wait;    // if it is held
  bool is_first;     // of those who wait
};

constexpr unsigned barges_left(std::uint64_t bits) noexcept {
  const auto barges = static_cast<unsigned>((bits & HolderWord::kBarges) / HolderWord::kBarge);
  return barges != 0 ? barges - 1 : 0;
}
// Whether the first waiter has been woken, and others have taken the lock since as often as they may.
constexpr bool have_all_barged(std::uint64_t bits) noexcept {
  return (bits & HolderWord::kBarges) == HolderWord::kBarge;
}
// HolderWord::kBarges once the first waiter is woken: the others may take the lock 6 times before, or 16 times if none
// waits behind it. So of 8 tasks that want it none is passed by more than 50, and few locks are handed over.
constexpr std::uint64_t barges(bool have_others) noexcept {
  return (1 + (have_others ? 6 : 16)) * HolderWord::kBarge;
}

// ... and once they have taken it one time more.
constexpr std::uint64_t one_barge_less(std::uint64_t bits) noexcept {
  return barges_left(bits) != 0 ? bits - HolderWord::kBarge : bits;
}

// The word after the look of a task. `has_ended(bits)`: whether the holder has.
template <typename HasEnded>
constexpr std::uint64_t look_at(std::uint64_t bits, const Look& look, HasEnded has_ended, Found& found) noexcept {
  const std::uint64_t holder = bits & HolderWord::kHolder;
  found = Found::kCalled;
  if ((bits & HolderWord::kDone) != 0) return bits;
  found = Found::kMine;
  if (holder == look.me) return bits;
  found = Found::kHeld;
  if (holder != 0 && !has_ended(bits)) {
    const std::uint64_t after = look.will_wait ? bits | HolderWord::kWaiters : bits;
    return look.is_first ? after & ~HolderWord::kBarges : after;
  }
  const std::uint64_t poison = holder != 0 ? HolderWord::kPoisoned : bits & HolderWord::kPoisoned;
  found = poison != 0 ? Found::kPoisoned : Found::kFree;
  if (!look.have_others) return look.me | poison;
  return look.me | poison | HolderWord::kWaiters | (look.is_first ? 0 : one_barge_less(bits & HolderWord::kBarges));
}

// Whether somebody may take the lock although tasks wait, without the bucket's lock; and the word after that.
constexpr bool may_barge(std::uint64_t bits) noexcept {
  return barges_left(bits) != 0 && (bits & ~HolderWord::kBarges) == HolderWord::kWaiters;
}
constexpr std::uint64_t barged(std::uint64_t bits, std::uint64_t me) noexcept {
  return one_barge_less(bits) | me;
}
// Whether the holder may free the lock although tasks wait, without the bucket's lock; and the word after that.
constexpr bool may_free(std::uint64_t bits, std::uint64_t me) noexcept {
  return barges_left(bits) != 0 && (bits & HolderWord::kHolder) == me;
}
constexpr std::uint64_t freed(std::uint64_t bits) noexcept {
  return bits & ~HolderWord::kHolder;
}

// The word after an unlock by its holder, under the bucket's lock. `next`: to whom it is handed over, or 0;
// `waiting`: HolderWord::kWaiters and kBarges of those who wait then.
constexpr std::uint64_t unlocked(std::uint64_t bits, std::uint64_t next, std::uint64_t waiting) noexcept {
  return next | (bits & HolderWord::kPoisoned) | waiting;
}

}  // namespace janus
