// SPDX-License-Identifier: Apache-2.0
// rt/task/run.cpp — a task from its start to its end.
#include "arch/x86_64/task_call.h"
#include "rt/sched/fiber_hooks.h"
#include "rt/task/account_of.h"
#include "rt/task/locals.h"
#include "rt/task/runtime.h"

namespace janus {

namespace {

TaskState final_state(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::kSuccess:
      return TaskState::kCompleted;
    case Outcome::kCancelled:
      return TaskState::kCancelled;
    default:
      return TaskState::kFailed;
  }
}

void count_end(Counters& counters, Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::kSuccess:
      return counters.completed.add();
    case Outcome::kCancelled:
      return counters.cancelled.add();
    case Outcome::kPanic:
      return counters.panicked.add();
    default:
      return counters.failed.add();
  }
}

// A task that others may hold handles of: its end and what they do with it meet on its lock.
[[gnu::noinline]] void end_exposed(Worker& worker, Task& task, Outcome outcome, std::int64_t code) noexcept {
  task.lock.lock();
  task.result = code;
  task.outcome = outcome;
  task.set(TaskFlags::kEnded);
  task.state.store(final_state(outcome), std::memory_order_release);
  wake_joiners(worker, task);
  const bool keep = !task.has(TaskFlags::kDetached);
  if (keep) {
    Nursery& nursery = *task.nursery;
    LockGuard guard(nursery.lock);
    task.record_previous = nullptr;
    task.record_next = nursery.records;
    if (nursery.records != nullptr) nursery.records->record_previous = &task;
    nursery.records = &task;
    task.set(TaskFlags::kRecorded);
  } else {
    free_record(&worker, task);
  }
  task.lock.unlock();
}

// -1 after a cancel is the cancel, whether the task has looked or not: it may have had it from somebody who did.
Outcome outcome_of(Task& task, std::int64_t code) noexcept {
  if (task.outcome != Outcome::kPending) return task.outcome;  // ended by force
  if (code >= 0) return Outcome::kSuccess;
  return code == -1 && is_cancelled(task) ? Outcome::kCancelled : Outcome::kFailed;
}

// The second half of a task's end, when nothing of it stands on a stack any more.
void end_task(Worker& worker, Task& task, std::int64_t code) noexcept {
  Nursery& nursery = *task.nursery;
  const Outcome outcome = outcome_of(task, code);
  runtime_of(worker).scheduler.note(worker, Event::kFinish, &task);
  count_end(worker.counters, outcome);
  if (outcome != Outcome::kSuccess && outcome != Outcome::kCancelled) [[unlikely]]
    record_failure(nursery, worker, task, outcome, code);
  credit_record(task);
  task.frame = nullptr;
  if (task.has(TaskFlags::kExposed)) [[unlikely]] {
    Runtime& runtime = runtime_of(worker);
    const bool is_main = runtime.terminable.load(std::memory_order_relaxed) == &task;
    if (is_main) runtime.terminable.store(nullptr, std::memory_order_relaxed);
    end_exposed(worker, task, outcome, code);
    if (is_main) runtime.scheduler.stop();
  } else {
    task.state.store(final_state(outcome), std::memory_order_relaxed);
    free_record(&worker, task);
  }
  leave_nursery(worker, nursery);
}

std::int64_t end_nurseries(Task& task, RunFrame& frame, std::int64_t code) noexcept {
  return frame.open != nullptr || frame.published != nullptr ? end_left_open(task, code, code < 0) : code;
}

// Destructors are the user's code: what they break ends the task as anywhere else. They are not for a task that has
// ended by force: what it held may be in any state.
std::int64_t end_locals(Task& task, RunFrame& frame, std::int64_t code) noexcept {
  if (task.outcome == Outcome::kPending) {
    const std::int64_t ended =
        janus_task_call([](void* self) -> std::int64_t { return destroy_locals(*static_cast<Task*>(self)), 0; }, &task,
                        &frame.frame_sp);
    frame.frame_sp = 0;
    if (task.outcome != Outcome::kPending) {
      Scheduler::arrive();
      code = ended;
    }
  }
  free_locals(task);
  return end_nurseries(task, frame, code);  // that destructors have left open
}

