// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/room.h — waiting, without a time limit, until a reader makes room in a descriptor. One helper thread of
// the process (janus/room) waits in the kernel for all waiters; it exists only while there are any. docs/decisions/0321
#pragma once

#include <cstdint>

#include "rt/task/record/task.h"

namespace janus {

// Waits until `fd` has room, until a write to it fails, or until call_room_waiters() is called. `calls` is an earlier
// result of room_calls() (room_bell.h): a call since then counts, too. May return early. `task`: the running task,
// which leaves its worker to other tasks; nullptr: the thread itself waits. False: no thread or descriptor was
// available for waiting, and the caller has not waited.
[[nodiscard]] bool wait_for_room(Task* task, int fd, std::uint32_t calls) noexcept;

}  // namespace janus
