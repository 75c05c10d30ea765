// SPDX-License-Identifier: Apache-2.0
// rt/task/run/pin.h — tasks that stay on their worker's thread. docs/decisions/0342
//
// While a task is pinned, each of its calls takes the general path, since the worker's stack limit is kAlwaysSlow: so no
// fast path has to ask. It waits at channels as a task of another runtime does, so nobody wakes it on the fast path either.
// It runs no child in its place.
#pragma once

#include "rt/optional.h"
#include "rt/task/record/task.h"

namespace janus {

// The running task stays on this worker until unpin() was called as often, or until its end. False: it was pinned 2^32 - 1
// times.
[[nodiscard]] bool pin(Task& self) noexcept;
// False: it is not pinned.
[[nodiscard]] bool unpin(Task& self) noexcept;
// Undoes all pins of the running task, which ends ...
[[JANUS_OPTIONAL]] void end_pins(Task& self) noexcept;
// ... or those that its own half has made, which has ended by force.
[[JANUS_OPTIONAL]] void end_pins_of_half(Task& self) noexcept;

}  // namespace janus
