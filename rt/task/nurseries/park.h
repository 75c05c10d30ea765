// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/park.h — a task waits for its token, which unpark() leaves: for users that build their own locks.
#pragma once

#include "rt/task/record/task.h"

namespace janus {

// Waits for the token and takes it: 0, or an error; -1: the task is cancelled, and the token stays. With `forever`
// false it does not wait, and does not look for a cancel.
int park(Task& task, bool forever) noexcept;
// Leaves the token, and wakes the task if it waits for it. Any thread; `worker` nullptr: from outside.
void unpark(Worker* worker, Task& task) noexcept;

}  // namespace janus
