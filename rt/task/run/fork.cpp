// SPDX-License-Identifier: Apache-2.0
// rt/task/run/fork.cpp — two functions at the same time: one is called by the task, the other is a child.
//
// The call can be abandoned, as that of a task's function: while it runs, the task's frame names the call's own frame
// as the one to return to, and the nursery of the fork, whose `scope` says so, parts what the half has opened from
// what the task had opened before. docs/decisions/0327
#include "rt/task/run/fork.h"

#include <arch/task_call.h>
#include "rt/base/order_hooks.h"
#include "rt/mem/stack_canary.h"
#include "rt/task/locks/keyed_lock.h"
#include "rt/task/nurseries/open.h"
#include "rt/task/record/panic.h"
#include "rt/task/record/runtime.h"
#include "rt/task/report/reporting.h"
#include "rt/task/run/await.h"
#include "rt/task/run/pin.h"
#include "rt/task/run/run.h"
#include "rt/task/stacks/panic_report.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/children.h"

namespace janus {

namespace {

// What the task's frame had before its half began.
struct Before {
  std::uint64_t frame_sp;
  Nursery* current;
};

// The task goes on after a half of it that was ended by force.
Report forgive(Task& self) noexcept {
  RunDetails& details = self.frame->details;
  const bool was_cancelled = details.outcome == Outcome::kCancelled;
  const Report end = {details.outcome, was_cancelled ? 0u : 1u, code_of(details.outcome),
                      self.id,         was_cancelled,           details.cause};
  details.abandoned = nullptr;
  details.outcome = Outcome::kPending;
  details.cause = Cause::kNone;
  self.marks &= static_cast<std::uint8_t>(~TaskMarks::kWasForced);
  return end;
}

// The caller's half has ended with `code`: ends what it has left open, and tells how it ended.
[[gnu::noinline, gnu::cold]] Report end_own_half(Task& self, std::int64_t code) noexcept {
  const bool was_forced = self.is_marked(TaskMarks::kWasForced);
  Report end = {Outcome::kSuccess, 0, code, self.id, false, Cause::kNone};
  if (was_forced) {
    leave_abandoned_frames(*self.frame, self.frame->frame_sp);
    release_held_locks(self, locks_to_keep(self));
    if (end_pins_of_half != nullptr && self.is_marked(TaskMarks::kHasContext)) end_pins_of_half(self);
    end = forgive(self);
  }
  code = end_left_open(self, code, code < 0);
  if (!canary_intact(current_worker().stack)) {
    renew_canary(current_worker().stack);
    if (!was_forced) {
      report_panic(self, "stack overflow, found by its canary", nullptr);
      const TaskEnd overflow = {Outcome::kPanic, -2, Cause::kStackOverflow};
      tell_end(self, &overflow);
      return {Outcome::kPanic, 1, -2, self.id, false, Cause::kStackOverflow};
    }
  }
  if (was_forced || code >= 0) return end;
  if (code == -1 && is_cancelled(self)) return {Outcome::kCancelled, 0, code, self.id, true, cause_of_cancel(self)};
  return {Outcome::kFailed, 1, code, self.id, false, Cause::kNone};
}

// From here on the task itself is the one that runs.
[[gnu::always_inline]] inline void leave_own_half(RunFrame& frame, Nursery& nursery, const Before& before) noexcept {
  nursery.traits.scope = NurseryTraits::kScoped;
  frame.frame_sp = before.frame_sp;
  if (before.current != nullptr) [[unlikely]]
    frame.current = before.current;
}

// Awaits the other half, and destroys the nursery.
[[gnu::noinline]] bool await_other(Task& self, Nursery& nursery, const Report& own, ForkEnds& ends) noexcept {
  (void)await_nursery(self, nursery);
  const Report other = report_of(nursery);
  destroy_nursery(&current_worker(), nursery);
  if (own.outcome == Outcome::kSuccess && other.outcome == Outcome::kSuccess) return true;
  ends = {own, other};
  return false;
}

// Ends the fork after its own half, which has returned `code` or was abandoned.
[[gnu::noinline]] bool end_fork(Task& self, Nursery& nursery, std::int64_t code, const Before& before,
                                ForkEnds& ends) noexcept {
  const Report own = end_own_half(self, code);
  leave_own_half(*self.frame, nursery, before);
  return await_other(self, nursery, own, ends);
}

// Calls the own half of a task that has held locks, is in a shield or is pinned: if it ends by force, the task keeps these. The other
// half is still to be awaited.
[[gnu::noinline, gnu::cold]] Report call_and_keep(Task& self, Nursery& nursery, TaskFn own, void* arg,
                                                  const Before& before) noexcept {
  RunDetails& details = self.frame->details;
  LocksBefore locks = {details.locks_before, details.held_count};
  details.locks_before = &locks;
  const bool was_half_shielded = details.is_half_shielded;
  details.is_half_shielded = is_shielded(self);
  const std::uint32_t pins_before = is_pinned(self) ? details.pins_before : 0;
  if (is_pinned(self)) details.pins_before = details.pins;
  const std::int64_t code = janus_half_call(arg, own, &self.frame->frame_sp);
  const Report end = end_own_half(self, code);
  details.locks_before = locks.outer;
  details.is_half_shielded = was_half_shielded;
  if (is_pinned(self)) details.pins_before = pins_before < details.pins ? pins_before : details.pins;
  leave_own_half(*self.frame, nursery, before);
  return end;
}

}  // namespace

[[gnu::cold]] bool call_and_await(Task& self, Nursery& nursery, TaskFn own, void* arg, ForkEnds& ends) noexcept {
  RunFrame& frame = *self.frame;
  const Before before = {frame.frame_sp, frame.current};
  frame.current = nullptr;
  nursery.traits.scope = NurseryTraits::kOwnHalf;
  if (self.is_marked(TaskMarks::kHoldsLocks | TaskMarks::kHasContext))
    return await_other(self, nursery, call_and_keep(self, nursery, own, arg, before), ends);
  return end_fork(self, nursery, janus_half_call(arg, own, &frame.frame_sp), before, ends);
}

bool call_and_await_fast(Task& self, RunFrame& frame, Nursery& nursery, TaskFn own, void* arg,
                         ForkEnds& ends) noexcept {
  const std::uint64_t frame_sp = frame.frame_sp;
  const std::int64_t code = janus_half_call(arg, own, &frame.frame_sp);
  if (code < 0 || frame.open != &nursery || frame.current != nullptr) [[unlikely]]
    return end_fork(self, nursery, code, {frame_sp, nullptr}, ends);
  leave_own_half(frame, nursery, {frame_sp, nullptr});
  // If every child was counted in and out on this worker, and nobody has cancelled the nursery, its end needs no atomic
  // operation (await_current()). A cancel from above that no half has seen came too late.
  Worker* worker = &current_worker();
  if (run_only_child(worker, self, frame, nursery) && nursery.life().end_alone() && !nursery.traits.has_leftovers)
      [[likely]] {
    order_hooks::acquire(&nursery);
    frame.open = nursery.outer;
    recycle(*worker, nursery);
    return true;
  }
  return await_other(self, nursery, {Outcome::kSuccess, 0, 0, self.id, false, Cause::kNone}, ends);
}

}  // namespace janus
