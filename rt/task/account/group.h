// SPDX-License-Identifier: Apache-2.0
// rt/task/account/group.h — groups, between which scarce resources are divided: all tasks in one outermost cage form
// one group, whatever budgets there are inside it, and all tasks outside cages form another. docs/decisions/0242
#pragma once

#include "rt/task/record/task.h"

namespace janus {

// The account of the outermost cage that the task is in; nullptr: it is in none, or `task` is nullptr. `task` is the
// running task, which pays for the walk to the root. The budget of a whole program is no cage.
[[nodiscard]] const Account* group_of(const Task* task) noexcept;

}  // namespace janus
