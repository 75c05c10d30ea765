// SPDX-License-Identifier: Apache-2.0
// rt/task/yield.cpp — giving way: voluntarily, or at the end of a slice.
#include "rt/task/yield.h"

#include "rt/task/cancel.h"
#include "rt/task/charge.h"
#include "rt/task/panic.h"
#include "rt/task/runtime.h"
#include "rt/task/slice.h"
#include "rt/task/wait.h"

namespace janus {

// Ready tasks are looked at by nobody, so there is less to publish.
static void publish_yield(Worker& worker, void* task_pointer, void*) noexcept {
  auto* const task = static_cast<Task*>(task_pointer);
  Scheduler& scheduler = *worker.scheduler;
  scheduler.trace_event(worker, Event::kBlock, task);
  scheduler.push_yielded(worker, task);
}

int yield(Task& task) noexcept {
  Worker& worker = current_worker();
  worker.counters.yields.add();
  if (task.yielded_free && worker.fuel == worker.slice) {
    // A loop of nothing but yields would never end: the second in a row is an operation.
    worker.counters.yields_charged.add();
    if (--worker.fuel < 0) return yield_slow(task);
  }
  if (!task.is_published) publish_frames(*task.frame);
  commit_slice(worker);
  Suspension suspension;
  task.suspend_at(&suspension);
  task.state.store(TaskState::kReady, std::memory_order_relaxed);
  if (Scheduler::is_always_slow(worker) || !worker.scheduler->yield_quickly(worker, &task, suspension)) [[unlikely]]
    (void)worker.scheduler->yield(suspension, {publish_yield, &task, nullptr});
  resumed(task);
  task.yielded_free = true;
  return sees_cancel(task) ? -1 : 0;
}

[[gnu::noinline]] int yield_slow(Task& task) noexcept {
  RunFrame& frame = *task.frame;
  Worker* worker = &current_worker();
  const std::int64_t used = worker->slice - worker->fuel;
  const std::int64_t debt = worker->fuel < 0 ? -worker->fuel : 0;
  const bool finite = worker->charged_account != nullptr;
  commit_slice(*worker);
  if (worker->scheduler->wants_attention()) worker->scheduler->handle_attention(*worker);
  if (task.is_marked(TaskMarks::kSawCancel) && (frame.details.grace -= used) < 0) panic(task, kGraceIsGone);
  const bool told = sees_cancel(task);
  // What was spent beyond the slice is paid before anything else happens.
  if (finite && debt != 0 && !told) {
    Accounts& accounts = runtime_of(*worker).accounts;
    while (!accounts.draw(task.account, Component::kOps, static_cast<std::uint64_t>(debt))) {
      const int answer = exhausted(task, Component::kOps, static_cast<std::uint64_t>(debt));
      if (answer != 0) return answer;
    }
  }
  worker = &current_worker();
  begin_slice(*worker, task);
  task.yielded_free = false;
  if (worker->scheduler->has_ready(*worker) || worker->scheduler->is_deterministic()) return yield(task);
  return told ? -1 : 0;
}

}  // namespace janus
