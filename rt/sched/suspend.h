// SPDX-License-Identifier: Apache-2.0
// rt/sched/suspend.h — leaving a runnable's stack. Inline, so that the compiler knows the pending action of callers on
// the fast path, and inlines that, too.
#pragma once

#include <arch/opaque.h>
#include "rt/base/assert.h"
#include "rt/sched/fiber_hooks.h"
#include "rt/sched/scheduler.h"

namespace janus {

// Switches from the stack of the fiber `mine` to the one that the worker's words have been set for.
[[gnu::always_inline]] inline void switch_to(Worker& worker, void* mine, arch::Context& from,
                                             const arch::Context& to) noexcept {
  worker.counters.switches.add();
  fiber_hooks::before_switch(mine, worker.fiber);
  if constexpr (fiber_hooks::kAreWatched)
    janus_context_switch(&from, &to);
  else
    arch::switch_jmp(&from, &to);
}

// As restore_stack(), but reads the suspension instead of the stack's record.
[[gnu::always_inline]] inline void restore_suspended(Worker& worker, const Suspension& suspension) noexcept {
  worker.stack = arch::opaque(suspension.stack);
  worker.stack_limit = arch::opaque(suspension.stack_limit);
  if constexpr (fiber_hooks::kAreWatched) worker.fiber = suspension.stack->fiber;
}

// Words are copied one by one (arch::opaque): words that were stored in pairs cannot be loaded singly right away
// without a stall, nor the other way round.
template <Path kPath>
[[gnu::always_inline]] inline void leave(Worker& worker, Suspension& self, const arch::Context& target,
                                         Pending publish) noexcept {
  JANUS_ASSERT(worker.pending.action == nullptr && worker.stack != self.stack);
  worker.pending.action = publish.action;
  worker.pending.first = arch::opaque(publish.first);
  worker.pending.second = arch::opaque(publish.second);
  switch_to(worker, self.stack->fiber, self.context, target);
  fiber_hooks::after_switch(self.stack->fiber);
  Worker& here = current_worker();
  // The runnable that switched to us mostly has the same pending action as we had, which the compiler can inline here.
  if (kPath == Path::kFast && here.pending.action == publish.action) [[likely]] {
    here.pending.action = nullptr;
    publish.action(here, arch::opaque(here.pending.first), arch::opaque(here.pending.second));
  } else {
    Scheduler::run_pending_action();
  }
  // Not earlier: the pending action has just released the locks that were held across the switch.
  if constexpr (kPath == Path::kGeneral) current_worker().scheduler->sched_point();
}

// Switches from `self` to `to` if that is suspended, otherwise to a fresh stack. False: there is none.
template <Path kPath>
[[gnu::always_inline]] inline bool Scheduler::go_on_with(Worker& worker, Suspension& self, Runnable* to,
                                                         Pending publish) noexcept {
  if (to == nullptr || to->suspension() == nullptr) [[unlikely]]
    return start_fresh(worker, self, to, {publish.action, publish.first, publish.second});  // built only here
  const Suspension& target = *to->suspension();
  self.stack = arch::opaque(worker.stack);
  self.stack_limit = arch::opaque(worker.stack_limit);
  restore_suspended(worker, target);
  set_running(worker, arch::opaque(to));
  if constexpr (kPath == Path::kGeneral) trace_event(worker, Event::kResume, to);
  leave<kPath>(worker, self, target.context, publish);
  return true;
}

// Other logical workers step after the switch, not before: `publish` may unlock a channel that they are about to use.
template <Path kPath>
[[gnu::always_inline]] inline bool Scheduler::suspend(Worker& worker, Suspension& self, Pending publish) noexcept {
  if (!go_on_with<kPath>(worker, self, dispatcher_.next<kPath>(worker), publish)) [[unlikely]]
    return false;
  if constexpr (kPath == Path::kGeneral) sched_point();
  return true;
}
}  // namespace janus
