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
  worker.stack = arch::opaque(suspension.stack);
  worker.stack_limit = arch::opaque(suspension.stack_limit);
  if constexpr (fiber_hooks::kAreWatched) worker.fiber = suspension.stack->fiber;
}

// Word by word: what is stored in pairs cannot be loaded alone right away, nor the other way round.
template <Path kPath>
[[gnu::always_inline]] inline void Scheduler::leave(Worker& worker, Suspension& self, const arch::Context& target,
                                                    Pending publish) noexcept {
  JANUS_ASSERT(worker.pending.action == nullptr && worker.stack != self.stack);
  worker.pending.action = publish.action;
  worker.pending.first = arch::opaque(publish.first);
  worker.pending.second = arch::opaque(publish.second);
  switch_to(worker, self.stack->fiber, self.context, target);
  fiber_hooks::after_switch(self.stack->fiber);
  Worker& here = current_worker();
  // Who has left this stack to us did so mostly for what we had left ours for; and the compiler knows what that is.
  if (kPath == Path::kFast && here.pending.action == publish.action) [[likely]] {
    here.pending.action = nullptr;
    publish.action(here, arch::opaque(here.pending.first), arch::opaque(here.pending.second));
  } else {
    run_pending_action();
  }
  // Only now: what we held when we left has been released.
  if constexpr (kPath == Path::kGeneral) current_worker().scheduler->sched_point();
}

// From `self` to what has been left before, or to a fresh stack.
template <Path kPath>
[[gnu::always_inline]] inline bool Scheduler::go_on_with(Worker& worker, Suspension& self, Runnable* to,
                                                         Pending publish) noexcept {
  if (to == nullptr || to->suspension() == nullptr) [[unlikely]]
    return start_fresh(worker, self, to, publish);
  const Suspension& target = *to->suspension();
  self.stack = arch::opaque(worker.stack);
  self.stack_limit = arch::opaque(worker.stack_limit);
  restore_suspended(worker, target);
  worker.task = arch::opaque(to);
  if constexpr (kPath == Path::kGeneral) trace_event(worker, Event::kResume, to);
  leave<kPath>(worker, self, target.context, publish);
  return true;
}

// The others step after it, not before: `publish` may be what unlocks a channel that they are about to use.
template <Path kPath>
bool Scheduler::suspend(Worker& worker, Suspension& self, Pending publish) noexcept {
  if (!go_on_with<kPath>(worker, self, next_own<kPath>(worker), publish)) [[unlikely]]
    return false;
  if constexpr (kPath == Path::kGeneral) sched_point();
  return true;
}
template bool Scheduler::suspend<Path::kGeneral>(Worker& worker, Suspension& self, Pending publish) noexcept;
template bool Scheduler::suspend<Path::kFast>(Worker& worker, Suspension& self, Pending publish) noexcept;

// As long as nothing is ready but what has yielded, it need not be queued: the place that its successor has left in the
// ring is its own, and whoever runs next shows it.
bool Scheduler::yield(Worker& worker, Runnable* yielding, Suspension& self) noexcept {
  if (is_always_slow(worker) || worker.until_fair <= worker.yield_bar || !worker.ready.is_empty()) [[unlikely]]
    return yield_to_next(worker, yielding, self);
  Runnable* const to = worker.yielded.take<Path::kFast>();
  if (to == nullptr) [[unlikely]]
    return yield_to_next(worker, yielding, self);
  worker.until_fair -= worker.dispatch_ops;
  fetch_yielded_ahead(worker);
  JANUS_ASSERT(yielding->party == 0);
  worker.yielded.reserve_tail(yielding);
  return go_on_with<Path::kFast>(worker, self, to, {publish_reserved, nullptr, nullptr});
}

void Scheduler::publish_reserved(Worker& worker, void*, void*) noexcept {
  worker.yielded.commit_tail();
  if (worker.scheduler->idle_.wants_wake<Path::kFast>(false)) [[unlikely]]
    worker.scheduler->wake_one();
}

// Whoever's turn it is.
[[gnu::noinline]] bool Scheduler::yield_to_next(Worker& worker, Runnable* yielding, Suspension& self) noexcept {
  Runnable* const to = next_own<Path::kGeneral>(worker);
  if (to != nullptr) return go_on_with<Path::kGeneral>(worker, self, to, {publish_yielded, yielding, nullptr});
  sched_point();  // alone here, but other logical workers have to get on
  return false;
}

void Scheduler::publish_yielded(Worker& worker, void* yielded, void*) noexcept {
  auto* const runnable = static_cast<Runnable*>(yielded);
  worker.scheduler->trace_event(worker, Event::kBlock, runnable);
  worker.scheduler->push_yielded(worker, runnable);
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
  leave<Path::kGeneral>(worker, self, fresh, publish);
  return true;
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
