// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/spawn.h — a new child of a nursery.
#pragma once

#include "rt/task/record/nursery.h"
#include "rt/task/record/task.h"

namespace janus {

struct SpawnOptions {
  std::uint8_t stack_class;
  std::uint8_t flags;  // TaskFlags
  const Amounts* budget = nullptr;
  const char* name = nullptr;
};

// Makes a task that is counted in and not queued yet. nullptr: *error says why, and the nursery is unchanged. `worker`
// nullptr: from outside. Fast path: without budget, name or flags, on the home worker of a nursery that charges no
// spawns; nullptr: take the general path.
template <Path kPath>
Task* spawn(Worker* worker, Nursery& nursery, TaskFn fn, void* arg, const SpawnOptions& options, int* error) noexcept;
// Queues the task that spawn() made, which may have ended when this returns.
void launch(Worker* worker, Task& task) noexcept;

}  // namespace janus
