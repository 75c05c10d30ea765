// SPDX-License-Identifier: Apache-2.0
// rt/task/wait.cpp — stopping and being woken: what all blocking calls are made of.
#include "rt/task/wait.h"

#include "rt/task/cancel.h"
#include "rt/task/channel.h"
#include "rt/task/runtime.h"
#include "rt/task/slice.h"

namespace janus {

namespace {

struct Stop {
  Suspension suspension;
  TaskState state;
  Publish publish;
  void* what;
};

// Runs on whatever stack comes next. From the store of the state on the task may be woken, and gone a moment later, so
// `publish` touches it only as long as it holds what a waker needs.
void publish_stop(Worker& worker, void* task_pointer, void* stop_pointer) noexcept {
  auto& task = *static_cast<Task*>(task_pointer);
  const Stop stop = *static_cast<Stop*>(stop_pointer);
  const Nursery& nursery = *task.nursery;
  runtime_of(worker).scheduler.trace_event(worker, Event::kBlock, &task);
  JANUS_ASSERT(is_waiting(stop.state) && may_be_running(state_of(task)));
  task.state.store(stop.state, std::memory_order_release);
  runtime_of(worker).scheduler.light_fence();
  // The partner of the heavy fence in a cancel, which sets its flag and then looks for those that are blocked. Whoever
  // is woken for nothing looks again at what it waits for.
  if (stop.state != TaskState::kReady && may_be_cancelled(runtime_of(worker), task, nursery))
    (void)wake(&worker, task, stop.state);
  stop.publish(task, stop.what);
}

}  // namespace

void resumed(Task& task) noexcept {
  JANUS_ASSERT(!is_waiting(state_of(task)) && current_task(current_worker()) == &task);
  task.state.store(TaskState::kRunning, std::memory_order_relaxed);
  begin_slice(current_worker(), task);
}

[[gnu::noinline]] bool block(Task& task, TaskState state, Publish publish, void* what) noexcept {
  JANUS_ASSERT(current_task(current_worker()) == &task);
  if (!task.is_published) publish_frames(*task.frame);
  Worker& worker = current_worker();
  commit_slice(worker, task);
  Stop stop{{}, state, publish, what};
  task.suspend_at(&stop.suspension);
  task.yielded_free = false;
  const bool left = runtime_of(worker).scheduler.suspend(worker, stop.suspension, {publish_stop, &task, &stop});
  resumed(task);
  return left;
}

static void push_ready(Worker* worker, Task& task) noexcept {
  if (worker != nullptr) return worker->scheduler->push_woken(*worker, &task);
  Runtime& runtime = *task.nursery->runtime;
  runtime.is_fed_from_outside.store(true, std::memory_order_relaxed);
  runtime.scheduler.inject(&task);
}

[[gnu::noinline]] bool wake(Worker* worker, Task& task, TaskState from) noexcept {
  JANUS_ASSERT(is_waiting(from) && from != TaskState::kAtChannel);
  if (!task.state.compare_exchange_strong(from, TaskState::kReady, std::memory_order_acq_rel,
                                          std::memory_order_relaxed))
    return false;
  push_ready(worker, task);
  return true;
}

void wake_held(Worker* worker, Task& task) noexcept {
  JANUS_ASSERT(state_of(task) == TaskState::kAtChannel);
  task.state.store(TaskState::kReady, std::memory_order_relaxed);
  push_ready(worker, task);
}

bool wake_to_look(Worker* worker, Task& task) noexcept {
  if (task.state.load(std::memory_order_acquire) == TaskState::kAtChannel) return wake_at_channel(worker, task);
  return wake(worker, task, TaskState::kBlocked) || wake(worker, task, TaskState::kParked) ||
         wake(worker, task, TaskState::kExhausted);
}

// Until the lock is released, the task cannot leave the wait that the lock guards, whoever wakes it.
static void publish_unlocking(Worker& worker, void* task_pointer, void* lock) noexcept {
  auto& task = *static_cast<Task*>(task_pointer);
  Scheduler& scheduler = *worker.scheduler;
  scheduler.trace_event(worker, Event::kBlock, &task);
  JANUS_ASSERT(may_be_running(state_of(task)));
  task.state.store(TaskState::kBlocked, std::memory_order_release);
  scheduler.light_fence();  // as in publish_stop
  if (may_be_cancelled(runtime_of(worker), task, *task.nursery)) [[unlikely]]
    (void)wake(&worker, task, TaskState::kBlocked);
  static_cast<SpinLock*>(lock)->unlock();
}

// The same for a wait that a cancel does not end.
static void publish_awaiting_turn(Worker& worker, void* task_pointer, void* lock) noexcept {
  auto& task = *static_cast<Task*>(task_pointer);
  worker.scheduler->trace_event(worker, Event::kBlock, &task);
  JANUS_ASSERT(may_be_running(state_of(task)));
  task.state.store(TaskState::kAwaitsTurn, std::memory_order_release);
  static_cast<SpinLock*>(lock)->unlock();
}

[[gnu::always_inline]] static inline bool block_behind(Task& task, SpinLock& lock,
                                                       void (*publish)(Worker&, void*, void*)) noexcept {
  if (!task.is_published) [[unlikely]]
    publish_frames(*task.frame);
  Worker& worker = current_worker();
  commit_slice(worker, task);
  Suspension suspension;
  task.suspend_at(&suspension);
  task.yielded_free = false;
  const bool left = worker.scheduler->suspend(worker, suspension, {publish, &task, &lock});
  resumed(task);
  return left;
}

[[gnu::flatten]] bool block_unlocking(Task& task, SpinLock& lock) noexcept {
  return block_behind(task, lock, publish_unlocking);
}

[[gnu::noinline]] bool block_for_turn(Task& task, SpinLock& lock) noexcept {
  return block_behind(task, lock, publish_awaiting_turn);
}

// Until the lock is released nobody else may turn the state, so the task is still here.
template <BiasedLock::Hold kHold>
static void publish_at(Worker& worker, void* task_pointer, void* channel_pointer) noexcept {
  auto& task = *static_cast<Task*>(task_pointer);
  auto& channel = *static_cast<Channel*>(channel_pointer);
  JANUS_ASSERT(may_be_running(state_of(task)) && task.is_published);
  task.state.store(TaskState::kAtChannel, std::memory_order_release);  // pairs with wake_to_look()
  if constexpr (kHold == BiasedLock::Hold::kPlain) {
    worker.scheduler->trace_event(worker, Event::kBlock, &task);
    worker.scheduler->light_fence();  // as in publish_stop
  } else {
    arch::compiler_barrier();  // the same: where locks are biased, there is a heavy fence; and nobody takes notes
  }
  if (may_be_cancelled(runtime_of(worker), task, *task.nursery)) [[unlikely]]
    wake_held(&worker, task);
  channel.lock.unlock(&worker.locks, kHold);
}

[[gnu::flatten]] bool block_at(Channel& channel, Task& task, BiasedLock::Hold hold) noexcept {
  Worker& worker = current_worker();
  commit_slice(worker, task);
  Suspension suspension;
  task.suspend_at(&suspension);
  std::atomic_ref(task.waits_at).store(&channel, std::memory_order_relaxed);
  task.yielded_free = false;
  const auto publish =
      hold == BiasedLock::Hold::kPlain ? publish_at<BiasedLock::Hold::kPlain> : publish_at<BiasedLock::Hold::kBiased>;
  const bool left = worker.scheduler->suspend(worker, suspension, {publish, &task, &channel});
  resumed(task);
  return left;
}

[[gnu::flatten]] bool block_at_hand(Channel& channel, Worker& worker, Task& task) noexcept {
  count_ops(worker, worker.slice - worker.fuel);  // nobody is charged
  worker.slice = worker.fuel;
  Suspension suspension;
  task.suspend_at(&suspension);
  std::atomic_ref(task.waits_at).store(&channel, std::memory_order_relaxed);
  const Pending publish = {publish_at<BiasedLock::Hold::kBiased>, &task, &channel};
  const bool left = worker.scheduler->suspend<Path::kFast>(worker, suspension, publish);
  JANUS_ASSERT(!is_waiting(state_of(task)) && current_task(current_worker()) == &task);
  task.state.store(TaskState::kRunning, std::memory_order_relaxed);
  Worker& here = current_worker();
  here.slice = here.fuel = runtime_of(here).options.yield_interval;
  here.charged_account = nullptr;
  return left;
}

}  // namespace janus
