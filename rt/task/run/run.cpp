// SPDX-License-Identifier: Apache-2.0
// rt/task/run/run.cpp — a task from its start to its end.
#include "rt/task/run/run.h"

#include <arch/task_call.h>
#include "rt/base/order_hooks.h"
#include "rt/mem/stack_canary.h"
#include "rt/sched/fiber_hooks.h"
#include "rt/task/account/cage_pages.h"
#include "rt/task/account/inherited.h"
#include "rt/task/account/locals.h"
#include "rt/task/locks/keyed_lock.h"
#include "rt/task/nurseries/cap.h"
#include "rt/task/nurseries/gate.h"
#include "rt/task/nurseries/handle.h"
#include "rt/task/nurseries/join.h"
#include "rt/task/nurseries/result.h"
#include "rt/task/record/price.h"
#include "rt/task/record/runtime.h"
#include "rt/task/report/reporting.h"
#include "rt/task/run/pin.h"
#include "rt/task/run/watch.h"
#include "rt/task/stacks/panic_report.h"
#include "rt/task/stacks/stack_growth.h"
#include "rt/task/sync/sync_queue.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/children.h"
#include "rt/task/wait/held_world.h"
#include "rt/task/wait/records.h"
#include "rt/task/wait/slice.h"

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

// Ends a task to which others may hold handles: its lock orders the end and their operations on the task.
void end_exposed(Worker& worker, Task& task, const TaskEnd& end) noexcept {
  task.lock.lock();
  JANUS_ASSERT(!task.has(TaskFlags::kEnded) && may_be_running(state_of(task)));
  task.result = end.code;
  task.outcome = end.outcome;
  task.cause = end.cause;
  task.set(TaskFlags::kEnded);
  task.state.store(final_state(end.outcome), std::memory_order_release);
  Join* const watches = take_watches != nullptr ? take_watches(task) : nullptr;
  wake_joiners(worker, task);
  if (task.has(TaskFlags::kKept)) {
    Nursery& nursery = *task.nursery;
    LockGuard guard(nursery.lock);
    nursery.traits.has_leftovers = true;
    task.set_record_previous(nullptr);
    task.record_next = nursery.records;
    if (nursery.records != nullptr) nursery.records->set_record_previous(&task);
    nursery.records = &task;
    if (nursery.untold.load(std::memory_order_relaxed) == nullptr)
      nursery.untold.store(&task, std::memory_order_relaxed);
    task.set(TaskFlags::kRecorded);
  } else {
    free_record(&worker, task);
  }
  task.lock.unlock();
  if (watches != nullptr) tell_watches(worker, watches);
}

// -1 after a cancel means cancelled, even if the task itself has not seen the cancel: it may return the code of another
// task that has.
TaskEnd end_of(Task& task, std::int64_t code) noexcept {
  if (task.is_marked(TaskMarks::kWasForced)) return {task.frame->details.outcome, code, task.frame->details.cause};
  if (code >= 0) return {Outcome::kSuccess, code, Cause::kNone};
  if (code == -1 && is_cancelled(task)) return {Outcome::kCancelled, code, cause_of_cancel(task)};
  return {Outcome::kFailed, code, Cause::kNone};
}

// Refunds the charges for the task.
[[gnu::noinline, gnu::cold]] void credit_task(Task& task) noexcept {
  Runtime& runtime = *task.nursery->runtime;
  const bool has_own = task.has(TaskFlags::kOwnAccount);
  Account* const payer = has_own ? task.nursery->account : task.account;
  if (has_own) {
    end_local_keys(runtime, &current_worker(), *task.account);
    close_account(runtime, task.account);
  }
  refund_record(runtime, payer, bytes_of_task(task.stack_class));
}

// Orders all actions of the task before the return of an await of the nursery or a join of the task.
[[gnu::always_inline]] inline void order_end(Task& task, const Nursery& nursery) noexcept {
  order_hooks::release(&nursery);
  order_hooks::release(order_hooks::second(&task));
}

