// SPDX-License-Identifier: Apache-2.0
// rt/task/run/abort_task.cpp — ends a task by force: after a fault, an overflow, a panic, or a used-up budget; or a cancelled
// one that cannot go on.
// No other task ends.
//
// The task's frames are left without running destructors. Children in nurseries that it opened may hold addresses in
// these frames. So the task first continues on a spare stack, where it cancels and awaits these nurseries.
#include "rt/task/run/abort_task.h"

#include <arch/task_call.h>
#include <arch/user_copy.h>
#include "rt/base/format.h"
#include "rt/mem/stack_canary.h"
#include "rt/sched/fiber_hooks.h"
#include "rt/task/locks/keyed_lock.h"
#include "rt/task/record/panic.h"
#include "rt/task/record/price.h"
#include "rt/task/record/runtime.h"
#include "rt/task/report/backtrace.h"
#include "rt/task/report/reporting.h"
#include "rt/task/report/runtime_fault.h"
#include "rt/task/run/blocking.h"
#include "rt/task/run/run.h"
#include "rt/task/stacks/panic_report.h"
#include "rt/task/stacks/stack_growth.h"
#include "rt/task/sync/sync_queue.h"
#include "rt/task/wait/ancestry.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/children.h"
#include "rt/task/wait/deadline.h"
#include "rt/task/wait/records.h"

