// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/wake.cpp — waking a task that waits.
#include "rt/task/wait/wake.h"

#include "rt/task/record/channel.h"
#include "rt/task/record/nursery.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/pinned.h"

namespace janus {

void queue_ready(Worker* worker, Task& task) noexcept {
  if (task.is_marked(TaskMarks::kHasContext) && push_if_pinned != nullptr && push_if_pinned(task)) return;
  if (worker != nullptr && task.has_priority()) [[unlikely]]
    return worker->scheduler->push_with_priority(*worker, &task);
  if (worker != nullptr) return worker->scheduler->push_woken(*worker, &task);
  task.nursery->runtime->scheduler.inject(&task);
}

void push_ready(Worker* worker, Task& task) noexcept {
  if (worker == nullptr) task.nursery->runtime->is_fed_from_outside.store(true, std::memory_order_relaxed);
  queue_ready(worker, task);
}

namespace {

bool turn_ready_from(Task& task, WaitReason reason) noexcept {
  TaskState from = waits_for(reason);
  return task.state.compare_exchange_strong(from, TaskState::kReady, std::memory_order_acq_rel,
                                            std::memory_order_relaxed);
}

}  // namespace

[[gnu::noinline]] bool wake(Worker* worker, Task& task, WaitReason reason) noexcept {
  if (!turn_ready_from(task, reason)) return false;
  push_ready(worker, task);
  return true;
}

void wake_held(Worker* worker, Task& task) noexcept {
  turn_ready(task);
  push_ready(worker, task);
}

namespace {

// Of a task that was seen AtChannel, if it still is.
bool take_from_channel(Worker* worker, Task& task) noexcept {
  Channel& channel = *std::atomic_ref(task.waits_at).load(std::memory_order_relaxed);
  LockOwner* const me = owner_in(channel, worker);
  const BiasedLock::Hold hold = channel.lock.lock_as_guest(me);
  // Neither word changes while the task waits at this channel. If it has left, it has checked for cancels since.
  const bool is_here = task.state.load(std::memory_order_acquire) == waits_for(WaitReason::kChannel) &&
                       std::atomic_ref(task.waits_at).load(std::memory_order_relaxed) == &channel;
  if (is_here) turn_ready(task);
  channel.lock.unlock(me, hold);
  return is_here;
}

}  // namespace

bool take_from_wait(Worker* worker, Task& task) noexcept {
  const TaskState state = task.state.load(std::memory_order_acquire);
  if (!is_waiting(state) || !is_ended_by_cancel(reason_of(state))) return false;
  return reason_of(state) == WaitReason::kChannel ? take_from_channel(worker, task)
                                                  : turn_ready_from(task, reason_of(state));
}

bool wake_to_look(Worker* worker, Task& task) noexcept {
  if (!take_from_wait(worker, task)) return false;
  push_ready(worker, task);
  return true;
}

}  // namespace janus
