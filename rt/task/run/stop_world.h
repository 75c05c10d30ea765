// SPDX-License-Identifier: Apache-2.0
// rt/task/run/stop_world.h — who may stop the world: one task or thread at a time, in the order in which they asked.
// rt/sched/safepoint.h has how workers stop. docs/decisions/0341
//
// `task`: the calling task, of that runtime, or nullptr for a thread outside tasks.
#pragma once

#include "rt/task/record/runtime.h"

namespace janus {

// Until when a request waits. A task has a Deadline besides, if this is a time.
struct StopLimit {
  std::uint64_t
      until_ns;     // of the scheduler's clock for tasks, of the machine's for threads; kForever: never; 0: at once
  bool names_late;  // if it ends because of a task that does not come to a check, a line on stderr names that task
};

// 0: the world has stopped; who has stopped it already adds to the depth. kErrorTimeout: not in time, and it goes on.
// kCancelledCode, kErrorNoMemory: as for waits. kErrorState: the runtime is about to end.
[[nodiscard]] int stop_world(Runtime& runtime, Task* task, StopLimit limit) noexcept;
// Undoes one stop_world(). kErrorState: the caller has not stopped the world, or walks over it. Ends a task that has lost
// the world by a wait.
int resume_world(Runtime& runtime, Task* task) noexcept;

// Where a walk begins and ends: 0, or kErrorState, as for resume_world(). `pages` are freed by the end, and where the
// task is ended by force during the walk.
struct WalkPages {
  WalkPages* next;
};
inline constexpr std::size_t kWalkPagesBytes = 65536;
[[nodiscard]] int begin_walk(Runtime& runtime, Task* task) noexcept;
// nullptr: the machine has no memory.
[[nodiscard]] WalkPages* add_walk_pages(Runtime& runtime) noexcept;
// Whether the walk may go on: false after the task has lost the world, which ends it.
void end_walk(Runtime& runtime, Task* task) noexcept;
// Ends a task that has lost the world by a wait.
void look_at_loss(Task& task) noexcept;

// For the end of a runtime: from now on threads outside are refused, those that wait as well ...
[[JANUS_OPTIONAL]] void refuse_stops(Runtime& runtime) noexcept;
// ... and when none of them uses the runtime any more: lets the world go on that one of them has left stopped.
[[JANUS_OPTIONAL]] void end_stops(Runtime& runtime) noexcept;

}  // namespace janus
