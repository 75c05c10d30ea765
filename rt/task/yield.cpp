// SPDX-License-Identifier: Apache-2.0
// rt/task/yield.cpp — giving way: voluntarily, or at the end of a slice.
#include "rt/task/yield.h"

#include "rt/task/cancel.h"
#include "rt/task/charge.h"
#include "rt/task/children.h"
#include "rt/task/nursery.h"
#include "rt/task/panic.h"
#include "rt/task/runtime.h"
#include "rt/task/slice.h"
#include "rt/task/wait.h"

namespace janus {

// Behind every ready task.
[[gnu::always_inline]] static inline void switch_away(Worker& worker, Task& task) noexcept {
  if (!task.is_published) publish_frames(*task.frame);
  commit_slice(worker, task);
  Suspension suspension;
  task.suspend_at(&suspension);
  JANUS_ASSERT(may_be_running(state_of(task)) && current_task(worker) == &task);
  task.state.store(TaskState::kReady, std::memory_order_relaxed);
  (void)worker.scheduler->yield(worker, &task, suspension);
  resumed(task);
}

[[gnu::noinline]] void let_others_run(Task& task) noexcept {
  Worker& worker = current_worker();
  Scheduler& scheduler = *worker.scheduler;
  if (scheduler.wants_attention()) scheduler.handle_attention(worker);
  if (!scheduler.has_ready(worker) && !scheduler.is_deterministic()) return;
  if (!scheduler.keeps_turn(worker, task)) return switch_away(worker, task);
  scheduler.sched_point();
}

int yield(Task& task) noexcept {
  Worker& worker = current_worker();
  worker.counters.yields.add();
  if (task.yielded_free && worker.fuel == worker.slice) {
    // A loop of nothing but yields would never end: the second in a row is an operation.
    worker.counters.yields_charged.add();
    take_fuel_unchecked(worker, price::kCall);
  }
  if (worker.fuel < 0) [[unlikely]]
    return yield_slow(task);
  switch_away(worker, task);
  task.yielded_free = true;
  return sees_cancel(task) ? -1 : 0;
}

[[gnu::noinline]] int yield_slow(Task& task) noexcept {
  const std::uint64_t debt = commit_slice_at_check(current_worker(), task);
  Scheduler& scheduler = *current_worker().scheduler;
  if (scheduler.wants_attention()) scheduler.handle_attention(current_worker());
  // What was spent beyond the slice is paid before anything else happens; a cancel overrides that, and the debt stays.
  if (debt != 0 && is_cancelled(task))
    runtime_of(current_worker()).accounts.owe(task.account, debt);
  else if (debt != 0)
    (void)charge_waiting(task, Component::kOps, debt);
  const bool told = sees_cancel(task);
  if (told && task.frame->frame_sp != 0 && task.frame->details.grace < 0) panic(task, kGraceIsGone);
  commit_slice(current_worker(), task);  // whoever waited has one already
  begin_slice(current_worker(), task);
  task.yielded_free = false;
  if (scheduler.has_ready(current_worker()) || scheduler.is_deterministic()) {
    if (!scheduler.keeps_turn(current_worker(), task)) return yield(task);
    scheduler.sched_point();
  }
  return told ? -1 : 0;
}

}  // namespace janus