// The second half of a task's end, after its frames are no longer needed.
[[gnu::cold]] void end_task(Worker& worker, Task& task, const TaskEnd& end) noexcept {
  Nursery& nursery = *task.nursery;
  runtime_of(worker).scheduler.trace_event(worker, Event::kFinish, &task);
  count_end(worker.counters, end.outcome);
  if (task.has(TaskFlags::kDraws)) credit_task(task);
  task.frame = nullptr;
  Runtime& runtime = runtime_of(worker);
  const bool is_exposed = task.has(TaskFlags::kExposed);
  const bool is_main = is_exposed && runtime.terminable.load(std::memory_order_relaxed) == &task;
  if (is_main) runtime.terminable.store(nullptr, std::memory_order_relaxed);
  const bool leaves_record = task.has(TaskFlags::kKept);
  if (is_exposed)
    end_exposed(worker, task, end);
  else
    free_record(&worker, task);
  if (nursery.traits.is_gated) let_next_pass(worker, nursery);
  leaves_record ? leave_nursery_with_record(worker, nursery) : leave_nursery(worker, nursery);
  // Must come last: the thread that began the program ends main's nursery as soon as its own worker has stopped.
  if (is_main) runtime.scheduler.stop();
}

std::int64_t end_nurseries(Task& task, RunFrame& frame, std::int64_t code) noexcept {
  const bool has_seen = task.marks != 0 && frame.details.published != nullptr;
  return frame.open != nullptr || frame.current != nullptr || has_seen ? end_left_open(task, code, code < 0) : code;
}

// If one sets values again, these are destroyed too, for a few rounds.
void destroy_all_locals(Task& task) noexcept {
  constexpr unsigned kRounds = 4;  // the minimum that POSIX requires for thread-specific data
  bool again = true;
  for (unsigned round = 0; round < kRounds && again; ++round) {
    again = task.is_marked(TaskMarks::kHasLocals) && destroy_locals(task);
    if (has_inherited(task) && destroy_inherited(task)) again = true;
  }
}

// Destructors are user code, in which a fault ends the task as anywhere else. They are not called for a task that was
// ended by force, since its data may be in any state.
std::int64_t end_locals(Task& task, RunFrame& frame, std::int64_t code) noexcept {
  if (!task.is_marked(TaskMarks::kWasForced)) {
    const std::int64_t ended = janus_task_call(
        [](void* self) -> std::int64_t {
          destroy_all_locals(*static_cast<Task*>(self));
          return 0;
        },
        &task, &frame.frame_sp);
    frame.frame_sp = 0;
    if (task.is_marked(TaskMarks::kWasForced)) {
      Scheduler::run_pending_action();
      code = ended;
    }
    release_held_locks(task);
  }
  if (task.is_marked(TaskMarks::kHasLocals)) free_locals(task);
  return end_nurseries(task, frame, code);  // destructors may have left some open
}

// Ends the nurseries and frees the local values that a task may have left.
std::int64_t clean_up(Task& task, RunFrame& frame, std::int64_t code) noexcept {
  code = end_nurseries(task, frame, code);
  const bool has_set = has_inherited(task) && has_set_inherited(task);
  if (task.is_marked(TaskMarks::kHasLocals) || has_set) code = end_locals(task, frame, code);
  return code;
}

// After this the task must not give way, since a cancel could not find it.
void leave_members(Task& task, RunFrame& frame) noexcept {
  if (!task.is_marked(TaskMarks::kHasMigrated)) return;
  LockGuard guard(task.nursery->lock);
  List<RunDetails, MigratedTasks>::remove(&frame.details);
  task.has_migrated.store(false, std::memory_order_relaxed);
}

}  // namespace

void leave_abandoned_frames(const RunFrame& frame, std::uint64_t frame_sp) noexcept {
  Worker& worker = current_worker();
  if (frame.details.abandoned != nullptr) fiber_hooks::after_switch(worker.fiber);
  fiber_hooks::forget_frames(worker.stack->limit, reinterpret_cast<const std::byte*>(frame_sp));
  Scheduler::run_pending_action();
}

