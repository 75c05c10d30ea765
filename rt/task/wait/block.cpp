// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/block.cpp — stopping and resuming a task.
#include "rt/task/wait/block.h"

#include "rt/sched/suspend.h"
#include "rt/task/record/channel.h"
#include "rt/task/record/nursery.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/cancelled.h"
#include "rt/task/wait/children.h"
#include "rt/task/wait/held_world.h"
#include "rt/task/wait/room_bell.h"
#include "rt/task/wait/slice.h"
#include "rt/task/wait/wake.h"

namespace janus {

namespace {

// After the store of the state, the task may be woken and end at any moment, unless the caller holds a lock that a
// waker needs.
[[gnu::always_inline]] inline void publish_state(Worker& worker, Task& task, TaskState state) noexcept {
  worker.scheduler->trace_event(worker, Event::kBlock, &task);
  JANUS_ASSERT(is_waiting(state) && may_be_running(state_of(task)));
  task.state.store(state, std::memory_order_release);
  // The partner is the heavy fence of a cancel, which sets its flag and then looks for blocked tasks.
  worker.scheduler->light_fence();
}

}  // namespace

// It may wake the task although what the task waits for has not come: the task looks again.
void publish_stop(Worker& worker, void* task_pointer, void* stop_pointer) noexcept {
  auto& task = *static_cast<Task*>(task_pointer);
  const Stop stop = *static_cast<Stop*>(stop_pointer);
  const Nursery& nursery = *task.nursery;
  const bool can_end = is_ended_by_cancel(stop.reason);
  // A task that has seen its cancel and passed it on waits only for its children, which it has cancelled, or in a shield;
  // no cancel ends that wait. What it has not passed on, a shield above puts aside: that may have ended.
  const bool may_learn = !can_end || !has_passed_cancel_on(task);
  const bool is_aside = can_end && task.is_marked(TaskMarks::kSawCancel);
  publish_state(worker, task, waits_for(stop.reason));
  const bool is_told = may_learn && may_be_told(runtime_of(worker), task, nursery) &&
                       !(is_aside && is_put_aside != nullptr && is_put_aside(task));
  if ((is_told || stop.has_passed) && can_end) [[unlikely]]
    (void)wake(&worker, task, stop.reason);
  stop.publish(task, stop.what);
  // Only the holder of the lock can end this wait, if it waits for room itself.
  if (is_told && !can_end) [[unlikely]]
    call_room_waiters();
}

namespace {

// Until the lock is released no other thread may change the state, so the task cannot end.
void publish_at(Worker& worker, void* task_pointer, void* channel_pointer) noexcept {
  auto& task = *static_cast<Task*>(task_pointer);
  auto& channel = *static_cast<Channel*>(channel_pointer);
  // As publish_state(): biased locks imply that there is a heavy fence, and that no events are traced.
  JANUS_ASSERT(may_be_running(state_of(task)));
  task.state.store(waits_for(WaitReason::kChannel), std::memory_order_release);
  arch::compiler_barrier();
  if (may_be_told(runtime_of(worker), task, *task.nursery)) [[unlikely]]
    wake_held(&worker, task);
  channel.lock.unlock_biased(worker.locks);
}

// Leaves the stack, then `publish` runs. False: there is no stack to switch to, and nothing has happened.
template <Path kPath>
[[gnu::always_inline]] inline bool stop(Worker& worker, Task& task, Pending publish) noexcept {
  JANUS_ASSERT(current_task(worker) == &task && task.is_published);
  commit_slice<kPath>(worker, task);
  Suspension suspension;
  task.suspend_at(&suspension);
  task.yielded_free = false;
  const bool left = worker.scheduler->suspend<kPath>(worker, suspension, publish);
  resumed<kPath>(task);
  return left;
}

}  // namespace

template <Path kPath>
void resumed(Task& task) noexcept {
  JANUS_ASSERT(!is_waiting(state_of(task)) && current_task(current_worker()) == &task);
  task.state.store(TaskState::kRunning, std::memory_order_relaxed);
  begin_slice<kPath>(current_worker(), task);
}
template void resumed<Path::kGeneral>(Task& task) noexcept;
template void resumed<Path::kFast>(Task& task) noexcept;

namespace {

using Action = void (*)(Worker& worker, void* task, void* stop);

[[gnu::noinline]] WaitEnd block_as(Task& task, Stop& as, Action action) noexcept {
  publish_before_wait(task);  // so that a cancel can find and wake the task
  return stop<Path::kGeneral>(current_worker(), task, {action, &task, &as}) ? WaitEnd::kOver : WaitEnd::kNoStack;
}

[[gnu::noinline, gnu::cold]] WaitEnd block_in_call(Task& task, Stop& as) noexcept {
  const RunDetails& details = task.frame->details;
  if ((details.context & RunDetails::kHoldsWorld) != 0) lose_world(task, WorldLoss::kWaits);
  const DeadlineActions* const deadline = details.deadline;
  if (deadline == nullptr || !is_ended_by_deadline(as.reason)) return block_as(task, as, publish_stop);
  return deadline->has_passed(task) ? WaitEnd::kTimedOut : block_as(task, as, deadline->publish_stop);
}

}  // namespace

WaitEnd block(Task& task, WaitReason reason, Publish publish, void* what) noexcept {
  Stop as{reason, publish, what, false};
  if (task.is_marked(TaskMarks::kHasContext)) [[unlikely]]
    return block_in_call(task, as);
  return block_as(task, as, publish_stop);
}

bool block_at(Channel& channel, Task& task) noexcept {
  std::atomic_ref(task.waits_at).store(&channel, std::memory_order_relaxed);
  return stop<Path::kFast>(current_worker(), task, {publish_at, &task, &channel});
}

}  // namespace janus
