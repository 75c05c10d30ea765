// SPDX-License-Identifier: Apache-2.0
// rt/base/lock_rank.cpp — counts the locks that a worker holds, if assertions are compiled.
#include "rt/base/lock_rank.h"

#include "rt/base/worker_slot.h"
#include "rt/platform.h"

namespace janus {

namespace {

#if JANUS_ASSERTIONS
// How many locks of each rank the calling worker holds; nullptr: the caller is not a worker.
std::uint8_t* held_by_caller() noexcept {
  auto* const slot = static_cast<WorkerSlot*>(platform::worker_slot());
  return slot != nullptr ? slot->locks_held : nullptr;
}
#else
std::uint8_t* held_by_caller() noexcept {
  return nullptr;
}
#endif

constexpr unsigned number(LockRank rank) noexcept {
  return static_cast<unsigned>(rank);
}

}  // namespace

void expect_lock_in_order(LockRank rank) noexcept {
  const std::uint8_t* const held = held_by_caller();
  if (held == nullptr) return;
  const unsigned first = number(rank) + (rank == LockRank::kNursery ? 1 : 0);
  for (unsigned later = first; later < number(LockRank::kCount); ++later) {
    const bool locks_are_taken_by_rank = held[later] == 0;
    JANUS_CHECK(locks_are_taken_by_rank);
  }
}

void note_locked(LockRank rank) noexcept {
  if (std::uint8_t* const held = held_by_caller()) ++held[number(rank)];
}

void note_unlocked(LockRank rank) noexcept {
  std::uint8_t* const held = held_by_caller();
  if (held == nullptr) return;
  const bool lock_was_held = held[number(rank)] != 0;
  JANUS_CHECK(lock_was_held);
  --held[number(rank)];
}

}  // namespace janus
