// SPDX-License-Identifier: Apache-2.0
// rt/task/spawn.h — a new child of a nursery.
#pragma once

#include "rt/task/nursery.h"
#include "rt/task/task.h"

namespace janus {

struct SpawnOptions {
  std::uint8_t stack_class;
  std::uint8_t flags;  // TaskFlags
  const Amounts* budget = nullptr;
  const char* name = nullptr;
};

// A task that is counted in and not queued yet. nullptr: *error is why, and the nursery is as it was. `worker` nullptr:
// from outside. kFast: without budget, name or flags, for the home worker of a nursery that draws on nobody; nullptr
// says only that the general path is to be asked.
template <Path kPath>
Task* spawn(Worker* worker, Nursery& nursery, TaskFn fn, void* arg, const SpawnOptions& options, int* error) noexcept;
// Queues what spawn() made; it may be over when this returns.
void launch(Worker* worker, Task& task) noexcept;

}  // namespace janus
