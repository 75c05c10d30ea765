// SPDX-License-Identifier: Apache-2.0
// rt/task/sync/mutex_word.h — how the word of a mutex changes: functions of its bits, for rt/task/sync/mutex.cpp and the
// model of its protocol.
//
// INVARIANT unlock-sees-waiters: HolderWord::kWaiters is set before a task waits, and while it is set the word changes only
// under the bucket's lock. A holder that unlocks without that lock sees by its compare-and-swap that the bit is not set,
// so a task that comes later sees the lock free. tests/models/mutex_model_test.cpp
#pragma once

#include "rt/task/record/holder_word.h"

namespace janus {

// What a task finds at a mutex. Of the first two it has the mutex.
enum class Found : std::uint8_t { kFree, kPoisoned, kHeld, kMine, kCalled };

struct Look {
  std::uint64_t me;  // HolderWord::kHolder
  bool have_others;  // wait, who stay in the queue
  bool will_wait;    // if it is held
};

// The word after the look of a task. `has_ended(bits)`: whether the holder has.
template <typename HasEnded>
constexpr std::uint64_t look_at(std::uint64_t bits, const Look& look, HasEnded has_ended, Found& found) noexcept {
  const std::uint64_t holder = bits & HolderWord::kHolder;
  found = Found::kCalled;
  if ((bits & HolderWord::kDone) != 0) return bits;
  found = Found::kMine;
  if (holder == look.me) return bits;
  found = Found::kHeld;
  if (holder != 0 && !has_ended(bits)) return look.will_wait ? bits | HolderWord::kWaiters : bits;
  const std::uint64_t poison = holder != 0 ? HolderWord::kPoisoned : bits & HolderWord::kPoisoned;
  found = poison != 0 ? Found::kPoisoned : Found::kFree;
  return look.me | poison | (look.have_others ? HolderWord::kWaiters : 0);
}

// The word after an unlock by its holder. `next`: to whom it is handed over, or 0; `are_waiting`: then, in the queue.
constexpr std::uint64_t unlocked(std::uint64_t bits, std::uint64_t next, bool are_waiting) noexcept {
  return next | (bits & HolderWord::kPoisoned) | (are_waiting ? HolderWord::kWaiters : 0);
}

}  // namespace janus
