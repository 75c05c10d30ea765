// SPDX-License-Identifier: Apache-2.0
// rt/task/run/fork.h — two functions at the same time: one is called by the task, the other is a child.
// docs/decisions/0327
#pragma once

#include "rt/sched/path.h"
#include "rt/task/nurseries/result.h"
#include "rt/task/record/nursery.h"
#include "rt/task/record/task.h"

namespace janus {

// How the two halves ended.
struct ForkEnds {
  Report own, other;
};

// Calls own(arg) and awaits the nursery, which open_fork() opened and in which the other half was spawned; destroys it.
// True: both succeeded, and `ends` was not written. The caller may be on another worker afterwards.
bool call_and_await(Task& self, Nursery& nursery, TaskFn own, void* arg, ForkEnds& ends) noexcept;
// The fast path, for a nursery of open_fork_fast(), if a child's stack of the usual size has room below the caller's
// frame.
bool call_and_await_fast(Task& self, RunFrame& frame, Nursery& nursery, TaskFn own, void* arg, ForkEnds& ends) noexcept;

}  // namespace janus
