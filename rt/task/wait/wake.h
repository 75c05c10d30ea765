// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/wake.h — waking a task that waits (rt/task/wait/block.h). docs/decisions/0089
#pragma once

#include "rt/task/record/task.h"

namespace janus {

// Wakes `task` if it waits for `reason`; returns whether it did. `worker` is of the task's runtime; nullptr from outside.
// For kChannel the lock must be held.
bool wake(Worker* worker, Task& task, WaitReason reason) noexcept;
// Wakes a task that waits at a channel whose lock is held. `worker` is of the task's runtime, or nullptr. Does the same
// as turn_ready() followed by push_ready().
void wake_held(Worker* worker, Task& task) noexcept;
[[gnu::always_inline]] inline void turn_ready(Task& task) noexcept {
  JANUS_ASSERT(state_of(task) == waits_for(WaitReason::kChannel));
  task.state.store(TaskState::kReady, std::memory_order_relaxed);
}
void push_ready(Worker* worker, Task& task) noexcept;
// The same, but nothing outside the runtime has woken the task, also if `worker` is nullptr.
void queue_ready(Worker* worker, Task& task) noexcept;
// Wakes the task from any wait that a cancel ends, so that it checks; false: it is in none. The caller must keep the
// task from ending meanwhile.
bool wake_to_look(Worker* worker, Task& task) noexcept;
// The same, but if this is true the caller has to queue the task.
[[nodiscard]] bool take_from_wait(Worker* worker, Task& task) noexcept;

}  // namespace janus
