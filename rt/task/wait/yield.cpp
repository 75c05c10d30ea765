// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/yield.cpp — lets other tasks run.
#include "rt/task/wait/yield.h"

#include "rt/task/record/runtime.h"
#include "rt/task/wait/block.h"
#include "rt/task/wait/children.h"
#include "rt/task/wait/pinned.h"
#include "rt/task/wait/slice.h"

namespace janus {

namespace {

// yield_if_pinned(), if it is linked. No template: a compiler that sees all of the runtime would warn that it is.
inline bool has_yielded_pinned(Worker& worker, Task& task, Suspension& suspension) noexcept {
  return task.is_marked(TaskMarks::kHasContext) && yield_if_pinned != nullptr &&
         yield_if_pinned(worker, task, suspension);
}

}  // namespace

template <Path kPath>
void give_way(Worker& worker, Task& task) noexcept {
  if (!task.is_published) publish_frames(*task.frame);
  commit_slice(worker, task);
  Suspension suspension;
  task.suspend_at(&suspension);
  JANUS_ASSERT(may_be_running(state_of(task)) && current_task(worker) == &task);
  task.state.store(TaskState::kReady, std::memory_order_relaxed);
  if (kPath == Path::kFast || !has_yielded_pinned(worker, task, suspension)) [[likely]]
    (void)worker.scheduler->yield<kPath>(worker, &task, suspension);
  resumed(task);
}
template void give_way<Path::kGeneral>(Worker& worker, Task& task) noexcept;
template void give_way<Path::kFast>(Worker& worker, Task& task) noexcept;

[[gnu::noinline, gnu::cold]] void let_others_run(Task& task) noexcept {
  Worker& worker = current_worker();
  Scheduler& scheduler = *worker.scheduler;
  if (scheduler.safepoints().is_to_stop()) return scheduler.sched_point();
  scheduler.idle_workers().poll_sources(worker, Timers::Whose::kOwn);
  if (!scheduler.dispatcher().has_ready(worker) && !scheduler.is_deterministic()) return;
  TurnMeter::end_early(worker);  // long operations may take much time for few ops
  if (!scheduler.dispatcher().keeps_turn(worker, task)) return give_way<Path::kGeneral>(worker, task);
  scheduler.sched_point();
}

}  // namespace janus