namespace janus {

namespace {

// --- Leaving ---

void give_spare(Worker& worker, void* stack, void*) noexcept {
  runtime_of(worker).stacks.give(&worker.stacks, static_cast<Stack*>(stack));
}

// Called when nothing refers to the task's frames any more: jumps to the frame that called the task.
[[noreturn]] void leave_frames(Task& task) noexcept {
  RunFrame& frame = *task.frame;
  Worker& worker = current_worker();
  if (frame.details.abandoned != nullptr) {
    Stack* const spare = worker.stack;
    Scheduler::restore_stack(worker, frame.details.abandoned);
    tell_limit(worker);
    JANUS_ASSERT(worker.pending.action == nullptr && spare != frame.details.abandoned);
    worker.pending = {give_spare, spare, nullptr};
    fiber_hooks::before_switch(spare->fiber, worker.fiber);
  }
  janus_task_abandon(frame.frame_sp, code_of(frame.details.outcome));
}

// Whether the task is in a half of a fork, which ends alone.
bool is_in_half(const Task& task) noexcept {
  const RunFrame& frame = *task.frame;
  for (const Nursery* first : {frame.open, frame.details.published})
    for (const Nursery* open = first; open != nullptr; open = open->outer)
      if (open->traits.is_of_own_half()) return true;
  return false;
}

// Before the nurseries of the task, or of its half, end: their tasks may be waiting for its locks.
void give_up_locks(Task& task) noexcept {
  release_held_locks(task, locks_to_keep(task));
  if (task.is_marked(TaskMarks::kHoldsLocks) && end_holdings != nullptr && !is_in_half(task)) end_holdings(task);
}

// Ends what the task has, then leaves its frames, which nobody overwrites meanwhile.
[[noreturn]] void end_and_leave(Task& task) noexcept {
  give_up_locks(task);
  (void)end_left_open(task, code_of(task.frame->details.outcome), true);
  leave_frames(task);
}

// Runs on the spare stack, as the task.
void end_on_spare(void* argument) noexcept {
  fiber_hooks::after_switch(current_worker().fiber);
  end_and_leave(*static_cast<Task*>(argument));
}

// Whether the task, or its half that ends, has nurseries to end. Precondition: the task is marked as forced, and so has
// details.
bool has_nurseries(const Task& task) noexcept {
  const Nursery* const newest = newest_nursery(task);
  return task.frame->current != nullptr || (newest != nullptr && !newest->traits.is_of_own_half());
}

// Sets the worker's words for a spare stack, which the caller enters. nullptr: there is none.
Stack* enter_spare_stack(Worker& worker, Task& task) noexcept {
  Runtime& runtime = runtime_of(worker);
  Stack* spare = runtime.stacks.take(&worker.stacks, 1);
  if (spare == nullptr) spare = runtime.stacks.alloc_under_pressure(&worker.stacks, 1, StackPool::Due::kPaid);
  if (spare == nullptr) return nullptr;
  task.frame->details.abandoned = worker.stack;
  Scheduler::enter_stack(worker, spare);
  return spare;
}

// The fault handler resumes the thread here, on the spare stack. Only here are the fiber hooks told of the switch,
// since the handler itself returns.
void fault_landing_on_spare(void* argument) noexcept {
  auto& task = *static_cast<Task*>(argument);
  fiber_hooks::before_switch(task.frame->details.abandoned->fiber, current_worker().fiber);
  fiber_hooks::after_switch(current_worker().fiber);
  tell_end(task, nullptr);
  end_and_leave(task);
}

// Without nurseries to await, or without a spare stack, the fault handler resumes the thread here, on the task's own
// stack, over the frames that are left.
void fault_landing(void* argument) noexcept {
  auto& task = *static_cast<Task*>(argument);
  fiber_hooks::forget_frames(current_worker().stack->limit, reinterpret_cast<std::byte*>(task.frame->frame_sp));
  tell_end(task, nullptr);
  leave_frames(task);
}

// The frames of a call with a deadline, or in a shield, are left: all of them, or those of the innermost half.
void leave_calls(Task& task) noexcept {
  if (has_deadline(task)) Deadline::of(task).end();
  if (!is_shielded(task)) return;
  RunDetails& details = task.frame->details;
  if (details.is_half_shielded) return;
  details.context &= static_cast<std::uint8_t>(~RunDetails::kInShield);
  look_at_context(task);
}

void mark_as_forced(Task& task, Outcome outcome, Cause cause) noexcept {
  leave_calls(task);
  task.mark(TaskMarks::kWasForced);
  task.frame->details.outcome = outcome;
  task.frame->details.cause = cause;
}

[[noreturn]] void end_by_force(Task& task, Outcome outcome, Cause cause) noexcept {
  mark_as_forced(task, outcome, cause);
  tell_end(task, nullptr);
  if (has_nurseries(task)) {
    Worker& worker = current_worker();
    void* const mine = worker.fiber;
    if (Stack* const spare = enter_spare_stack(worker, task)) {
      fiber_hooks::before_switch(mine, spare->fiber);
      janus_run_on_stack(spare->start, end_on_spare, &task);
    }
    end_and_leave(task);  // no spare stack: on this one, below the frames
  }
  leave_frames(task);
}

}  // namespace

[[gnu::noinline, gnu::cold]] void panic(Task& task, Cause cause, const char* why) noexcept {
  report_panic(task, why, nullptr);
  end_by_force(task, Outcome::kPanic, cause);
}

[[gnu::noinline, gnu::cold]] void end_as_panicked(Task& task, Cause cause) noexcept {
  end_by_force(task, Outcome::kPanic, cause);
}

[[gnu::noinline, gnu::cold]] void end_for_budget(Task& task, Component component) noexcept {
  end_by_force(task, Outcome::kBudget, cause_of(component));
}

[[gnu::noinline, gnu::cold]] void end_as_cancelled(Task& task) noexcept {
  end_by_force(task, Outcome::kCancelled, cause_of_cancel(task));
}

[[gnu::noinline, gnu::cold]] void panic_for_access(Task& task, bool has_address, std::uint64_t address) noexcept {
  platform::Fault fault{};
  fault.kind = platform::FaultKind::kAccess;
  fault.has_address = has_address;
  fault.address = address;
  fault.ip = reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
  fault.fp = *static_cast<const std::uint64_t*>(__builtin_frame_address(0));  // the caller's, as its ip
  const Reason reason = reason_of(fault, current_worker());
  report_panic(task, reason.text, &fault);
  end_by_force(task, Outcome::kPanic, reason.cause);
}

namespace {

// A fault in a copy of user memory, on any thread, resumes at the copy's fix-up, which reports the failure.
bool is_answered(platform::Fault& fault, Worker* worker) noexcept {
  if (fault.kind != platform::FaultKind::kAccess && fault.kind != platform::FaultKind::kBus) return false;
  fault.resume_ip = arch::find_fix_up(fault.ip);
  if (fault.resume_ip == 0) return false;
  fault.keeps_registers = true;
  if (worker != nullptr) worker->user_fault = {fault.address, fault.has_address};
  return true;
}

// Under JANUS_ON_EXHAUSTION_FAIL a lack of memory counts as exhaustion here, too, and not as a panic.
Outcome outcome_of_overflow(const Task& task, Growth growth) noexcept {
  return growth == Growth::kUnpaid && does_fail_rule(task) ? Outcome::kBudget : Outcome::kPanic;
}

// Ends the task by where the thread resumes after the handler. Inlined: small programs have only one of its callers.
[[gnu::always_inline]] inline void leave_by_resuming(platform::Fault& fault, Worker& worker, Task& task,
                                                     Outcome outcome, Cause cause) noexcept {
  mark_as_forced(task, outcome, cause);
  fault.resume_arg = reinterpret_cast<std::uint64_t>(&task);
  if (has_nurseries(task)) {
    if (Stack* const spare = enter_spare_stack(worker, task)) {
      fault.resume_ip = reinterpret_cast<std::uint64_t>(&fault_landing_on_spare);
      fault.resume_sp = reinterpret_cast<std::uint64_t>(spare->start) - 8;  // as after a call
      return;
    }
  }
  fault.resume_ip = reinterpret_cast<std::uint64_t>(&fault_landing);
  fault.resume_sp = ((task.frame->frame_sp - 512) & ~std::uint64_t{15}) - 8;
}

// A fault of the runtime itself ends the process; a fault of the task, or of a function on a helper thread, ends the task.
void contain(platform::Fault& fault, Worker& worker) noexcept {
  if (worker.leave_report != nullptr) return worker.leave_report(worker, &fault);
  Task* const task = current_task(worker);
  const bool has_task = task != nullptr && task->frame != nullptr && task->frame->frame_sp != 0 &&
                        !task->is_marked(TaskMarks::kWasForced);
  const Growth growth = has_task ? grow_for_fault(worker, *task, fault) : Growth::kAtMost;
  if (growth == Growth::kGrown) {
    fault.resume_ip = fault.ip;
    fault.keeps_registers = true;
    return;
  }
  if (!has_task || is_runtimes_own(fault, worker)) end_for_runtime_fault(fault, worker, reason_of(fault, worker).text);
  const Outcome outcome = outcome_of_overflow(*task, growth);
  const Reason reason =
      growth == Growth::kAtMost ? reason_of(fault, worker) : Reason{Cause::kStackOverflow, overflow_cause(growth)};
  if (outcome == Outcome::kPanic) report_panic(*task, reason.text, &fault);
  leave_by_resuming(fault, worker, *task, outcome, outcome == Outcome::kPanic ? reason.cause : Cause::kMemory);
}

}  // namespace

// Runs on the worker's alternate stack. A fault in here, except in a copy of user memory, is the runtime's own.
bool contain_fault(platform::Fault& fault) noexcept {
  auto* const worker = static_cast<Worker*>(static_cast<WorkerSlot*>(platform::worker_slot()));
  if (is_answered(fault, worker)) return true;
  if (worker == nullptr) return false;
  if (worker->helper != nullptr) {
    return contain_on_helper(*worker, fault);
  }
  if (worker->is_in_fault) end_for_runtime_fault(fault, *worker, "a fault while another was looked into");
  worker->is_in_fault = true;
  contain(fault, *worker);
  worker->is_in_fault = false;
  return true;
}

void end_for_overrun(platform::Fault& where, Worker& worker, Task& task, std::uint64_t held_ns) noexcept {
  constexpr std::uint64_t kMs = 1'000'000;
  Text<96> why;
  why.append("it held its worker for %lu ms without coming back to the runtime",
             static_cast<unsigned long>(held_ns / kMs));
  where.has_address = false;
  report_panic(task, why.data(), &where);
  take_fuel_unchecked(worker, static_cast<std::int64_t>(held_ns / price::kNsPerOp));
  leave_by_resuming(where, worker, task, Outcome::kPanic, Cause::kOverrun);
}

[[gnu::noinline, gnu::cold]] void look_at_stack(Worker& worker) noexcept {
  if (worker.helper != nullptr) refuse_on_helper(worker);
  const Stack* const stack = worker.stack;
  const auto limit = reinterpret_cast<std::uintptr_t>(stack->limit) + Scheduler::kStackReserve;
  const bool has_room = arch::stack_pointer() >= limit;
  if (has_room && canary_intact(stack)) return;
  // Growing the stack, or ending the task, needs more stack than may be left. If there is a guard page, touches it: the
  // fault handler, which has its own stack, does the work, and resumes here if there is room now.
  if (!has_room && stack->guard != platform::Guard::kNone)
    return arch::meet_guard(stack->limit, Scheduler::kStackReserve);
  platform::Fault fault{};
  fault.has_address = true;
  fault.address = arch::stack_pointer();
  fault.ip = reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
  fault.fp = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  Task& task = *current_task(worker);
  report_panic(task, overflow_cause(Growth::kAtMost), &fault);
  end_by_force(task, Outcome::kPanic, Cause::kStackOverflow);
}

}  // namespace janus
