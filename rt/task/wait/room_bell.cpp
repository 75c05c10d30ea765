// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/room_bell.cpp — see room_bell.h.
#include "rt/task/wait/room_bell.h"

#include "rt/platform.h"

namespace janus {

namespace {
constinit RoomBell the_room;
}  // namespace

RoomBell& room() noexcept {
  return the_room;
}

void call_room_waiters() noexcept {
  the_room.calls.fetch_add(1, std::memory_order_seq_cst);
  if (the_room.waiters.load(std::memory_order_seq_cst) == 0) return;
  LockGuard guard(the_room.lock);
  if (the_room.bell >= 0) platform::ring_bell(the_room.bell);
}

}  // namespace janus
