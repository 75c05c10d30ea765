// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/open.h — opens a nursery, and gives its record back when it has ended.
#pragma once

#include "rt/base/or_error.h"
#include "rt/sched/path.h"
#include "rt/task/record/nursery.h"

namespace janus {

struct NurseryOptions {
  ErrorPolicy on_error = ErrorPolicy::kCancel;
  ExhaustionPolicy on_exhaustion = ExhaustionPolicy::kSuspend;
  const Amounts* budget = nullptr;
  const char* name = nullptr;
  bool reclaims_blocks = false;
  bool has_deadline = false;  // the caller calls set_deadline() then
  std::uint64_t hold_ns = 0;  // with a budget, as for open_account()
  NurseryGate gate = {};
  Cap* cap = nullptr;       // a reference, which the nursery takes over, or the call gives back; nullptr: as its opener
  bool is_of_root = false;  // confines nobody, until the root task is spawned
};

// `owner` nullptr: a thread outside tasks opens the nursery.
OrError<Nursery*> open_nursery(Runtime& runtime, Task* owner, const NurseryOptions& options) noexcept;
// For janus_nursery_create: opens a nursery of the running task with default options, as its current one. Fast path:
// only on the root's account, for a task that was not told to end and is in no shield; nullptr, without an error: take the general path.
template <Path kPath>
OrError<Nursery*> open_current(Worker& worker, Task& owner) noexcept;
// For janus_fork_join: opens a nursery of the running task that collects failures, in the list of its frame.
OrError<Nursery*> open_fork(Worker& worker, Task& owner) noexcept;
// The fast path: as for open_current(), and only for a task that holds no locks and has no current nursery.
// The caller's half begins at once. nullptr: take the general path.
Nursery* open_fork_fast(Worker& worker, Task& owner, RunFrame& frame) noexcept;
// Gives the record of a nursery that has ended back to the pool. Precondition: the nursery is in no list and has no
// leftovers.
void recycle(Worker& worker, Nursery& nursery) noexcept;
// Destroys a terminal nursery. Its owner only; others may run meanwhile, and the task may be on another worker
// afterwards.
void destroy_nursery(Worker* worker, Nursery& nursery) noexcept;

}  // namespace janus
