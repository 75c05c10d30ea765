// SPDX-License-Identifier: Apache-2.0
// rt/sched/switching.cpp — switching stacks: the base frame, and how a runnable leaves its stack and is resumed.
#include <arch/opaque.h>
#include "rt/base/assert.h"
#include "rt/sched/fiber_hooks.h"
#include "rt/sched/suspend.h"

namespace janus {

namespace {

void give_stack(Worker& worker, void* pool, void* stack) noexcept {
  static_cast<StackPool*>(pool)->give(&worker.stacks, static_cast<Stack*>(stack));
}

bool fits(const Stack& stack, unsigned size_class) noexcept {
  return stack.size_class == size_class || (stack.size_class == kLargeFirstClass && size_class < kLargeFirstClass);
}

// Whether the stack is for the worker itself, or its user or waiter has paid for it. Such a request is served even if
// the root's budget is used up.
[[gnu::noinline, gnu::cold]] bool is_paid_for(const Runnable* user, const Runnable* waiter) noexcept {
  if (user == nullptr && waiter == nullptr) return true;
  return (user != nullptr && hooks::has_paid(user)) || (waiter != nullptr && hooks::has_paid(waiter));
}

void publish_reserved(Worker& worker, void*, void*) noexcept {
  worker.yielded.commit_tail();
  if (worker.scheduler->has_sleeper<Path::kFast>()) [[unlikely]]
    worker.scheduler->wake_one_for(Work::kFresh);
}

void publish_yielded(Worker& worker, void* yielded, void*) noexcept {
  auto* const runnable = static_cast<Runnable*>(yielded);
  worker.scheduler->trace_event(worker, Event::kBlock, runnable);
  worker.scheduler->push_yielded(worker, runnable);
}

}  // namespace

// While there are few stacks, small tasks start on stacks of kLargeFirstClass, which have room to run children instead
// of waiting for them. Large stacks cost address space and page tables, so of a million stacks most are small.
Stack* Scheduler::take_stack(Worker& worker, unsigned size_class, const Runnable* user,
                             const Runnable* waiter) noexcept {
  if (size_class < kLargeFirstClass && stacks_->gives_large_first())
    if (Stack* const large_first = stacks_->take(&worker.stacks, kLargeFirstClass)) return large_first;
  if (Stack* const stack = stacks_->take(&worker.stacks, size_class)) return stack;
  const StackPool::Due due = is_paid_for(user, waiter) ? StackPool::Due::kPaid : StackPool::Due::kUnpaid;
  return stacks_->alloc_under_pressure(&worker.stacks, size_class, due);
}

void Scheduler::enter_stack(Worker& worker, Stack* stack) noexcept {
  stack->fiber = fiber_hooks::enter(stack->fiber, stack->limit, stack->start);
  restore_stack(worker, stack);
}

void Scheduler::restore_stack(Worker& worker, Stack* stack) noexcept {
  worker.stack = stack;
  worker.fiber = stack->fiber;
  worker.stack_limit = worker.scheduler->stack_limit_of(stack);
}

[[gnu::noinline, gnu::cold]] void Scheduler::at_point() noexcept {
  // Who has stopped the world needs no other worker to step.
  if (safepoints().is_to_stop()) return safepoints().stand(current_worker());
  deterministic_.sched_point();
}

Runnable* Scheduler::next(Worker& worker) noexcept {
  sched_point();
  Runnable* const own = dispatcher_.next<Path::kGeneral>(worker);
  if (own != nullptr) return own;
  Runnable* const found = idle_workers_.find_work(worker);
  if (found != nullptr && worker.has_other_groups()) dispatcher_.turn_meter().begin(worker, found->group);
  return found;
}

// The loop at the bottom of every stack. It keeps no local state across the run of a runnable, which may end on another
// worker.
std::int64_t Scheduler::base_frame(void*) noexcept {
  fiber_hooks::after_switch(current_worker().fiber);
  run_pending_action();
  for (;;) {
    Worker& worker = current_worker();
    Scheduler& scheduler = *worker.scheduler;
    Runnable* runnable = worker.handoff;
    worker.handoff = nullptr;
    if (runnable == nullptr) {
      set_running(worker, nullptr);
      runnable = scheduler.next(worker);
      JANUS_ASSERT(current_worker().task == nullptr && &current_worker() == &worker);
    }
    JANUS_ASSERT(worker.pending.action == nullptr);
    if (runnable == nullptr) {
      scheduler.leave_for_good(worker);
    } else if (runnable->suspension() != nullptr) {
      scheduler.switch_and_free_stack(worker, runnable);
    } else if (fits(*worker.stack, runnable->stack_class)) {
      hooks::run(runnable);
    } else if (Stack* const stack = scheduler.take_stack(worker, runnable->stack_class, runnable, nullptr)) {
      scheduler.change_stack(worker, runnable, stack);
    } else {
      hooks::refuse(runnable);
    }
  }
}

// Where nothing is ready but runnables that have yielded, the push is done in two steps: the runnable is stored at the
// tail now, for which its successor's take() has made room, and published once its stack has been left.
template <Path kPath>
bool Scheduler::yield(Worker& worker, Runnable* yielding, Suspension& self) noexcept {
  if (kPath == Path::kGeneral || is_always_slow(worker) || worker.until_fair <= worker.yield_bar ||
      !worker.ready.is_empty()) [[unlikely]]
    return yield_to_next(worker, yielding, self);
  Runnable* const to = worker.yielded.take<Path::kFast>();
  if (to == nullptr) [[unlikely]]
    return yield_to_next(worker, yielding, self);
  worker.until_fair -= worker.dispatch_ops;
  Dispatcher::fetch_yielded_ahead(worker);
  JANUS_ASSERT(yielding->group == 0);
  worker.yielded.reserve_tail(yielding);
  return go_on_with<Path::kFast>(worker, self, to, {publish_reserved, nullptr, nullptr});
}
template bool Scheduler::yield<Path::kGeneral>(Worker& worker, Runnable* yielding, Suspension& self) noexcept;
template bool Scheduler::yield<Path::kFast>(Worker& worker, Runnable* yielding, Suspension& self) noexcept;

// The general path of yield().
[[gnu::noinline]] bool Scheduler::yield_to_next(Worker& worker, Runnable* yielding, Suspension& self) noexcept {
  if (!arch::cmp_relaxed(points_, 0) && safepoints().is_to_stop()) [[unlikely]]
    return false;  // the task has stopped the world, or stands at its next check
  Runnable* const to = worker.has_other_groups() ? dispatcher_.next_among_groups(worker, yielding)
                                                 : dispatcher_.next<Path::kGeneral>(worker);
  if (to != nullptr) return go_on_with<Path::kGeneral>(worker, self, to, {publish_yielded, yielding, nullptr});
  // A task that polls by yields, with nothing else ready, keeps its worker from sleeping. So the worker looks here, too.
  constexpr std::uint64_t kYieldsPerLook = 1024;
  if (worker.counters.yields.read() % kYieldsPerLook == 0) idle_workers_.stack_reclaim().poll(worker, now_ns());
  sched_point();  // nothing else is ready on this worker, but other logical workers have to step
  return false;
}

// Switches from `self` to a fresh stack whose base frame calls `to`, or looks for work. False: there is no stack, and
// `to` is queued again.
[[gnu::noinline]] bool Scheduler::start_fresh(Worker& worker, Suspension& self, Runnable* to,
                                              const Pending& publish) noexcept {
  const auto* const self_task = static_cast<const Runnable*>(worker.task);
  Stack* const stack = take_stack(worker, to != nullptr ? to->stack_class : 0, to, self_task);
  if (stack == nullptr) {
    if (to != nullptr) has_priority(to->group) ? push_with_priority(worker, to) : push_fresh(worker, to);
    return false;
  }
  self.stack = worker.stack;
  self.stack_limit = worker.stack_limit;
  worker.handoff = to;
  enter_stack(worker, stack);
  arch::Context fresh;
  arch::make_context(fresh, stack->start, base_frame, nullptr, nullptr);
  leave<Path::kGeneral>(worker, self, fresh, publish);
  return true;
}

// Called by a base frame: switches to a started runnable for good. The stack is freed once it has been left.
void Scheduler::switch_and_free_stack(Worker& worker, Runnable* started) noexcept {
  arch::Context left;
  Stack* const mine = worker.stack;
  JANUS_ASSERT(worker.pending.action == nullptr);
  worker.pending = {give_stack, stacks_, mine};
  set_running(worker, started);
  restore_suspended(worker, *started->suspension());
  trace_event(worker, Event::kResume, started);
  switch_to(worker, mine->fiber, left, started->suspension()->context);
  __builtin_unreachable();
}

void Scheduler::change_stack(Worker& worker, Runnable* fresh, Stack* stack) noexcept {
  arch::Context left, context;
  Stack* const mine = worker.stack;
  JANUS_ASSERT(worker.pending.action == nullptr);
  worker.pending = {give_stack, stacks_, mine};
  worker.handoff = fresh;
  enter_stack(worker, stack);
  arch::make_context(context, stack->start, base_frame, nullptr, nullptr);
  switch_to(worker, mine->fiber, left, context);
  __builtin_unreachable();
}

[[gnu::noinline, gnu::cold]] void Scheduler::leave_for_good(Worker& worker) noexcept {
  arch::Context left;
  Stack* const mine = worker.stack;
  JANUS_ASSERT(worker.pending.action == nullptr);
  worker.pending = {give_stack, stacks_, mine};
  worker.stack = nullptr;
  worker.fiber = worker.thread_fiber;
  switch_to(worker, mine->fiber, left, worker.thread_context);
  __builtin_unreachable();
}

}  // namespace janus
