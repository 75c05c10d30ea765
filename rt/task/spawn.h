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
// from outside.
Task* spawn(Worker* worker, Nursery& nursery, TaskFn fn, void* arg, const SpawnOptions& options, int* error) noexcept;
// Queues what spawn() made; it may be over when this returns.
void launch(Worker* worker, Task& task) noexcept;

// The same for what is like most, where everything is at hand; small enough to be part of the call that a user makes.
// nullptr: nothing has happened, and spawn() is to be asked.
Task* spawn_quickly(Worker& worker, Nursery& nursery, TaskFn fn, void* arg) noexcept;

}  // namespace janus
