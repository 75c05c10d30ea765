// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/yield.h — lets other tasks run. rt/task/account/charge.h charges for that and checks for cancels.
#pragma once

#include "rt/task/record/task.h"

namespace janus {

// Puts the task behind every ready task. Its slice is committed, and it gets a new one when it goes on. The fast path
// is for a task's own yields, and does the same.
template <Path kPath>
void give_way(Worker& worker, Task& task) noexcept;
// Called in the middle of a long operation: yields, at no cost, if another task is ready on this worker. Also handles
// requests for attention (such as a SIGTERM), since no yield check runs during the operation.
void let_others_run(Task& task) noexcept;

}  // namespace janus
