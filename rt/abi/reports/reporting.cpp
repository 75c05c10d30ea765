// SPDX-License-Identifier: Apache-2.0
// rt/abi/reports/reporting.cpp — calls the report function. The worker that has found something runs no task during the
// call, so each call of the runtime in there is that of a thread outside tasks; those that wait are refused, since the
// worker would not go on meanwhile. The function has a stack of its own, as little may be left of the task's, and the
// fault handler's is for the handler. It is called as a task's function is, so that it can be left if it panics.
// docs/decisions/0349
#include "rt/abi/reports/reporting.h"

#include <arch/task_call.h>

#include "rt/base/text_list.h"
#include "rt/sched/fiber_hooks.h"
#include "rt/task/nurseries/deadlock.h"
#include "rt/task/record/panic.h"
#include "rt/task/record/price.h"
#include "rt/task/report/describe.h"
#include "rt/task/report/log.h"
#include "rt/task/report/reporting.h"
#include "rt/task/report/runtime_fault.h"
#include "rt/task/run/await.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/slice.h"

extern "C" [[JANUS_OPTIONAL]] const char* janus_strerror(int64_t value);

namespace janus {

namespace {

constexpr unsigned kStackClass = 3;
static_assert(stack_class_bytes(kStackClass) == 65536, "janus/rt/config.h says so");
constexpr std::int64_t kWasNotTold = -1;  // as if a report function that is left had returned it
constexpr std::size_t kPathBytes = 512;
constexpr std::int64_t kFuel = std::int64_t{1} << 62;  // for the checks in its loops, which have no task
constexpr char kComponentNames[] = "ops\0memory\0spawn_count\0channel_ops\0syscalls";
constexpr char kWasLeft[] = "janus: the report function panicked\n";

// What the worker was about before the call.
struct WorkerBefore {
  explicit WorkerBefore(const Worker& worker) noexcept
      : task(worker.task), stack(worker.stack), fiber(worker.fiber), limit(worker.stack_limit), fuel(worker.fuel) {}
  void restore(Worker& worker) const noexcept {
    worker.task = task;
    worker.stack = stack;
    worker.fiber = fiber;
    worker.stack_limit = limit;
    (void)swap_fuel(worker, fuel);
  }

