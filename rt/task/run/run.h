// SPDX-License-Identifier: Apache-2.0
// rt/task/run/run.h — a task from its start to its end.
#pragma once

#include "rt/sched/path.h"
#include "rt/task/record/task.h"

namespace janus {

// Runs a task that has not started, on the worker's present stack, from its start to its end.
void run_from_base(Runnable* fresh) noexcept;
// Runs the children of `nursery` that are next on this worker and have not started, instead of waiting for them. Fast
// path: stops when the nursery is no longer private.
template <Path kPath>
void run_children(Task& self, Nursery& nursery) noexcept;
// The fast path for a fork's nursery of `self`, whose frame is `frame`. The child has no handle, no account of its own
// and a stack of the usual size, which fits below; it starts with the control words of `self`. `worker`: the calling one,
// before and afterwards. True: the nursery is private and has no child any more.
bool run_only_child(Worker*& worker, Task& self, RunFrame& frame, Nursery& nursery) noexcept;
void refuse_start(Runnable* fresh) noexcept;
// Called after frames of the running task were left by force, maybe from a spare stack. `frame_sp`: where they ended.
void leave_abandoned_frames(const RunFrame& frame, std::uint64_t frame_sp) noexcept;

// The nursery that the task has opened last and that is in a list, if any.
inline Nursery* newest_nursery(const Task& task) noexcept {
  const RunFrame& frame = *task.frame;
  return frame.open != nullptr ? frame.open : task.marks != 0 ? frame.details.published : nullptr;
}
// Ends the nurseries that a task left open, innermost first, up to that of a fork whose own half ends; a failure there
// becomes the result of the task or half, if that was 0 or more. Defined in rt/task/run/await.cpp, since a task that ends awaits nurseries, and a task that awaits runs
// tasks; tests/layers lists this call. `unread`: receives the first such failure, for a report.
struct UnreadFailure;
std::int64_t end_left_open(Task& task, std::int64_t code, bool cancel, UnreadFailure* unread = nullptr) noexcept;

}  // namespace janus
