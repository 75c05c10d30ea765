// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/cancel.cpp — telling tasks to end. A cancel sets a flag, which a task reads when it starts, yields or
// blocks; a blocked task is woken to read it. A cancel does not walk all children, but only those that have left their
// worker at least once.
//
// INVARIANT cancel-reaches-all: the cancel sees the member, or the member sees the cancel.
//   cancel: 1 flag, epoch  2 wake the members that are blocked, descend into their latest published nurseries
//           3 did one not seem to wait? then heavy fence, and 2 again for it and those behind it
//   member: 1 become a member, publish nurseries  2 state := Blocked  3 compiler fence  4 look at the flags
// A task that the cancel has woken reads the flag after that. A task that becomes a member after the cancel's walk does
// so under the same lock, and sees the flag. Neither needs a heavy fence, which interrupts every CPU of the process,
// nor does the cancelling task itself, if it is a member. A running task reads the flag when it yields, and then
// cancels the nurseries that it has opened, published or not. Those that it has opened in a shield are left out, until
// the shield ends and the task, which runs then, cancels them (rt/task/wait/shield.h).
//
// INVARIANT told-once: the thread that marks a nursery keeps it from ending, and tells its members in parts; no other
// thread tells them. Each told member is marked under the nursery's lock, and moves to the back of the list, so the
// walk ends at the first told member. Between two parts no lock is held, members may end, and tasks that become members
// have seen the mark. The telling thread cannot end before the last member is told, since it is charged only ops, which
// may become a debt. docs/decisions/0245, 0246
// tests/api/cancel_parts_test.cpp
#include "rt/task/wait/cancel.h"

#include "rt/base/order_hooks.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/children.h"
#include "rt/task/wait/room_bell.h"
#include "rt/task/wait/slice.h"
#include "rt/task/wait/wake.h"
#include "rt/task/wait/yield.h"

