// SPDX-License-Identifier: Apache-2.0
// rt/task/run/walk_world.h — all tasks of a runtime whose world is stopped, and where each of them stands.
// docs/decisions/0341
#pragma once

#include "rt/task/record/runtime.h"

namespace janus {

struct StoppedTask {
  Task* task;
  Task* outer;         // the task in whose place, and on whose stack, it runs; or nullptr
  const Stack* stack;  // nullptr: it has not started
  std::uint64_t sp;    // its own frames lie from here ...
  std::uint64_t high;  // ... to here, on that stack
  bool runs;           // on a worker, until the world was stopped
};

// Calls `visit` for each task that has not ended, with no lock held, as long as that returns 0; returns what it returned
// last. After a visit that has lost the world, the caller of `visit` ends the task. A task that runs in the place of another
// is visited before that one. Tasks that have begun or come in meanwhile
// are not visited. kErrorNoMemory, or kErrorState as for resume_world().
using VisitStopped = int (*)(const StoppedTask& task, void* argument);
[[nodiscard]] int walk_world(Runtime& runtime, Task* task, VisitStopped visit, void* argument) noexcept;
// During a visit: the handle of that task, which is exposed from now on.
[[nodiscard]] std::uint64_t expose_stopped(Runtime& runtime, const StoppedTask& seen) noexcept;

}  // namespace janus
