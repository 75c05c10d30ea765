// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/yield.h — giving way to other tasks. Charging for that, and looking for a cancel, is rt/task/account/charge.h.
#pragma once

#include "rt/task/record/task.h"

namespace janus {

// Puts the task behind every ready task. Its slice is committed, and it gets a new one when it goes on. The general path is
// for what is rarer than a task's own yields.
template <Path kPath>
void give_way(Worker& worker, Task& task) noexcept;
// Gives way in the middle of a long operation, at no cost, if another task is ready on this worker. Handles what wants
// attention, too (a SIGTERM): no check does while the operation lasts.
void let_others_run(Task& task) noexcept;

}  // namespace janus
