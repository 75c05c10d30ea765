// SPDX-License-Identifier: Apache-2.0
// rt/task/run.h — a task from its start to its end.
#pragma once

#include "rt/sched/path.h"
#include "rt/task/task.h"

namespace janus {

// Calls a task that has not started on the stack we stand on, and ends it.
void run_from_base(Runnable* fresh) noexcept;
// Runs the children of `nursery` that are next on this worker and have not started, in place of waiting for them.
// kFast: as long as the nursery is private.
template <Path kPath>
void run_children(Task& self, Nursery& nursery) noexcept;
void refuse_start(Runnable* fresh) noexcept;

}  // namespace janus
