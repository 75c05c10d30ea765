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
void end_exposed(Worker& worker, Task& task, Outcome outcome, std::int64_t code) noexcept {
  task.lock.lock();
  task.result = code;
  task.outcome = outcome;
  task.set(TaskFlags::kEnded);
  task.state.store(final_state(outcome), std::memory_order_release);
  wake_joiners(worker, task);
  if (task.has(TaskFlags::kKept)) {
    Nursery& nursery = *task.nursery;
    LockGuard guard(nursery.lock);
    nursery.has_leftovers = true;
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
  if (code >= 0) return Outcome::kSuccess;
  return code == -1 && is_cancelled(task) ? Outcome::kCancelled : Outcome::kFailed;
}

// The second half of a task's end, when nothing of it stands on a stack any more.
void end_task(Worker& worker, Task& task, Outcome outcome, std::int64_t code) noexcept {
  Nursery& nursery = *task.nursery;
  runtime_of(worker).scheduler.note(worker, Event::kFinish, &task);
  count_end(worker.counters, outcome);
  if (outcome != Outcome::kSuccess && outcome != Outcome::kCancelled)
    record_failure(nursery, worker, task, outcome, code);
  if (task.has(TaskFlags::kDraws)) credit_record(task);
  task.frame = nullptr;
  if (task.has(TaskFlags::kExposed)) {
    Runtime& runtime = runtime_of(worker);
    const bool is_main = runtime.terminable.load(std::memory_order_relaxed) == &task;
    if (is_main) runtime.terminable.store(nullptr, std::memory_order_relaxed);
    end_exposed(worker, task, outcome, code);
    if (is_main) runtime.scheduler.stop();
  } else {
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
  if (!task.is_marked(TaskMarks::kWasForced)) {
    const std::int64_t ended =
        janus_task_call([](void* self) -> std::int64_t { return destroy_locals(*static_cast<Task*>(self)), 0; }, &task,
                        &frame.frame_sp);
    frame.frame_sp = 0;
    if (task.is_marked(TaskMarks::kWasForced)) {
      Scheduler::arrive();
      code = ended;
    }
  }
  free_locals(task);
  return end_nurseries(task, frame, code);  // that destructors have left open
}

// Whatever a task may have left behind on its stack or in its nursery.
std::int64_t clean_up(Task& task, RunFrame& frame, std::int64_t code) noexcept {
  code = end_nurseries(task, frame, code);
  if (frame.locals != nullptr) code = end_locals(task, frame, code);
  if (task.is_marked(TaskMarks::kWasMember)) {
    LockGuard guard(task.nursery->lock);
    List<RunFrame, Members>::remove(&frame);
    task.is_member.store(false, std::memory_order_relaxed);
  }
  return code;
}

// The task's own frames were left without returning, maybe from a spare stack.
void land_abandoned(const RunFrame& frame, std::uint64_t frame_sp) noexcept {
  Worker& worker = current_worker();
  if (frame.abandoned != nullptr) fiber_hooks::after_switch(worker.fiber);
  fiber_hooks::forget_frames(worker.stack->limit, reinterpret_cast<const std::byte*>(frame_sp));
  Scheduler::arrive();
}

// Something wrote below a stack that no guard page ends. It hit what would be the guard, which is nobody's, so the
// task alone is to blame, and it ends as it would have at a guard: as far as it had not ended by itself.
std::int64_t ran_over(Worker& worker, Task& task, std::int64_t code) noexcept {
  StackPool::renew_canary(worker.stack);
  if (task.is_marked(TaskMarks::kWasForced)) return code;
  report_panic(task, "stack overflow, found by its canary", nullptr);
  task.mark(TaskMarks::kWasForced);
  task.frame->outcome = Outcome::kPanic;
  return -2;
}

// The cancel came before the start: whether it is called all the same.
[[gnu::noinline]] bool starts_cancelled(Task& task, RunFrame& frame) noexcept {
  task.cancel.store(1, std::memory_order_relaxed);
  task.mark(TaskMarks::kSawCancel);
  frame.grace = runtime_of(current_worker()).options.cancel_grace_ops;
  return task.has(TaskFlags::kRunCancelled);
}

// From the return of its function on, whatever it has come to.
[[gnu::noinline]] void end_thoroughly(Task& task, std::int64_t code, std::uint64_t frame_sp,
                                      bool is_own_slice) noexcept {
  RunFrame& frame = *task.frame;
  if (task.is_marked(TaskMarks::kWasForced)) land_abandoned(frame, frame_sp);
  code = clean_up(task, frame, code);
  Worker& worker = current_worker();
  if (!StackPool::canary_intact(worker.stack)) code = ran_over(worker, task, code);
  if (is_own_slice) settle_slice(worker);
  runtime_of(worker).scheduler.interleave();
  end_task(worker, task, task.is_marked(TaskMarks::kWasForced) ? frame.outcome : outcome_of(task, code), code);
}

// What end_thoroughly comes to where nothing has happened to the task but that it ran.
[[gnu::always_inline]] inline void end_quickly(Worker& worker, Task& task, bool is_own_slice) noexcept {
  if (is_own_slice) settle_slice(worker);
  Runtime& runtime = runtime_of(worker);
  runtime.scheduler.interleave();
  runtime.scheduler.note(worker, Event::kFinish, &task);
  Nursery& nursery = *task.nursery;
  worker.counters.completed.add();
  task.frame = nullptr;
  task.state.store(TaskState::kCreated, std::memory_order_relaxed);
  runtime.tasks.give(&worker.tasks, &task);
  leave_nursery(worker, nursery);
}

// `below`: who waits by calling it.
[[gnu::always_inline]] inline void run(Task* task, RunFrame* below, bool is_own_slice) noexcept {
  RunFrame frame(task, below);
  task->frame = &frame;
  {
    Worker& worker = current_worker();
    worker.task = static_cast<Runnable*>(task);
    task->state.store(TaskState::kRunning, std::memory_order_relaxed);
    runtime_of(worker).scheduler.note(worker, Event::kStart, task);
    if (is_own_slice) begin_slice(worker, *task);
  }
  std::int64_t code = -1;
  if (!is_cancelled(*task) || starts_cancelled(*task, frame)) [[likely]]
    code = janus_task_call(task->fn, task->arg, &frame.frame_sp);
  const std::uint64_t frame_sp = frame.frame_sp;
  frame.frame_sp = 0;
  Worker& worker = current_worker();
  const bool has_guard = worker.stack_limit != Scheduler::kNoStackLimit;
  if (frame.open == nullptr && task->marks == 0 && code >= 0 && task->flags.load(std::memory_order_relaxed) == 0 &&
      has_guard) [[likely]]
    return end_quickly(worker, *task, is_own_slice);
  end_thoroughly(*task, code, frame_sp, is_own_slice);
}

// In the middle of its parent's slice.
[[gnu::noinline]] void run_on_own_account(Task* child, Task& parent) noexcept {
  settle_slice(current_worker());
  run(child, parent.frame, true);
  begin_slice(current_worker(), parent);
}

}  // namespace

void run_from_base(Runnable* fresh) noexcept {
  run(static_cast<Task*>(fresh), nullptr, true);
}

// Whether some are counted: plainly on the home worker, and once the nursery is shared by all.
[[gnu::always_inline]] static inline bool may_have_children(const Worker& worker, const Nursery& nursery) noexcept {
  if (nursery.home.load(std::memory_order_relaxed) == &worker) [[likely]]
    return nursery.local != 0;
  return nursery.word.load(std::memory_order_relaxed) >= NurseryWord::kChild;
}

// As long as the stack has room for a whole one of its own.
void run_children(Task& self, Nursery& nursery) noexcept {
  if (!may_have_children(current_worker(), nursery)) return;
  const auto limit = reinterpret_cast<std::uintptr_t>(current_worker().stack->limit) + Scheduler::kStackReserve;
  const std::uintptr_t here = arch::stack_pointer();
  const std::size_t room = here > limit ? here - limit : 0;
  std::uint64_t count = 0;
  for (;;) {
    Worker& worker = current_worker();  // a child may have ended on another
    if (!may_have_children(worker, nursery)) break;
    Runnable* const child = worker.scheduler->take_fresh_if(worker, [&](Runnable* runnable) {
      return static_cast<Task*>(runnable)->nursery == &nursery && stack_class_bytes(runnable->stack_class) <= room;
    });
    if (child == nullptr) break;
    if (count++ == 0) self.state.store(TaskState::kBuried, std::memory_order_relaxed);
    if (static_cast<Task*>(child)->account == self.account) [[likely]]
      run(static_cast<Task*>(child), self.frame, false);
    else
      run_on_own_account(static_cast<Task*>(child), self);
  }
  if (count == 0) return;
  Worker& worker = current_worker();
  worker.counters.inlined.add(count);
  worker.task = static_cast<Runnable*>(&self);
  self.state.store(TaskState::kRunning, std::memory_order_relaxed);
}

// The machine has no stack of its class: it ends without having run.
void refuse_start(Runnable* fresh) noexcept {
  auto* task = static_cast<Task*>(fresh);
  report_panic(*task, "no memory for its stack", nullptr);
  end_task(current_worker(), *task, Outcome::kPanic, -2);
}

}  // namespace janus