namespace {

// The canary below a stack without a guard page was overwritten. No other task uses that memory, so this task is to
// blame: it ends as after a stack overflow, unless it was ended by force already.
std::int64_t ran_over(Worker& worker, Task& task, std::int64_t code) noexcept {
  renew_canary(worker.stack);
  if (task.is_marked(TaskMarks::kWasForced)) return code;
  report_panic(task, "stack overflow, found by its canary", nullptr);
  task.mark(TaskMarks::kWasForced);
  task.frame->details.outcome = Outcome::kPanic;
  task.frame->details.cause = Cause::kStackOverflow;
  tell_end(task, nullptr);
  return -2;
}

// Drops what a task was given that will not start.
void drop_birth(Task& task) noexcept {
  if (drop_context != nullptr) drop_context(task);
  if (drop_inherited != nullptr) drop_inherited(task);
}

// For a task that was told to end before its start: whether its function is called all the same.
[[gnu::noinline, gnu::cold]] bool starts_told(Task& task) noexcept {
  Worker& worker = current_worker();
  const bool is_aside = is_put_aside != nullptr && is_put_aside(task);
  if (!is_aside) task.cancel.store(static_cast<std::uint8_t>(cause_of_cancel(task)), std::memory_order_relaxed);
  const bool runs = is_aside || task.has(TaskFlags::kRunCancelled);
  if (runs) {
    begin_grace(worker, task);
  } else {
    drop_birth(task);
    task.mark(TaskMarks::kSawCancel);
  }
  task.frame->details.has_passed_cancel_on = !is_aside;
  return runs;
}

// Ends the last slice of a task. For a child that ran in its parent's slice the parent does that, except for ops that
// the child took from its own grace.
void commit_last_slice(Worker& worker, Task& task, bool is_own_slice) noexcept {
  if (is_own_slice) return commit_slice(worker, task);
  const RunFrame& frame = *task.frame;
  if (task.marks == 0 || frame.details.outer_fuel < 0) return;
  commit_slice(worker, task);
  resume_slice(worker, *frame.outer_frame->task, frame.details.outer_fuel);
}

// What the task has beside locks and nurseries. Others may run meanwhile.
[[gnu::noinline, gnu::cold]] void give_back(Task& task) noexcept {
  if (task.is_marked(TaskMarks::kHasContext)) {
    if ((task.frame->details.context & RunDetails::kHoldsWorld) != 0) lose_world(task, WorldLoss::kEnds);
    if (end_pins != nullptr) end_pins(task);
    if (has_inherited(task)) end_inherited(task);
    if (end_caps != nullptr && task.is_marked(TaskMarks::kHasContext)) end_caps(task);
  }
  if (task.is_marked(TaskMarks::kHasGrown)) give_back_growth(current_worker(), task);
}

// All steps after the return of the task's function, whatever its outcome.
[[gnu::noinline, gnu::cold]] void finish(Task& task, std::int64_t code, std::uint64_t frame_sp,
                                         bool is_own_slice) noexcept {
  RunFrame& frame = *task.frame;
  if (task.is_marked(TaskMarks::kWasForced)) leave_abandoned_frames(frame, frame_sp);
  release_held_locks(task);
  if (task.is_marked(TaskMarks::kHoldsLocks) && end_holdings != nullptr) end_holdings(task);
  code = clean_up(task, frame, code);
  if (task.is_marked(TaskMarks::kHasGrown | TaskMarks::kHasContext)) give_back(task);
  if (!canary_intact(current_worker().stack)) code = ran_over(current_worker(), task, code);
  const TaskEnd end = end_of(task, code);
  if (end.outcome != Outcome::kSuccess) record_end(task, end, Pace::kInParts);
  leave_members(task, frame);
  Worker& worker = current_worker();
  commit_last_slice(worker, task, is_own_slice);
  runtime_of(worker).scheduler.sched_point();
  order_end(task, *task.nursery);
  end_task(worker, task, end);
}

// Whether the task ended with nothing to clean up or record.
[[gnu::always_inline]] inline bool is_plain_end(const Task& task, const RunFrame& frame, std::int64_t code) noexcept {
  return code >= 0 && frame.open == nullptr && frame.current == nullptr && task.marks == 0 &&
         arch::cmp_relaxed(task.flags, 0);
}

// Fast path of finish(): nothing to clean up. The caller updates the counters.
[[gnu::always_inline]] inline void finish_plain(Worker& worker, Task& task) noexcept {
  task.frame = nullptr;
  JANUS_ASSERT(is_zeroed_when_free(task));
  give_record<&Runtime::tasks, &Worker::tasks>(worker, &task);
}

// Runs a task from its start to its end. `worker`: the calling one, before and afterwards. `outer_frame`: the frame of
// the task that waits for this one by calling it, or nullptr. True: is_plain_end() held, and the caller must count the
// task. The fast path is for a child without a handle that runs in its parent's slice, on the root's account; such a
// child needs no state. kIsHalf: it is a half of a fork.
template <Path kPath, bool kIsHalf>
[[gnu::always_inline]] inline bool run_task(Worker*& worker, Task& task, Nursery& nursery, RunFrame* outer_frame,
                                            bool is_own_slice) noexcept {
  constexpr bool kIsFast = kPath == Path::kFast;
  RunFrame frame(&task, outer_frame);
  JANUS_ASSERT(task.frame == nullptr && task.suspension() == nullptr && may_be_running(state_of(task)));
  task.frame = &frame;
  set_running(*worker, &task);
  if constexpr (!kIsFast) {
    task.state.store(TaskState::kRunning, std::memory_order_relaxed);
    worker->scheduler->trace_event(*worker, Event::kStart, &task);
  }
  if (is_own_slice) begin_slice(*worker, task);
  [[maybe_unused]] void* outer_fiber = nullptr;
  if constexpr (fiber_hooks::kAreWatched) outer_fiber = fiber_hooks::begin_task(current_worker().fiber, task.id);
  order_hooks::acquire(&task);
  std::int64_t code = -1;
  if (!(kIsFast ? is_told_on_root(runtime_of(*worker), nursery) : is_told(task)) || starts_told(task)) [[likely]]
    code = kIsHalf ? janus_half_call(task.arg, task.fn, &frame.frame_sp)
                   : janus_task_call(task.fn, task.arg, &frame.frame_sp);
  worker = &current_worker();
  if (is_plain_end(task, frame, code) && (kIsFast || !Scheduler::is_always_slow(*worker))) [[likely]] {
    if (is_own_slice) commit_slice(*worker, task);
    order_end(task, nursery);
    finish_plain(*worker, task);
    fiber_hooks::end_task(worker->fiber, outer_fiber, false);
    return true;
  }
  const std::uint64_t frame_sp = frame.frame_sp;
  frame.frame_sp = 0;
  [[maybe_unused]] const bool was_forced = task.is_marked(TaskMarks::kWasForced);
  finish(task, code, frame_sp, is_own_slice);
  worker = &current_worker();
  if constexpr (fiber_hooks::kAreWatched) fiber_hooks::end_task(worker->fiber, outer_fiber, was_forced);
  return false;
}

[[gnu::noinline]] void run(Task& task, RunFrame* outer_frame, bool is_own_slice) noexcept {
  Nursery& nursery = *task.nursery;
  Worker* worker = &current_worker();
  if (!run_task<Path::kGeneral, false>(worker, task, nursery, outer_frame, is_own_slice)) return;
  worker->counters.completed.add();
  leave_nursery(*worker, nursery);
}

// Runs a child on the stack of its parent, which waits. A child with an account of its own gets a slice of its own,
// which interrupts its parent's.
[[gnu::noinline]] void run_nested(Task& child, Task& parent) noexcept {
  if (child.account == parent.account) return run(child, parent.frame, false);
  // The parent's account pays for the growth of its stack, which the child must not use.
  if (!has_room_for_children(current_worker(), kMaxInitialBytes))
    (void)!make_room_for_children(current_worker(), parent, kMaxInitialBytes);
  const std::int64_t left = current_worker().fuel;
  commit_slice(current_worker(), parent);
  run(child, parent.frame, true);
  resume_slice(current_worker(), parent, left);
}

// Whether children are counted: in `local_count` on the home worker, and in the word once the nursery is shared.
template <Path kPath>
[[gnu::always_inline]] inline bool may_have_children(const Worker& worker, const Nursery& nursery) noexcept {
  if (is_at_home(nursery, worker)) return nursery.local_count != 0;
  return kPath == Path::kGeneral && nursery.word.load(std::memory_order_relaxed) >= NurseryWord::kChild;
}

// How many stack classes fit below the present depth of this stack. Computed from the size of the stack's own class, so
// that tasks run the same on stacks that grow and on others; the fast path counts only the part that is usable now.
template <Path kPath>
[[gnu::always_inline]] inline unsigned classes_that_fit(const Worker& worker) noexcept {
  const std::uintptr_t here = arch::stack_pointer();
  const std::byte* const limit =
      kPath == Path::kFast ? worker.stack_limit : end_of_class(*worker.stack) + Scheduler::kStackReserve;
  const std::uintptr_t lowest = reinterpret_cast<std::uintptr_t>(limit);
  return here > lowest ? static_cast<unsigned>(std::bit_width((here - lowest) / kMinStackBytes)) : 0;
}

// Whether the task may run on the stack of the task that awaits it.
[[gnu::always_inline]] inline bool fits_below(const Runnable* fresh, const Nursery& nursery,
                                              unsigned classes) noexcept {
  return static_cast<const Task*>(fresh)->nursery == &nursery && fresh->stack_class < classes;
}

}  // namespace

