// SPDX-License-Identifier: Apache-2.0
// rt/task/wake.h — waking a task that waits (rt/task/wait.h).
#pragma once

#include "rt/task/task.h"

namespace janus {

// Wakes `task` if it is in `from`. Any thread of its runtime, or `worker` nullptr from outside.
bool wake(Worker* worker, Task& task, TaskState from) noexcept;
// For a task that waits at a channel whose lock is held. `worker` is of its runtime, or nullptr. In two steps:
// turn_ready(), push_ready().
void wake_held(Worker* worker, Task& task) noexcept;
[[gnu::always_inline]] inline void turn_ready(Task& task) noexcept {
  JANUS_ASSERT(state_of(task) == TaskState::kAtChannel);
  task.state.store(TaskState::kReady, std::memory_order_relaxed);
}
void push_ready(Worker* worker, Task& task) noexcept;
// Whatever it waits for, if it waits. The caller sees to it that it cannot end.
bool wake_to_look(Worker* worker, Task& task) noexcept;

}  // namespace janus