// Whatever a task may have left behind on its stack or in its nursery.
[[gnu::noinline]] std::int64_t clean_up(Task& task, RunFrame& frame, std::int64_t code) noexcept {
  code = end_nurseries(task, frame, code);
  if (frame.locals != nullptr) code = end_locals(task, frame, code);
  if (task.is_member.load(std::memory_order_relaxed)) {
    LockGuard guard(task.nursery->lock);
    List<RunFrame, Members>::remove(&frame);
    task.is_member.store(false, std::memory_order_relaxed);
  }
  return code;
}

// The task's own frames were left without returning, maybe from a spare stack.
[[gnu::noinline]] void land_abandoned(const RunFrame& frame) noexcept {
  Worker& worker = current_worker();
  if (frame.abandoned != nullptr) fiber_hooks::after_switch(worker.fiber);
  fiber_hooks::forget_frames(worker.stack->limit, reinterpret_cast<const std::byte*>(frame.frame_sp));
  Scheduler::arrive();
}

// Something wrote below a stack that no guard page ends. It hit what would be the guard, which is nobody's, so the
// task alone is to blame, and it ends as it would have at a guard: as far as it had not ended by itself.
[[gnu::noinline]] std::int64_t ran_over(Worker& worker, Task& task, std::int64_t code) noexcept {
  StackPool::renew_canary(worker.stack);
  if (task.outcome != Outcome::kPending) return code;
  report_panic(task, "stack overflow, found by its canary", nullptr);
  task.outcome = Outcome::kPanic;
  return -2;
}

// Also where the cancel came before the start.
bool may_start(Task& task, RunFrame& frame) noexcept {
  if (!is_cancelled(task)) [[likely]]
    return true;
  task.cancel.store(1, std::memory_order_relaxed);
  frame.saw_cancel = true;
  frame.grace = runtime_of(current_worker()).options.cancel_grace_ops;
  return task.has(TaskFlags::kRunCancelled);
}

}  // namespace

[[gnu::flatten]] void run_task(Task* task, RunFrame* below) noexcept {
  RunFrame frame;
  frame.task = task;
  frame.below = below;
  task->frame = &frame;
  const bool is_own_slice = below == nullptr || below->task->account != task->account;
  {
    Worker& worker = current_worker();
    worker.task = static_cast<Runnable*>(task);
    task->state.store(TaskState::kRunning, std::memory_order_relaxed);
    runtime_of(worker).scheduler.note(worker, Event::kStart, task);
    if (is_own_slice) begin_slice(worker, *task);
  }
  std::int64_t code = -1;
  if (may_start(*task, frame)) [[likely]] {
    code = janus_task_call(task->fn, task->arg, &frame.frame_sp);
    if (task->outcome != Outcome::kPending) [[unlikely]]
      land_abandoned(frame);
    frame.frame_sp = 0;
  }
  if (frame.open != nullptr || frame.published != nullptr || frame.locals != nullptr ||
      task->is_member.load(std::memory_order_relaxed)) [[unlikely]]
    code = clean_up(*task, frame, code);
  Worker& worker = current_worker();
  if (!StackPool::canary_intact(worker.stack)) [[unlikely]]
    code = ran_over(worker, *task, code);
  if (is_own_slice) settle_slice(worker);
  runtime_of(worker).scheduler.interleave();
  end_task(worker, *task, code);
}

void run_from_base(Runnable* fresh) noexcept {
  run_task(static_cast<Task*>(fresh), nullptr);
}

// The machine has no stack of its class: it ends without having run.
void refuse_start(Runnable* fresh) noexcept {
  auto* task = static_cast<Task*>(fresh);
  Worker& worker = current_worker();
  report_panic(*task, "no memory for its stack", nullptr);
  task->outcome = Outcome::kPanic;
  end_task(worker, *task, -2);
}

}  // namespace janus
