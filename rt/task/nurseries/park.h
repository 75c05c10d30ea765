// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/park.h — one token for each task, for users that build their own locks.
#pragma once

#include "rt/task/record/task.h"

namespace janus {

// Waits for the token and takes it: 0, -1 for a cancel, or an error. With `forever` false it does not wait.
int park(Task& task, bool forever) noexcept;
// Leaves the token, and wakes the task if it waits for it. Any thread; `worker` nullptr: from outside.
void unpark(Worker* worker, Task& task) noexcept;

}  // namespace janus
