// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/deadlock.h — handles deadlocks: no task can run any more, and nothing will change that.
#pragma once

#include "rt/task/record/runtime.h"
#include "rt/task/report/describe.h"

namespace janus {

inline constexpr int kDeadlockStatus = 3;  // of a program
inline constexpr char kDeadlockLine[] = "janus: deadlock: every task waits for another\n";

// The report: that line, and the list of the tasks; nullptr: there is no memory for it. Under outside_lock. No task runs, and
// a task that is no member of its nursery has not started.
TaskReport* describe_deadlock(Runtime& runtime) noexcept;

// Called by the last worker that goes to sleep. A program ends with status 3. If a thread has called janus_rt_run, or
// waits for a nursery of its own, the tasks that it waits for are cancelled, and its call returns JANUS_E_DEADLOCK.
// Writes a report with the list of describe_tasks(). Does nothing if a worker has run since all slept, as
// `entered` says.
void handle_deadlock(Runtime& runtime, Worker& worker, IdleSet::Snapshot entered) noexcept;

// Called by a thread outside tasks that is about to wait for children. If all workers fell asleep before it was seen to
// wait, one of them has to check for a deadlock again. Not in deterministic mode, where that would add a step to the
// order.
inline void look_again_for_deadlock(Scheduler& scheduler) noexcept {
  if (!scheduler.is_deterministic() && scheduler.are_all_asleep()) scheduler.idle_workers().request_attention();
}

}  // namespace janus