void run_from_base(Runnable* fresh) noexcept {
  run(*static_cast<Task*>(fresh), nullptr, true);
}

template <Path kPath>
void run_children(Task& self, Nursery& nursery) noexcept {
  Worker* worker = &current_worker();
  if (!may_have_children<kPath>(*worker, nursery)) return;
  unsigned classes = classes_that_fit<kPath>(*worker);
  if (kPath == Path::kGeneral && classes != 0) {
    const std::size_t most = runtime_of(*worker).options.stack_max;
    if (!has_room_for_children(*worker, most) && !make_room_for_children(*worker, self, most)) classes = 0;
  }
  JANUS_ASSERT(may_be_running(state_of(self)) && current_task(*worker) == &self);
  self.state.store(TaskState::kNesting, std::memory_order_relaxed);
  do {
    auto* const child = static_cast<Task*>(
        Scheduler::take_fresh_if<kPath>(*worker, [&](Runnable* fresh) { return fits_below(fresh, nursery, classes); }));
    if (child == nullptr) break;
    const bool is_plain = child->account == self.account && child->flags.load(std::memory_order_relaxed) == 0;
    bool is_to_count = false;
    if (kPath == Path::kFast && is_plain) [[likely]] {
      is_to_count = run_task<Path::kFast, false>(worker, *child, nursery, self.frame, false);
    } else {
      run_nested(*child, self);
      worker = &current_worker();  // the child may have ended on another worker
    }
    if (is_to_count) [[likely]] {
      worker->counters.completed_inline.add();
      leave_nursery(*worker, nursery);
    } else {
      worker->counters.inlined.add();
    }
  } while (may_have_children<kPath>(*worker, nursery));
  // The parent goes on.
  JANUS_ASSERT(state_of(self) == TaskState::kNesting);
  set_running(*worker, &self);
  self.state.store(TaskState::kRunning, std::memory_order_relaxed);
}
template void run_children<Path::kGeneral>(Task& self, Nursery& nursery) noexcept;
template void run_children<Path::kFast>(Task& self, Nursery& nursery) noexcept;

