// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/room.h — waiting until a descriptor has room: for a reader, who may take as long as it likes. One thread of the
// process (janus/room) waits in the kernel for all who wait here, without a time limit; it is there only while somebody
// waits. docs/decisions/0321
#pragma once

#include <cstdint>

#include "rt/task/record/task.h"

namespace janus {

// Waits until `fd` has room or a write to it fails, or until call_room_waiters() has been called since room_calls() (room_bell.h) was
// `calls`. May return early. `task`: the running task, which leaves its worker to others; nullptr: the thread itself
// waits. False: the machine gives no thread or no descriptor for it, and nobody has waited.
[[nodiscard]] bool wait_for_room(Task* task, int fd, std::uint32_t calls) noexcept;

}  // namespace janus
