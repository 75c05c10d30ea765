// SPDX-License-Identifier: Apache-2.0
// rt/abi/task_states.h — the states of tasks as users see them.
#pragma once

#include "rt/include/janus/rt.h"
#include "rt/task/record/task.h"

namespace janus {

inline int view_of(TaskState state) noexcept {
  if (state == waits_for(WaitReason::kBudget)) return JANUS_TASK_BUDGET_EXHAUSTED;
  return is_waiting(state) || state == TaskState::kNesting ? JANUS_TASK_BLOCKED : static_cast<int>(state);
}

}  // namespace janus
