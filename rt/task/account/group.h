// SPDX-License-Identifier: Apache-2.0
// rt/task/account/group.h — groups, between which scarce things are shared out: all tasks in one outermost cage are one group,
// however many budgets they have among themselves, and so are all tasks that are in no cage. docs/decisions/0242
#pragma once

#include "rt/task/record/task.h"

namespace janus {

// The account of the outermost cage that the task is in; nullptr: it is in none, or `task` is nullptr. `task` is the
// running one, which pays for the walk up. The budget of a whole program is no cage.
[[nodiscard]] const Account* group_of(const Task* task) noexcept;

}  // namespace janus
