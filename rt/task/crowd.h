// SPDX-License-Identifier: Apache-2.0
// rt/task/crowd.h — whom a task shares with where something is shared out: all that stand in one outermost cage are one
// crowd, however many budgets they have among themselves, and so are all that stand in none.
#pragma once

#include "rt/task/task.h"

namespace janus {

// The account of the outermost cage that the task stands in; nullptr: in none, or no task. Of the running task, which
// pays for the walk up. The budget of a whole program is no cage.
[[nodiscard]] const Account* crowd_of(const Task* task) noexcept;

}  // namespace janus
