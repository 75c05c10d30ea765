// SPDX-License-Identifier: Apache-2.0
// rt/task/park.h — one token for each task, for those who build their own locks.
#pragma once

#include "rt/task/task.h"

namespace janus {

// Waits for the token and takes it: 0, -1 for a cancel, or an error. Not `forever`: does not wait.
int park(Task& task, bool forever) noexcept;
// Leaves the token. Any thread; `worker` nullptr: from outside.
void unpark(Worker* worker, Task& task) noexcept;

}  // namespace janus
