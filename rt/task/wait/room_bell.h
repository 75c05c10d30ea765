// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/room_bell.h — wakes the waiters for room (room.h), so that they check for cancels. docs/decisions/0321
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/base/lock_rank.h"

namespace janus {

struct RoomBell {
  RankedLock<LockRank::kKeyedLock> lock;
  int bell = -1;                       // descriptor of the helper's bell, under the lock; negative: no helper
  std::atomic<std::uint32_t> waiters;  // their count; changes under the lock
  std::atomic<std::uint32_t> calls;
};
[[nodiscard]] RoomBell& room() noexcept;

// INVARIANT called-or-looks: a caller of wait_for_room() sees every cancel that could concern it.
//   cancel: 1 mark the members   2 count the call       3 if there are waiters, ring the bell; the helper wakes all
//   writer: 1 read the count     2 look at the marks    3 become a waiter   4 if the count has changed, do not wait
// Steps 2 and 3 of the cancel and 3 and 4 of the writer are sequentially consistent, so one of the two sees the other.
[[nodiscard]] inline std::uint32_t room_calls() noexcept {
  return room().calls.load(std::memory_order_seq_cst);
}
// Wakes all waiters for room, to check for cancels: one may hold a lock that a cancelled task waits for. Any thread
// that holds no lock of the rank kKeyedLock or a later one.
void call_room_waiters() noexcept;

}  // namespace janus
