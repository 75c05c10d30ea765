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

// Defined above, in rt/task/await.cpp: a task that ends awaits, and who awaits runs tasks. tests/layers knows this
// call. Ends what a task left open, innermost first; its result becomes theirs if it was 0 or more.
std::int64_t end_left_open(Task& task, std::int64_t code, bool cancel) noexcept;

}  // namespace janus
