// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/join.cpp — waiting for a task to end.
#include "rt/task/nurseries/join.h"

#include "rt/base/order_hooks.h"
#include "rt/task/nurseries/handle.h"
#include "rt/task/record/price.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/authority.h"
#include "rt/task/wait/awaiting.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/children.h"
#include "rt/task/wait/slice.h"
#include "rt/task/wait/user_memory.h"
#include "rt/task/wait/wait.h"
#include "rt/task/wait/wake.h"
#include "rt/task/wait/yield.h"

namespace janus {

namespace {

// The end of a task whose lock is held.
struct AwaitedEnd : Awaited {
  Task& task;
  Join join;

  AwaitedEnd(Task& of, Task& joiner) noexcept : task(of), join{nullptr, nullptr, &joiner, 0, false, reason()} {
    link_join(of, join);
  }
  static constexpr WaitReason reason() noexcept { return WaitReason::kTask; }
  bool is_over() const noexcept { return join.is_over; }
  void lock() const noexcept { task.lock.lock(); }
  void unlock() const noexcept { task.lock.unlock(); }
  void leave() noexcept {
    unlink_join(task, join);
    std::atomic_ref(join.joiner->awaits).store(0, std::memory_order_relaxed);
  }
};

}  // namespace

void link_join(Task& task, Join& join) noexcept {
  join.next = task.waiters;
  join.previous = nullptr;
  if (join.next != nullptr) join.next->previous = &join;
  task.waiters = &join;
}

void unlink_join(Task& task, const Join& join) noexcept {
  if (join.is_over) return;
  (join.previous != nullptr ? join.previous->next : task.waiters) = join.next;
  if (join.next != nullptr) join.next->previous = join.previous;
}

void wake_joiners(Worker& worker, Task& task) noexcept {
  for (Join* join = task.waiters; join != nullptr;) {
    Join* const next = join->next;
    Task* const joiner = join->joiner;
    const WaitReason reason = join->reason;
    join->result = task.result;
    set_over(*join);  // the joiner returns when it sees this under the task's lock
    if (joiner != nullptr) (void)wake(&worker, *joiner, reason);
    join = next;
  }
  task.waiters = nullptr;
}

namespace {

// A task that was told to end in a wait, and was woken, has the name of what it awaited until it runs. Then it leaves that
// wait; or it waits again, in a shield, and its state says so.
bool is_about_to_look(const Task& task) noexcept {
  return task.cancel.load(std::memory_order_relaxed) != 0 && !is_waiting(state_of(task));
}

// Called with the task's lock held, and releases it. Nothing here ends the task while others see what it awaits.
int wait_for(Task& self, AwaitedEnd& awaited) noexcept {
  publish_before_wait(self);
  const Awaiting awaiting(self, awaited.task);
  for (;;) {
    awaited.unlock();
    const bool is_deadlock = awaiting.closes_cycle();
    awaited.lock();
    if (!is_deadlock || awaited.is_over()) return result_of(wait(self, awaited), self);
    if (!is_about_to_look(awaited.task)) break;
    awaited.unlock();
    take_fuel_unchecked(current_worker(), price::kCall);
    give_way<Path::kGeneral>(current_worker(), self);
    awaited.lock();
  }
  awaited.leave();
  awaited.unlock();
  current_worker().counters.deadlocks.add();
  return kErrorDeadlock;
}

}  // namespace

int join_locked(Task& self, Task& task, std::int64_t* result) noexcept {
  if (is_cancelled(self)) {
    task.lock.unlock();
    (void)sees_cancel(self);  // passes the cancel on; must hold no lock
    return kCancelledCode;
  }
  if (task.has(TaskFlags::kEnded)) {
    const std::int64_t value = task.result;
    order_hooks::acquire(order_hooks::second(&task));
    task.lock.unlock();
    if (result != nullptr) write_user(result, value);
    return 0;
  }
  AwaitedEnd awaited(task, self);
  const int answer = wait_for(self, awaited);
  if (answer != 0) return answer;
  order_hooks::acquire(order_hooks::second(&task));
  if (result != nullptr) write_user(result, awaited.join.result);
  return 0;
}

int join(Task& self, std::uint64_t handle, std::int64_t* result) noexcept {
  Runtime& runtime = *self.nursery->runtime;
  Task* const task = lock_handle(&current_worker(), runtime, handle);
  if (task == nullptr) return kErrorStale;
  if (!may_have_result(self, *task)) {
    task->lock.unlock();
    return kErrorNoCap;
  }
  if (is_at_or_above(*task, self)) {
    task->lock.unlock();
    current_worker().counters.deadlocks.add();
    return kErrorDeadlock;
  }
  return join_locked(self, *task, result);
}

}  // namespace janus
