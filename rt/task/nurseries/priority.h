// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/priority.h — tasks that are spawned with another priority than the normal one (rt/sched/priority.h).
#pragma once

#include "rt/optional.h"
#include "rt/sched/priority.h"
#include "rt/task/record/nursery.h"
#include "rt/task/record/task.h"

namespace janus {

// For a task that was spawned and not yet launched. `number`: of the priority in the ABI, which is one of them. Without memory for
// its queues the task keeps the normal one. Linked with the function below.
void give_priority(Task& task, std::uint32_t number) noexcept;
// The running task, which has a priority, goes on after others have run in its place.
[[JANUS_OPTIONAL]] void begin_turn_again(const Task& self) noexcept;

}  // namespace janus
