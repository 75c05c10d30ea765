// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/park.h — a task waits for its token, which unpark() leaves: for users that build their own locks.
#pragma once

#include "rt/task/record/task.h"

namespace janus {

// Waits for the token and takes it: 0; kErrorTimeout if the task's deadline passes first, or another error; -1: the task
// is cancelled, and the token stays.
int park(Task& task) noexcept;
// Takes the token if there is one, also in a cancelled task.
[[nodiscard]] bool try_park(Task& task) noexcept;
// Leaves the token, and wakes the task if it waits for it. Any thread; `worker` nullptr: from outside.
void unpark(Worker* worker, Task& task) noexcept;

}  // namespace janus
