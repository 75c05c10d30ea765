// SPDX-License-Identifier: Apache-2.0
// rt/sched/switching.cpp — from stack to stack: the base frame, and how a runnable leaves its stack and comes back.
#include <arch/opaque.h>
#include "rt/base/assert.h"
#include "rt/sched/fiber_hooks.h"
#include "rt/sched/scheduler.h"

namespace janus {

namespace {

void give_stack(Worker& worker, void* pool, void* stack) noexcept {
  static_cast<StackPool*>(pool)->give(&worker.stacks, static_cast<Stack*>(stack));
}

bool fits(const Stack& stack, unsigned size_class) noexcept {
  return stack.size_class == size_class || (stack.size_class == kLargeFirstClass && size_class < kLargeFirstClass);
}

// Whoever has paid for a stack gets one, and goes to sleep, however many others have none.
[[gnu::noinline, gnu::cold]] bool is_paid_for(const Runnable* user, const Runnable* waiter) noexcept {
  if (user == nullptr && waiter == nullptr) return true;
  return (user != nullptr && hooks::has_paid(user)) || (waiter != nullptr && hooks::has_paid(waiter));
}

}  // namespace

// While there are few stacks, small tasks start on large-first ones, where there is room to run their children in place
// of waiting for them. A large-first one costs address space and page tables, so most of a million are small.
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

// From the stack of the fiber `mine` to the one that the worker's words are for.
[[gnu::always_inline]] inline void Scheduler::switch_to(Worker& worker, void* mine, arch::Context& from,
                                                        const arch::Context& to) noexcept {
  worker.counters.switches.add();
  fiber_hooks::before_switch(mine, worker.fiber);
  if constexpr (fiber_hooks::kAreWatched)
    janus_context_switch(&from, &to);
  else
    arch::switch_jmp(&from, &to);
}

// The bottom of every stack. Nothing in it survives a call of a runnable: that may end on another worker.
std::int64_t Scheduler::base_frame(void*) noexcept {
  fiber_hooks::after_switch(current_worker().fiber);
  run_pending_action();
  for (;;) {
    Worker& worker = current_worker();
    Scheduler& scheduler = *worker.scheduler;
    Runnable* runnable = worker.handoff;
    worker.handoff = nullptr;
    if (runnable == nullptr) {
      worker.task = nullptr;
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

// As restore_stack(), without looking at the stack's record.
[[gnu::always_inline]] inline void Scheduler::restore_suspended(Worker& worker, const Suspension& suspension) noexcept {
  worker.stack = suspension.stack;
  worker.stack_limit = suspension.stack_limit;
  if constexpr (fiber_hooks::kAreWatched) worker.fiber = suspension.stack->fiber;
}

// The others step after it, not before: `publish` may be what unlocks a channel that they are about to use.
bool Scheduler::suspend(Suspension& self, Pending publish) noexcept {
  Worker& worker = current_worker();
  Runnable* const to = next_own(worker);
  if (to != nullptr && to->suspension() != nullptr) [[likely]]
    resume(worker, self, to, publish);
  else if (!start_fresh(worker, self, to, publish))
    return false;
  sched_point();
  return true;
}

// Word by word: what is stored in pairs cannot be loaded alone right away, nor the other way round.
bool Scheduler::suspend_quickly(Worker& worker, Suspension& self, Pending publish) noexcept {
  Entry entry;
  if (worker.until_fair <= 0 || !worker.ready.pop_quickly(entry)) [[unlikely]]
    return false;
  worker.until_fair -= worker.dispatch_ops;
  fetch_ready_ahead(worker);
  Runnable* const to = entry.runnable();
  const Suspension* const target = to->suspension();
  if (target == nullptr) [[unlikely]]
    return start_fresh(worker, self, to, publish);
  self.stack = arch::opaque(worker.stack);
  self.stack_limit = arch::opaque(worker.stack_limit);
  worker.stack = arch::opaque(target->stack);
  worker.stack_limit = arch::opaque(target->stack_limit);
  if constexpr (fiber_hooks::kAreWatched) worker.fiber = target->stack->fiber;
  worker.task = arch::opaque(to);
  JANUS_ASSERT(worker.pending.action == nullptr && target->stack != self.stack);
  worker.pending.action = publish.action;
  worker.pending.first = arch::opaque(publish.first);
  worker.pending.second = arch::opaque(publish.second);
  switch_to(worker, self.stack->fiber, self.context, target->context);
  fiber_hooks::after_switch(self.stack->fiber);
  Worker& here = current_worker();
  if (here.pending.action != publish.action) [[unlikely]]
    return run_pending_action(), true;
  here.pending.action = nullptr;
  publish.action(here, arch::opaque(here.pending.first),
                 arch::opaque(here.pending.second));  // which the compiler knows
  return true;
}

bool Scheduler::yield(Suspension& self, Pending publish) noexcept {
  Worker& worker = current_worker();
  Runnable* const to = next_own(worker);
  if (to == nullptr) {
    sched_point();  // alone here, but other logical workers have to get on
    return false;
  }
  if (to->suspension() == nullptr) [[unlikely]]
    return start_fresh(worker, self, to, publish);
  resume(worker, self, to, publish);
  return true;
}

// What yield_quickly() leaves to whoever runs next.
void Scheduler::publish_yielded(Worker& worker, void*, void*) noexcept {
  worker.yielded.commit_tail();
  if (worker.scheduler->wants_wake_quickly()) [[unlikely]]
    worker.scheduler->wake_one();
}

bool Scheduler::yield_quickly(Worker& worker, Runnable* yielding, Suspension& self) noexcept {
  if (worker.until_fair <= worker.yield_bar || !worker.ready.is_empty()) [[unlikely]]
    return false;
  Runnable* const to = worker.yielded.take_quickly();
  if (to == nullptr) [[unlikely]]
    return false;
  worker.until_fair -= worker.dispatch_ops;
  fetch_yielded_ahead(worker);
  JANUS_ASSERT(yielding->party == 0);
  worker.yielded.reserve_tail(yielding);
  if (to->suspension() == nullptr) [[unlikely]]
    return start_fresh(worker, self, to, {publish_yielded, nullptr, nullptr});
  const Suspension& target = *to->suspension();
  self.stack = worker.stack;
  self.stack_limit = worker.stack_limit;
  restore_suspended(worker, target);
  worker.task = to;
  JANUS_ASSERT(worker.pending.action == nullptr && target.stack != self.stack);
  worker.pending.action = publish_yielded;
  switch_to(worker, self.stack->fiber, self.context, target.context);
  fiber_hooks::after_switch(self.stack->fiber);
  Worker& here = current_worker();
  if (here.pending.action != publish_yielded) [[unlikely]] {
    run_pending_action();
  } else {
    here.pending.action = nullptr;
    publish_yielded(here, nullptr, nullptr);
  }
  return true;
}

// From `self` to what has been left before.
[[gnu::always_inline]] inline void Scheduler::resume(Worker& worker, Suspension& self, Runnable* to,
                                                     Pending publish) noexcept {
  const Suspension& target = *to->suspension();
  self.stack = worker.stack;
  self.stack_limit = worker.stack_limit;
  restore_suspended(worker, target);
  worker.task = to;
  trace_event(worker, Event::kResume, to);
  leave(worker, self, target.context, publish);
}

// From `self` to a fresh stack whose base frame calls `to`, or looks for work.
[[gnu::noinline]] bool Scheduler::start_fresh(Worker& worker, Suspension& self, Runnable* to,
                                              Pending publish) noexcept {
  const auto* const self_task = static_cast<const Runnable*>(worker.task);
  Stack* const stack = take_stack(worker, to != nullptr ? to->stack_class : 0, to, self_task);
  if (stack == nullptr) {
    if (to != nullptr) push_fresh(worker, to);
    return false;
  }
  self.stack = worker.stack;
  self.stack_limit = worker.stack_limit;
  worker.handoff = to;
  enter_stack(worker, stack);
  arch::Context fresh;
  arch::make_context(fresh, stack->start, base_frame, nullptr, nullptr);
  leave(worker, self, fresh, publish);
  return true;
}

[[gnu::always_inline]] inline void Scheduler::leave(Worker& worker, Suspension& self, const arch::Context& target,
                                                    Pending publish) noexcept {
  JANUS_ASSERT(worker.pending.action == nullptr && worker.stack != self.stack);
  worker.pending = publish;
  switch_to(worker, self.stack->fiber, self.context, target);
  fiber_hooks::after_switch(self.stack->fiber);
  run_pending_action();
  current_worker().scheduler->sched_point();  // only now: what we held when we left has been released
}

// A base frame leaves its stack to somebody else, for good: the stack is free once it has been left.
void Scheduler::switch_and_free_stack(Worker& worker, Runnable* started) noexcept {
  arch::Context left;
  Stack* const mine = worker.stack;
  JANUS_ASSERT(worker.pending.action == nullptr);
  worker.pending = {give_stack, stacks_, mine};
  worker.task = started;
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

void Scheduler::leave_for_good(Worker& worker) noexcept {
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