  decltype(WorkerSlot::task) task;
  Stack* stack;
  fiber_hooks::Fiber fiber;
  decltype(WorkerSlot::stack_limit) limit;
  std::int64_t fuel;
};

struct Call {
  Worker& worker;
  WorkerBefore before;
  janus_report& report;
  const Task* task;  // of which the report is, if its path has to be composed
  std::uint64_t frame_sp;
};

[[noreturn]] void end_call(const Call& call, std::int64_t answer) noexcept {
  fiber_hooks::before_switch(call.worker.fiber, call.before.fiber);
  janus_task_abandon(call.frame_sp, answer);
}

// On the stack of the call.
void call_function(void* argument) noexcept {
  const Call& call = *static_cast<Call*>(argument);
  fiber_hooks::after_switch(call.worker.fiber);
  Text<kPathBytes> path;
  if (call.task != nullptr) {
    append_path(path, *call.task);
    call.report.nursery_path = path.data();
  }
  end_call(call, reinterpret_cast<janus_report_fn>(runtime_of(call.worker).report)(&call.report));
}

std::int64_t switch_stacks(void* argument) noexcept {
  const Call& call = *static_cast<Call*>(argument);
  fiber_hooks::before_switch(call.before.fiber, call.worker.fiber);
  janus_run_on_stack(call.worker.stack->start, call_function, argument);
}

[[noreturn]] void leave_report_function(void* of) noexcept {
  Worker& worker = *static_cast<Worker*>(of);
  say(kWasLeft, sizeof kWasLeft - 1);
  end_call(*static_cast<Call*>(worker.report_call), kWasNotTold);
}

// Resumed here after a fault, on the stack of the call, over the frames that are left.
[[noreturn]] void leave_frames_of_function(void* worker) noexcept {
  const Stack& stack = *static_cast<Worker*>(worker)->stack;
  fiber_hooks::forget_frames(stack.limit, stack.start);
  leave_report_function(worker);
}

void leave(Worker& worker, platform::Fault* fault) noexcept {
  if (fault == nullptr) leave_report_function(&worker);
  if (is_runtimes_own(*fault, worker))
    end_for_runtime_fault(*fault, worker, "a fault in a call of the report function");
  fault->resume_ip = reinterpret_cast<std::uint64_t>(&leave_frames_of_function);
  fault->resume_sp = reinterpret_cast<std::uint64_t>(worker.stack->start) - 8;  // as after a call
  fault->resume_arg = reinterpret_cast<std::uint64_t>(&worker);
}

// nullptr: stderr is to be told, or there is no memory.
Stack* take_stack(Runtime& runtime, Worker& worker) noexcept {
  if (runtime.report == nullptr || worker.report_call != nullptr || worker.stack == nullptr) return nullptr;
  Stack* const stack = runtime.stacks.take(&worker.stacks, kStackClass);
  if (stack != nullptr) return stack;
  return runtime.stacks.alloc_under_pressure(&worker.stacks, kStackClass, StackPool::Due::kPaid);
}

// Returns what the function does. Gives back the stack.
std::int64_t call_on(Stack* stack, Runtime& runtime, Worker& worker, janus_report& report, const Task* task) noexcept {
  Call call{worker, WorkerBefore(worker), report, task, 0};
  worker.report_call = &call;
  worker.leave_report = leave;
  worker.task = nullptr;
  (void)swap_fuel(worker, kFuel);
  Scheduler::enter_stack(worker, stack);
  const std::int64_t answer = janus_task_call(switch_stacks, &call, &call.frame_sp);
  fiber_hooks::after_switch(call.before.fiber);
  call.before.restore(worker);
  worker.report_call = nullptr;
  worker.leave_report = nullptr;
  runtime.stacks.give(&worker.stacks, stack);
  return answer;
}

// Tells the function on that stack; or stderr, if there is none, too. With no lock held.
void tell(Stack* stack, Runtime& runtime, janus_report& report, std::size_t text_size,
          const Task* task = nullptr) noexcept {
  report.size = sizeof report;
  report.rt = reinterpret_cast<janus_rt*>(&runtime);
  report.context = runtime.report_context;
  if (stack == nullptr || call_on(stack, runtime, current_worker(), report, task) != 0) say(report.text, text_size);
}

janus_report report_of(std::uint32_t event, const TaskEnd& end, std::uint64_t task_id) noexcept {
  janus_report report{};
  report.event = event;
  report.kind = static_cast<std::uint32_t>(end.outcome);
  report.cause = static_cast<std::uint32_t>(end.cause);
  report.code = end.code;
  report.task_id = task_id;
  report.name = report.nursery_path = "";
  return report;
}

// --- The ends of tasks ---------------------------------------------------------------------------------------------------

bool keep(Worker& worker, const TextWriter& lines, const platform::Fault* fault) noexcept {
  const Runtime& runtime = runtime_of(worker);
  if (runtime.report == nullptr || runtime.options.ends_by_panic) return false;
  worker.kept_report = {fault != nullptr && fault->has_address ? fault->address : 0, lines.size()};
  return true;
}

void tell_with_task(Stack* stack, janus_report& report, const Task& task, std::size_t text_size) noexcept {
  Runtime& runtime = *task.nursery->runtime;
  const bool is_main = runtime.terminable.load(std::memory_order_relaxed) == &task;
  report.name = task.extra != nullptr ? task.extra->name : is_main ? "main" : "";
  tell(stack, runtime, report, text_size, &task);
}

const char* name_of(Cause component) noexcept {
  return nth_text(kComponentNames, static_cast<long>(component) - static_cast<long>(Cause::kOps));
}

void append_name_of(TextWriter& line, std::int64_t code) noexcept {
  const bool is_error = code <= JANUS_E_CLOSED && code >= JANUS_E_UNSUPPORTED;
  if (is_error && &janus_strerror != nullptr) line.append(" (%s)", janus_strerror(code));
}

void tell_failure(Stack* stack, Worker& worker, const Task& task, const TaskEnd& end) noexcept {
  const bool is_exhausted = end.outcome == Outcome::kBudget;
  take_fuel_unchecked(worker, price::kPanic);
  TextWriter line(worker.report, sizeof worker.report);
  line.append("janus: ");
  append_task(line, task);
  if (is_exhausted)
    line.append(" used up its budget of %s", name_of(end.cause));
  else
    line.append(" failed with %ld", static_cast<long>(end.code));
  append_name_of(line, end.code);
  line.append("; nursery ");
  append_path(line, task);
  line.end_line();
  janus_report report = report_of(is_exhausted ? JANUS_REPORT_EXHAUSTED : JANUS_REPORT_FAILED, end, task.id);
  report.text = line.data();
  tell_with_task(stack, report, task, line.size());
}

TaskEnd forced_end_of(const Task& task) noexcept {
  const RunDetails& details = task.frame->details;
  return {details.outcome, code_of(details.outcome), details.cause};
}

// Whether that end is to be told. A panic is once: its lines were kept.
bool is_told_of(const Runtime& runtime, const Worker& worker, Outcome outcome) noexcept {
  if (outcome == Outcome::kFailed) return runtime.reports_failures;
  if (outcome == Outcome::kBudget) return runtime.reports_failures || runtime.report != nullptr;
  return worker.kept_report.size != 0;
}

[[gnu::noinline]] void tell_end_on(Stack* stack, const Task& task, const TaskEnd* given) noexcept {
  Worker& worker = current_worker();
  const TaskEnd end = given != nullptr ? *given : forced_end_of(task);
  if (end.outcome != Outcome::kPanic) return tell_failure(stack, worker, task, end);
  const auto kept = worker.kept_report;
  worker.kept_report.size = 0;
  janus_report report = report_of(JANUS_REPORT_PANIC, end, task.id);
  report.text = worker.report;
  report.address = kept.address;
  tell_with_task(stack, report, task, kept.size);
}

// Takes the stack first, while little of the task's own is used.
void tell_end_of(const Task& task, const TaskEnd* given) noexcept {
  Worker& worker = current_worker();
  Runtime& runtime = runtime_of(worker);
  const Outcome outcome = given != nullptr ? given->outcome : task.frame->details.outcome;
  if (is_told_of(runtime, worker, outcome)) tell_end_on(take_stack(runtime, worker), task, given);
}

bool tell_unread(const UnreadFailure& unread, const TextWriter& line) noexcept {
  const TaskEnd end = {unread.report.outcome, unread.report.code, unread.report.cause};
  janus_report report = report_of(JANUS_REPORT_UNREAD, end, unread.report.task_id);
  report.text = line.data();
  report.nursery_path = unread.nursery;
  Worker& worker = current_worker();
  tell(take_stack(runtime_of(worker), worker), runtime_of(worker), report, line.size());
  return true;
}

// --- Deadlocks -----------------------------------------------------------------------------------------------------------

// Under outside_lock. From then on no other worker finds the same deadlock.
void mark_all(const Runtime& runtime) noexcept {
  for (Nursery* nursery = runtime.outside; nursery != nullptr; nursery = nursery->outer)
    if (!NurseryWord::is_terminal(nursery->word.load(std::memory_order_acquire)))
      nursery->word.fetch_or(NurseryWord::kDeadlocked, std::memory_order_acq_rel);
}

// Under outside_lock, so that no nursery is destroyed meanwhile.
void cancel_marked(const Runtime& runtime, Worker& worker) noexcept {
  for (Nursery* nursery = runtime.outside; nursery != nullptr; nursery = nursery->outer) {
    const std::uint64_t word = nursery->word.load(std::memory_order_acquire);
    if ((word & NurseryWord::kDeadlocked) != 0 && !NurseryWord::is_terminal(word))
      cancel_nursery(&worker, *nursery, Cause::kOther, Pace::kAtOnce);
  }
}

void end_deadlock(Runtime& runtime, Worker& worker) noexcept {
  TaskReport* const list = describe_deadlock(runtime);
  mark_all(runtime);
  runtime.outside_lock.unlock();
  janus_report report = report_of(JANUS_REPORT_DEADLOCK, {Outcome::kPending, JANUS_E_DEADLOCK, Cause::kOther}, 0);
  report.text = list != nullptr ? list->data() : kDeadlockLine;
  tell(take_stack(runtime, worker), runtime, report, list != nullptr ? list->size() : sizeof kDeadlockLine - 1);
  if (list != nullptr) free_report(list);
  if (runtime.options.is_program) platform::exit(kDeadlockStatus);
  runtime.outside_lock.lock();
  cancel_marked(runtime, worker);
}

constexpr Reporting kReporting = {keep, tell_end_of, tell_unread, end_deadlock};

}  // namespace

void begin_reporting(Runtime& runtime, const janus_rt_config& config) noexcept {
  if (config.report == nullptr && config.report_failures == 0) return;
  runtime.report = reinterpret_cast<void (*)()>(config.report);
  runtime.report_context = config.report_context;
  runtime.reports_failures = config.report_failures != 0;
  runtime.reporting = &kReporting;
}

}  // namespace janus