bool run_only_child(Worker*& worker, Task& self, RunFrame& frame, Nursery& nursery) noexcept {
  // With a stack that has grown long the limit is above every stack pointer: it has to shrink first.
  if (!is_at_home(nursery, *worker) || arch::stack_pointer() < reinterpret_cast<std::uintptr_t>(worker->stack_limit))
      [[unlikely]]
    return false;
  auto* const child =
      static_cast<Task*>(Scheduler::take_fresh_if<Path::kFast, true>(*worker, [&](const Runnable* fresh) {
        // With flags: somebody spawned it by a handle of the record's earlier nursery.
        const auto* const task = static_cast<const Task*>(fresh);
        return task->nursery == &nursery && arch::cmp_relaxed(task->flags, 0);
      }));
  if (child == nullptr) [[unlikely]]
    return false;
  JANUS_ASSERT(child->account == self.account);
  JANUS_ASSERT(may_be_running(state_of(self)) && current_task(*worker) == &self);
  self.state.store(TaskState::kNesting, std::memory_order_relaxed);
  const bool is_to_count = run_task<Path::kFast, true>(worker, *child, nursery, &frame, false);
  set_running(*worker, &self);
  self.state.store(TaskState::kRunning, std::memory_order_relaxed);
  if (!is_to_count) [[unlikely]] {
    worker->counters.inlined.add();
    return is_at_home(nursery, *worker) && nursery.local_count == 0;
  }
  worker->counters.completed_inline.add();
  if (!is_at_home(nursery, *worker)) [[unlikely]] {
    leave_nursery(*worker, nursery);
    return false;
  }
  return --nursery.local_count == 0;
}

// The machine has no stack of the task's class: the task ends without having run.
void refuse_start(Runnable* fresh) noexcept {
  auto* task = static_cast<Task*>(fresh);
  drop_birth(*task);
  report_panic(*task, "no memory for its stack", nullptr);
  const TaskEnd end = {Outcome::kPanic, kPanicCode, Cause::kNoMemory};
  tell_end(*task, &end);
  record_end(*task, end, Pace::kAtOnce);
  end_task(current_worker(), *task, end);
}

}  // namespace janus
