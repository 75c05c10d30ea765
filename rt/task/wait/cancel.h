// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/cancel.h — telling tasks and nurseries to end.
#pragma once

#include "rt/task/record/nursery.h"
#include "rt/task/record/price.h"
#include "rt/task/record/task.h"
#include "rt/task/wait/cancelled.h"

namespace janus {

// Called by a task that was told to end, at a place where it may pass the cancel on: with no lock held. Others may run
// meanwhile. Its grace begins, and it cancels the nurseries that it has opened, unless a shield keeps them. False: a shield
// puts the cancel aside, so calls answer as if there were none.
[[gnu::cold]] bool learn_of_cancel(Task& task) noexcept;
// Why a cancelled task was told to end: its own cause, else its nursery's, else kParent.
[[nodiscard, gnu::cold]] Cause cause_of_cancel(const Task& task) noexcept;
// As is_cancelled(), at a place where the task sees its cancel: its grace begins. Called with no lock held: cancels the
// nurseries that the task has opened, and may let others run meanwhile.
[[nodiscard]] inline bool sees_cancel(Task& task) noexcept {
  if (!is_told(task)) [[likely]]
    return false;
  return learn_of_cancel(task);
}

// Nurseries that are marked as cancelled, and kept from ending until their members are told.
struct CancelWalk {
  enum class Fence : std::uint8_t { kNotNeeded, kWanted, kMade };

  Nursery* first = nullptr;
  Fence fence = Fence::kNotNeeded;
  bool met_lock_waits = false;  // some members wait for keyed locks, whose holders may wait for room
  std::uint32_t unpaid = 0;     // ops that the current part of the cancel has cost so far, and that are not paid yet
  std::uint32_t marked = 0;     // nurseries marked in the present part; paid for when their members are told
  [[nodiscard]] bool is_part() const noexcept { return unpaid >= price::kWakesAtOnce || marked >= price::kWakesAtOnce; }
};

// A cancel tells price::kWakesAtOnce members at a time. Between two such parts it holds no lock, and does this:
enum class Pace : std::uint8_t {
  kAtOnce,       // nothing: for callers that hold other locks or are ending; always for threads outside tasks
  kInParts,      // other tasks of the runtime run; the calling task may be on another worker afterwards
  kInPartsPaid,  // the calling task pays an op for each member, and others run
};

// `worker`: as for wake(). When this returns, every task that was a member when this marked the nursery is told; tasks
// that became members later have seen the mark. Does nothing if the nursery is marked already: the first cause stays.
void cancel_nursery(Worker* worker, Nursery& nursery, Cause cause, Pace pace) noexcept;
// The two steps of a cancel, for a caller that goes on with the second one at other times: marks the nursery; tells a
// part of the members (CancelWalk::is_part), and counts in `walk.unpaid` what that has cost. A part stops before a nursery
// with another account than `only`, unless that is nullptr. The walk is over when walk.first is nullptr.
[[nodiscard]] CancelWalk begin_cancel(Worker* worker, Nursery& nursery, Cause cause) noexcept;
void tell_part(Worker* worker, CancelWalk& walk, const Account* only) noexcept;
// Called by a child: cancels `nursery` if a task or nursery above it was cancelled.
void pass_cancel_on(Worker* worker, Nursery& nursery, Pace pace) noexcept;
// Cancels a task in two steps: cancel_task() under the task's lock, so that neither the task nor its nursery can end
// meanwhile; then tell_members() with no lock held.
CancelWalk cancel_task(Worker* worker, Task& task, Cause cause) noexcept;
void tell_members(const Runtime& runtime, Worker* worker, CancelWalk walk, Pace pace) noexcept;

}  // namespace janus
