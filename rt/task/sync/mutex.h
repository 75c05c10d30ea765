// SPDX-License-Identifier: Apache-2.0
// rt/task/sync/mutex.h — a lock in a word of a user's memory (HolderWord): janus_mutex and janus_once. docs/decisions/0333
//
// A free lock is taken by whoever comes first, so that a lock that changes hands seldom waits for a switch. Who was woken
// and finds it taken stays first in the queue, and the next unlock by one of its group hands the lock over to it; so does
// one after others have taken it a few times since that wake (barges()). Other groups hand it over after the fourth wake
// for nothing: they do not wait for a task that has not run, as its budget may be dry. Groups take turns in the queue.
#pragma once

#include <cstdint>

#include "rt/task/sync/mutex_word.h"
#include "rt/task/sync/sync_queue.h"

namespace janus {

// Called by the running task, with no lock held. Results beside those of waits: kErrorState: the lock is held, and a holder
// before has ended without unlocking it, since when it was not healed; kErrorDeadlock: the task holds it already, or waits
// for itself over others; kErrorInvalid: the word is not that of a lock. kFaulted: see answer_of().
[[nodiscard]] int lock_mutex(Task& self, std::uint64_t* word) noexcept;
// The first step of lock_mutex() and unlock_mutex(): whether that was all there was to do. Nobody waited, or the first one
// is awake.
[[nodiscard]] inline bool take_free_mutex(Task& self, std::uint64_t* word) noexcept {
  const std::uint64_t me = holder_bits_of(self);
  std::uint64_t bits = 0;
  if (swap_word(word, bits, me) == arch::UserSwap::kDone) return true;
  return may_barge(bits) && swap_word(word, bits, barged(bits, me)) == arch::UserSwap::kDone;
}
[[nodiscard]] inline bool free_mutex(Task& self, std::uint64_t* word) noexcept {
  const std::uint64_t me = holder_bits_of(self);
  std::uint64_t bits = me;
  if (swap_word(word, bits, 0) == arch::UserSwap::kDone) return true;
  return may_free(bits, me) && swap_word(word, bits, freed(bits)) == arch::UserSwap::kDone;
}
// Does not wait: kErrorWouldBlock.
[[nodiscard]] int try_lock_mutex(Task& self, std::uint64_t* word) noexcept;
// Waits whatever happens, until the task holds the lock: 0 or kErrorState. Only kFaulted and kErrorInvalid mean that it
// does not.
[[nodiscard]] int relock_mutex(Task& self, std::uint64_t* word) noexcept;
// kErrorState: the task does not hold it.
[[nodiscard]] int unlock_mutex(Task& self, std::uint64_t* word) noexcept;
[[nodiscard]] int heal_mutex(Task& self, std::uint64_t* word) noexcept;
[[nodiscard]] bool holds_mutex(Task& self, std::uint64_t word) noexcept;

// kToCall: the calling task has to call the function, and then end_once_call(). 0: it was called.
inline constexpr int kToCall = 4;
[[nodiscard]] int begin_once_call(Task& self, std::uint64_t* word) noexcept;
[[nodiscard]] int end_once_call(Task& self, std::uint64_t* word) noexcept;

}  // namespace janus
