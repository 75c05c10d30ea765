// SPDX-License-Identifier: Apache-2.0
// rt/task/open.h — opening a nursery, and giving its record back when it has ended.
#pragma once

#include "rt/sched/path.h"
#include "rt/task/nursery.h"

namespace janus {

struct NurseryOptions {
  ErrorPolicy on_error = ErrorPolicy::kCancel;
  ExhaustionPolicy on_exhaustion = ExhaustionPolicy::kSuspend;
  const Amounts* budget = nullptr;
  const char* name = nullptr;
  bool reclaims_blocks = false;
};

// nullptr: *error is why. `owner` nullptr: a thread outside tasks opens it.
Nursery* open_nursery(Runtime& runtime, Task* owner, const NurseryOptions& options, int* error) noexcept;
// What janus_nursery_create opens: for the running task, with every option as it is by default, and current. kFast: on
// the root's account, by who was not told to end; nullptr says only that the general path is to be asked.
template <Path kPath>
Nursery* open_current(Worker& worker, Task& owner, int* error) noexcept;
// Of a terminal nursery that is in no list any more and has nothing left over: back to the pool.
void recycle(Worker& worker, Nursery& nursery) noexcept;
// Terminal, by its owner: it is gone. The task may give way, and be on another worker afterwards.
void destroy_nursery(Worker* worker, Nursery& nursery) noexcept;

}  // namespace janus
