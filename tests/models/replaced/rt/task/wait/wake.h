// SPDX-License-Identifier: Apache-2.0
// replaced/rt/task/wait/wake.h — replaces rt/task/wait/wake.h (see replaced/rt/task/record/runtime.h): as there, one
// thread changes the state, and only that one lets the task continue (wake-once).
#pragma once

#include "rt/task/record/runtime.h"

namespace janus {

inline bool wake(Worker*, Task& task, WaitReason reason) noexcept {
  TaskState from = waits_for(reason);
  if (!task.state.compare_exchange_strong(from, TaskState::kReady)) return false;
  task.nursery->runtime->scheduler.add(Scheduler::kRunning + Scheduler::kDeparted);
  model::wake(&task.state, 1);
  return true;
}

}  // namespace janus