namespace janus {

namespace {

// `account`: of the nursery or task that is cancelled.
void note_cancel(Runtime& runtime, Worker* worker, const Account* account) noexcept {
  if (worker != nullptr) worker->counters.cancel_requests.add();
  order_hooks::release(&order_hooks::kCancel);
  runtime.epoch_of_all_cancels.fetch_add(1, std::memory_order_acq_rel);
  if (account == runtime.root_account) runtime.cancel_epoch.fetch_add(1, std::memory_order_acq_rel);
}

// Precondition: the caller found `nursery` in a way that keeps it from ending meanwhile.
void mark_nursery(Nursery& nursery, CancelWalk& walk, Cause cause) noexcept {
  // Before the mark, so that its readers find a cause. If two threads cancel at once, either cause is true.
  if (nursery.cancel_cause.load(std::memory_order_relaxed) == Cause::kNone)
    nursery.cancel_cause.store(cause, std::memory_order_relaxed);
  if (!nursery.life().cancel()) return;
  nursery.cancel_next = walk.first;
  walk.first = &nursery;
  ++walk.marked;
}

// Under the lock of the task's nursery, so that the task's frame stays on the stack. False: the task does not seem to
// wait, but may be about to, on another worker, without having seen the marks; the caller needs a fence to decide.
// Marks the latest nurseries that the task has opened; it marks the others itself, in parts, when it sees its cancel.
bool reach_member(Worker* worker, RunDetails& member, CancelWalk& walk) noexcept {
  unsigned marked = 0;
  for (Nursery* open = member.published; open != nullptr && marked < price::kMarksAtOnce; open = open->outer, ++marked)
    if (!is_kept_by_shield(*open)) mark_nursery(*open, walk, Cause::kParent);
  const TaskState state = member.task->state.load(std::memory_order_acquire);
  if (is_waiting(state) && !is_ended_by_cancel(reason_of(state))) walk.met_lock_waits = true;
  const bool runs_here = worker != nullptr && current_task(*worker) == member.task;
  if (wake_to_look(worker, *member.task) || runs_here || walk.fence == CancelWalk::Fence::kMade) return true;
  walk.fence = CancelWalk::Fence::kWanted;
  return false;
}

// Called without the nursery's lock. Orders the cancel marks before later reads of the members' states.
void fence_members(CancelWalk& walk) noexcept {
  if (platform::has_heavy_fence())
    platform::heavy_fence();
  else
    arch::full_fence();
  walk.fence = CancelWalk::Fence::kMade;
  walk.unpaid += price::kFence;
}

// Tells some of the members that are still to be told. False: there are none. Told members move to the end of the list,
// so the first told one ends the walk. A task that becomes a member behind them is not told: it has seen the mark.
bool tell_some(Worker* worker, Nursery& nursery, CancelWalk& walk) noexcept {
  LockGuard guard(nursery.lock);
  for (; !walk.is_part(); ++walk.unpaid) {
    RunDetails* const member = nursery.migrated_tasks.front();
    if (member == nullptr || member->was_told) return false;
    if (!reach_member(worker, *member, walk)) return true;
    member->was_told = true;
    List<RunDetails, MigratedTasks>::remove(member);
    nursery.migrated_tasks.push_back(member);
  }
  return true;
}

// After a part of a cancel: pays and lets others run, as `pace` says. Returns the worker to go on with.
Worker* pause(const Runtime& runtime, Worker* worker, CancelWalk& walk, Pace pace) noexcept {
  const std::uint32_t ops = walk.unpaid;
  const bool is_part = walk.is_part();
  walk.unpaid = walk.marked = 0;
  Task* const task = pace != Pace::kAtOnce ? calling_task() : nullptr;
  if (task == nullptr) return worker;
  if (pace == Pace::kInPartsPaid) take_fuel_unchecked(current_worker(), ops);
  if (is_part && worker != nullptr) let_others_run(*task);
  return worker_of(runtime);
}

void call_room_waiters_if_met(CancelWalk& walk) noexcept {
  if (walk.met_lock_waits) call_room_waiters();
  walk.met_lock_waits = false;
}

}  // namespace

void tell_part(Worker* worker, CancelWalk& walk, const Account* only) noexcept {
  while (walk.first != nullptr && (only == nullptr || walk.first->account == only)) {
    Nursery& nursery = *walk.first;
    walk.first = nursery.cancel_next;
    while (tell_some(worker, nursery, walk)) {
      if (walk.fence == CancelWalk::Fence::kWanted) fence_members(walk);
      if (!walk.is_part()) continue;
      nursery.cancel_next = walk.first;  // there may be more to tell
      walk.first = &nursery;
      return call_room_waiters_if_met(walk);
    }
    release_pin(worker, nursery);
    if (walk.first != nullptr) ++walk.unpaid;  // costs as much as telling a member
  }
  call_room_waiters_if_met(walk);
}

void tell_members(const Runtime& runtime, Worker* worker, CancelWalk walk, Pace pace) noexcept {
  do {
    tell_part(worker, walk, nullptr);
    if (walk.unpaid != 0 || walk.is_part()) worker = pause(runtime, worker, walk, pace);
  } while (walk.first != nullptr);
}

namespace {

// The walk can go on behind `open` after others have run, since only this task, its owner, removes it from the list.
void cancel_each(Task& task, Nursery* open) noexcept {
  Runtime& runtime = *task.nursery->runtime;
  while (open != nullptr) {
    CancelWalk walk;
    for (unsigned n = 0; open != nullptr && n < price::kRecordsAtOnce; open = open->outer, ++n)
      if (!is_kept_by_shield(*open)) mark_nursery(*open, walk, Cause::kParent);
    if (walk.first != nullptr) {
      note_cancel(runtime, &current_worker(), task.account);
      tell_members(runtime, &current_worker(), walk, Pace::kInParts);
    }
    if (open != nullptr) let_others_run(task);
  }
}

// The task itself cancels the nurseries that it has opened: it may have published them only after the canceller's walk.
void cancel_own_nurseries(Task& task) noexcept {
  RunFrame& frame = *task.frame;
  link_current(frame);
  cancel_each(task, frame.open);  // if others run meanwhile, goes on into the published ones
  cancel_each(task, frame.details.published);
}

}  // namespace

Cause cause_of_cancel(const Task& task) noexcept {
  const std::uint8_t own = task.cancel.load(std::memory_order_relaxed);
  if (own != 0) return static_cast<Cause>(own);
  const Nursery& nursery = *task.nursery;
  const bool is_marked = (nursery.word.load(std::memory_order_acquire) & NurseryWord::kCancelled) != 0;
  return is_marked ? nursery.cancel_cause.load(std::memory_order_relaxed) : Cause::kParent;
}

bool learn_of_cancel(Task& task) noexcept {
  order_hooks::acquire(&order_hooks::kCancel);
  if (!task.is_marked(TaskMarks::kSawCancel)) begin_grace(current_worker(), task);
  RunDetails& details = task.frame->details;
  if (!details.has_passed_cancel_on) {
    unsigned steps = 0;
    const bool is_aside = look_for_shield != nullptr && look_for_shield(task, steps);
    take_fuel_unchecked(current_worker(), steps / price::kStepsPerOp);
    if (is_aside) return false;
    details.has_passed_cancel_on = true;
    task.cancel.store(static_cast<std::uint8_t>(cause_of_cancel(task)), std::memory_order_relaxed);
    cancel_own_nurseries(task);
  }
  return !is_shielded(task);
}

namespace {

CancelWalk mark_from_outside(Worker* worker, Nursery& nursery, Cause cause) noexcept {
  CancelWalk walk;
  const NurseryRef ref(worker, nursery);
  if (ref.is_valid()) mark_nursery(nursery, walk, cause);
  return walk;
}

}  // namespace

void pass_cancel_on(Worker* worker, Nursery& nursery, Pace pace) noexcept {
  if ((nursery.word.load(std::memory_order_relaxed) & NurseryWord::kCancelled) != 0 || !is_cancelled(nursery)) return;
  tell_members(*nursery.runtime, worker, mark_from_outside(worker, nursery, Cause::kParent), pace);
}

CancelWalk begin_cancel(Worker* worker, Nursery& nursery, Cause cause) noexcept {
  const CancelWalk walk = mark_from_outside(worker, nursery, cause);
  if (walk.first != nullptr) note_cancel(*nursery.runtime, worker, nursery.account);
  return walk;
}

void cancel_nursery(Worker* worker, Nursery& nursery, Cause cause, Pace pace) noexcept {
  tell_members(*nursery.runtime, worker, begin_cancel(worker, nursery, cause), pace);
}

CancelWalk cancel_task(Worker* worker, Task& task, Cause cause) noexcept {
  CancelWalk walk;
  order_hooks::release(&order_hooks::kCancel);
  std::uint8_t not_told = 0;
  if (!task.cancel.compare_exchange_strong(not_told, static_cast<std::uint8_t>(cause), std::memory_order_acq_rel))
    return walk;
  note_cancel(*task.nursery->runtime, worker, task.account);
  do {
    if (walk.fence == CancelWalk::Fence::kWanted) fence_members(walk);
    LockGuard guard(task.nursery->lock);
    const bool is_member = task.has_migrated.load(std::memory_order_relaxed);
    if (!is_member || reach_member(worker, task.frame->details, walk)) ++walk.unpaid;
  } while (walk.fence == CancelWalk::Fence::kWanted);
  return walk;
}

}  // namespace janus
