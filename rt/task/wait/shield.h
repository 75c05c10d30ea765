// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/shield.h — a call in which the cancel of its task is put aside: for clean-up that has to wait.
// docs/decisions/0334
//
// INVARIANT a-shield-lends-nothing: a task that was told to end knows it in its shield, too, and lives on its grace from
// its next check on. Only the answers of its calls are those of a task that was not cancelled. A nursery that it opens
// there (NurseryWord::kShielded) gets no cancel from above, and all tasks below spend the grace of that one task
// (kOwnersGrace) from their starts, or from their first check after the cancel, on. So a cancelled task spends one
// grace, whatever it shields and spawns; a slice more for each worker, as slices of one grace are not drawn in turn. (The
// shield of a supervisor has a grace for each of its children: rt/task/supervise/runner.h.)
//
// At the end of the shield the nurseries that are still open there are cancelled if the task was told to end. Until then
// a cancel's walk leaves them out.
#pragma once

#include "rt/task/record/task.h"

namespace janus {

// fn(arg) by the running task, in a shield.
[[nodiscard]] std::int64_t call_in_shield(Task& task, TaskFn fn, void* arg) noexcept;

}  // namespace janus
