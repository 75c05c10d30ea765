// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/spawn.h — makes a task, a new child of a nursery, and queues it.
#pragma once

#include "rt/base/or_error.h"
#include "rt/task/record/nursery.h"
#include "rt/task/record/task.h"
#include "rt/task/wait/authority.h"

namespace janus {

// What only some spawns ask for.
struct SpawnExtras {
  const Amounts* budget = nullptr;
  Cap* cap = nullptr;                   // the child's own; a reference, which it takes over if the spawn succeeds
  const Confinement* within = nullptr;  // of may_spawn_into()
};

struct SpawnOptions {
  std::uint8_t stack_class;
  std::uint8_t flags;  // TaskFlags
  const SpawnExtras* extras = nullptr;
  const char* name = nullptr;
};

// Makes a task and counts it in its nursery; launch() queues it. If it fails, the nursery is unchanged. `worker`
// nullptr: the caller is a thread outside tasks. The fast path is for tasks without budget, name or flags, on the home
// worker of a nursery that charges no spawns; it returns nullptr, without an error, if the general path must be taken.
// `kIsFirst`, on the fast path only: the task has just opened the nursery on its fast path.
template <Path kPath, bool kIsFirst = false>
OrError<Task*> spawn(Worker* worker, Nursery& nursery, TaskFn fn, void* arg, const SpawnOptions& options) noexcept;
// Queues a task that spawn() has made. The task may have ended when this returns.
void launch(Worker* worker, Task& task) noexcept;

}  // namespace janus
