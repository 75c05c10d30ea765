// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/held_world.h — a task that has stopped the world must not wait: whom it waits for cannot run. If it waits
// or ends all the same, the world goes on. docs/decisions/0341
#pragma once

#include "rt/optional.h"
#include "rt/task/record/task.h"

namespace janus {

// Of the running task: it has stopped the world (rt/task/run/stop_world.h).
[[nodiscard]] inline bool holds_world(const Task& task) noexcept {
  return task.is_marked(TaskMarks::kHasContext) && (task.frame->details.context & RunDetails::kHoldsWorld) != 0;
}

enum class WorldLoss : std::uint8_t { kWaits, kEnds };
// Lets the world go on that the running task has stopped, however often. After kWaits the task's next walk or resume is its
// panic. May be called with locks held, but for those of timers and queues. Linked into programs that stop the world.
[[JANUS_OPTIONAL]] void lose_world(Task& task, WorldLoss loss) noexcept;
// Called at the end of a slice, if the world is to stop: the worker stands until it goes on, unless its task has stopped it.
// Meanwhile slices stay empty, so that each worker comes here.
[[JANUS_OPTIONAL]] void stand_with_world(Worker& worker) noexcept;

}  // namespace janus
