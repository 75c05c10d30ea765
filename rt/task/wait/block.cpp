// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/block.cpp — stopping and resuming a task, for all blocking calls.
#include "rt/task/wait/block.h"

#include "rt/task/record/channel.h"
#include "rt/task/record/nursery.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/cancelled.h"
#include "rt/task/wait/children.h"
#include "rt/task/wait/room_bell.h"
#include "rt/task/wait/slice.h"
#include "rt/task/wait/wake.h"

namespace janus {

namespace {

struct Stop {
  TaskState state;
  Publish publish;
  void* what;
};

// After the store of the state, the task may be woken and end at any moment, unless the caller holds a lock that a
// waker needs.
[[gnu::always_inline]] inline void publish_state(Worker& worker, Task& task, TaskState state) noexcept {
  worker.scheduler->trace_event(worker, Event::kBlock, &task);
  JANUS_ASSERT(is_waiting(state) && may_be_running(state_of(task)));
  task.state.store(state, std::memory_order_release);
  // The partner is the heavy fence of a cancel, which sets its flag and then looks for blocked tasks.
  worker.scheduler->light_fence();
}

// Runs on the next stack. It may wake the task although what the task waits for has not come: the task looks again.
void publish_stop(Worker& worker, void* task_pointer, void* stop_pointer) noexcept {
  auto& task = *static_cast<Task*>(task_pointer);
  const Stop stop = *static_cast<Stop*>(stop_pointer);
  const Nursery& nursery = *task.nursery;
  // A task that has seen its cancel waits only for its children, which it has cancelled; no cancel ends that wait.
  const bool may_learn = !task.is_marked(TaskMarks::kSawCancel);
  publish_state(worker, task, stop.state);
  if (may_learn && may_be_cancelled(runtime_of(worker), task, nursery)) (void)wake(&worker, task, stop.state);
  stop.publish(task, stop.what);
}

// Even if another thread wakes the task, it cannot leave the wait, which the lock guards, until the lock is released.
void publish_unlocking(Worker& worker, void* task_pointer, void* lock) noexcept {
  auto& task = *static_cast<Task*>(task_pointer);
  publish_state(worker, task, TaskState::kBlocked);
  if (may_be_cancelled(runtime_of(worker), task, *task.nursery)) [[unlikely]]
    (void)wake(&worker, task, TaskState::kBlocked);
  static_cast<TaskLock*>(lock)->unlock();
}

// As publish_unlocking(), for a wait that a cancel cannot end itself: only the lock's holder can, if it waits for room.
[[gnu::noinline, gnu::cold]] void publish_awaiting_lock(Worker& worker, void* task_pointer, void* lock) noexcept {
  auto& task = *static_cast<Task*>(task_pointer);
  publish_state(worker, task, TaskState::kAwaitsLock);
  const bool is_told = may_be_cancelled(runtime_of(worker), task, *task.nursery);
  static_cast<KeyedQueueLock*>(lock)->unlock();
  if (is_told) [[unlikely]]
    call_room_waiters();
}

// Until the lock is released no other thread may change the state, so the task cannot end.
template <BiasedLock::Hold kHold>
void publish_at(Worker& worker, void* task_pointer, void* channel_pointer) noexcept {
  auto& task = *static_cast<Task*>(task_pointer);
  auto& channel = *static_cast<Channel*>(channel_pointer);
  if constexpr (kHold == BiasedLock::Hold::kPlain) {
    publish_state(worker, task, TaskState::kAtChannel);  // pairs with wake_to_look()
  } else {
    // As publish_state(): biased locks imply that there is a heavy fence, and that no events are traced.
    JANUS_ASSERT(may_be_running(state_of(task)));
    task.state.store(TaskState::kAtChannel, std::memory_order_release);
    arch::compiler_barrier();
  }
  if (may_be_cancelled(runtime_of(worker), task, *task.nursery)) [[unlikely]]
    wake_held(&worker, task);
  channel.lock.unlock(&worker.locks, kHold);
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

// Publishes the task, so that a cancel can find and wake it, and then stops it.
[[gnu::always_inline]] inline bool stop_published(Task& task, Pending publish) noexcept {
  publish_before_wait(task);
  return stop<Path::kGeneral>(current_worker(), task, publish);
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

[[gnu::noinline]] bool block(Task& task, TaskState state, Publish publish, void* what) noexcept {
  Stop as{state, publish, what};
  return stop_published(task, {publish_stop, &task, &as});
}

[[gnu::flatten]] bool block_unlocking(Task& task, TaskLock& lock) noexcept {
  return stop_published(task, {publish_unlocking, &task, &lock});
}

[[gnu::noinline, gnu::cold]] bool block_for_lock(Task& task, KeyedQueueLock& lock) noexcept {
  return stop_published(task, {publish_awaiting_lock, &task, &lock});
}

template <Path kPath>
[[gnu::flatten]] bool block_at(Channel& channel, Task& task, BiasedLock::Hold hold) noexcept {
  std::atomic_ref(task.waits_at).store(&channel, std::memory_order_relaxed);
  JANUS_ASSERT(kPath == Path::kGeneral || hold == BiasedLock::Hold::kBiased);
  const auto publish = kPath == Path::kGeneral && hold == BiasedLock::Hold::kPlain
                           ? publish_at<BiasedLock::Hold::kPlain>
                           : publish_at<BiasedLock::Hold::kBiased>;
  return stop<kPath>(current_worker(), task, {publish, &task, &channel});
}
template bool block_at<Path::kGeneral>(Channel& channel, Task& task, BiasedLock::Hold hold) noexcept;
template bool block_at<Path::kFast>(Channel& channel, Task& task, BiasedLock::Hold hold) noexcept;

}  // namespace janus
