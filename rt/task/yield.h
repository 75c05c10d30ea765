// SPDX-License-Identifier: Apache-2.0
// rt/task/yield.h — giving way: voluntarily, or at the end of a slice.
#pragma once

#include "rt/task/task.h"

namespace janus {

// Goes behind every ready task. 0, or -1: the task was told to end. Free, but for a yield after a yield with nothing
// charged in between, which costs one op.
int yield(Task& task) noexcept;
// The same in the middle of a long operation, at no cost, if anybody else is ready on this worker. Handles what wants
// attention, too (a SIGTERM): no check does while the operation lasts.
void let_others_run(Task& task) noexcept;
// At the end of a slice: pays what was spent, looks at cancellation and at who else wants to run. 0, or -1.
int yield_slow(Task& task) noexcept;

}  // namespace janus
