// SPDX-License-Identifier: Apache-2.0
// rt/task/run/hooks.cpp — the scheduler's hooks (rt/sched/hooks.h): its runnables are tasks.
#include "rt/sched/hooks.h"

#include "rt/task/account/exhaustion.h"
#include "rt/task/nurseries/deadlock.h"
#include "rt/task/record/runtime.h"
#include "rt/task/run/run.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/deadline.h"
#include "rt/task/wait/nursery_deadline.h"

namespace janus::hooks {

void run(Runnable* fresh) noexcept {
  run_from_base(fresh);
}

void refuse(Runnable* fresh) noexcept {
  refuse_start(fresh);
}

bool has_paid(const Runnable* runnable) noexcept {
  return static_cast<const Task*>(runnable)->has(TaskFlags::kDraws);
}

std::uint64_t id_of(const Runnable* runnable) noexcept {
  return static_cast<const Task*>(runnable)->id;
}

Worker* home_of(const Runnable* runnable) noexcept {
  const auto& task = *static_cast<const Task*>(runnable);
  if (!is_pinned(task)) return nullptr;
  return task.nursery->runtime->scheduler.worker(task.frame->details.pinned_to);
}

// Ends waits for recharges that no task can make; if there are none, handles a deadlock. Does nothing while a task
// waits for room in a descriptor or for a helper thread: these may let it go on at any time; or while a thread outside awaits
// until a time, or stops the world.
void on_all_idle(Worker& worker, IdleSet::Snapshot entered) noexcept {
  Runtime& runtime = runtime_of(worker);
  if (runtime.waits_outside.load(std::memory_order_acquire) != 0) return;
  if (runtime.timed_awaits.load(std::memory_order_acquire) != 0) return;
  const BudgetWaits* const waits = runtime.budget_waits.load(std::memory_order_relaxed);
  if (waits != nullptr && waits->fail_unrechargeable(runtime, &worker, entered)) return;
  handle_deadlock(runtime, worker, entered);
}

void on_attention(Worker& worker) noexcept {
  Runtime& runtime = runtime_of(worker);
  if (const BudgetWaits* const waits = runtime.budget_waits.load(std::memory_order_relaxed))
    waits->serve_unserved(runtime, &worker);
  if (runtime.terminate_signal.load(std::memory_order_acquire) == 0) return;
  Task* const root = runtime.terminable.load(std::memory_order_acquire);
  if (root == nullptr) return;
  CancelWalk walk;
  {
    LockGuard guard(root->lock);
    if (!root->has(TaskFlags::kEnded)) walk = cancel_task(&worker, *root, Cause::kSignal);
  }
  tell_members(runtime, &worker, walk, Pace::kAtOnce);
}

Runnable* on_timer(Worker& worker, Timer& timer) noexcept {
  if (!timer.is_of_nursery) return Deadline::of(timer).fire(worker);
  fire_deadline(worker, timer);
  return nullptr;
}

void go_on_firing(Worker& worker, void*& rest) noexcept {
  go_on_cancelling(worker, rest);
}

void on_timers_due(Worker& worker) noexcept {
  end_slices(runtime_of(worker));
}

}  // namespace janus::hooks
