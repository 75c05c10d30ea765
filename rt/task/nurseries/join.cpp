// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/join.cpp — waiting for a task to end.
#include "rt/task/nurseries/join.h"

#include "rt/base/order_hooks.h"
#include "rt/task/nurseries/handle.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/ancestry.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/children.h"
#include "rt/task/wait/user_memory.h"
#include "rt/task/wait/block.h"
#include "rt/task/wait/wake.h"

namespace janus {

namespace {

void unlink_join(Task& task, Join& join) noexcept {
  (join.previous != nullptr ? join.previous->next : task.waiters) = join.next;
  if (join.next != nullptr) join.next->previous = join.previous;
}

}  // namespace

void wake_joiners(Worker& worker, Task& task) noexcept {
  for (Join* join = task.waiters; join != nullptr;) {
    Join* const next = join->next;
    Task* const joiner = join->joiner;
    join->result = task.result;
    join->is_over = true;  // the joiner returns when it sees this, but it looks only under the task's lock
    if (joiner != nullptr) (void)wake(&worker, *joiner, TaskState::kBlocked);
    join = next;
  }
  task.waiters = nullptr;
}

int join(Task& self, std::uint64_t handle, std::int64_t* result) noexcept {
  Runtime& runtime = *self.nursery->runtime;
  Task* const task = lock_handle(&current_worker(), runtime, handle);
  if (task == nullptr) return kErrorStale;
  if (!is_at_or_below(self, *task->nursery)) {
    task->lock.unlock();
    return kErrorNoCap;
  }
  if (is_at_or_above(*task, self)) {
    task->lock.unlock();
    current_worker().counters.deadlocks.add();
    return kErrorDeadlock;
  }
  if (is_cancelled(self)) {
    task->lock.unlock();
    (void)sees_cancel(self);  // passes the cancel on; must hold no lock
    return kCancelledCode;
  }
  if (task->has(TaskFlags::kEnded)) {
    const std::int64_t value = task->result;
    order_hooks::acquire(order_hooks::second(task));
    task->lock.unlock();
    if (result != nullptr) write_user(result, value);
    return 0;
  }
  Join wait{task->waiters, nullptr, &self, 0, false};
  if (wait.next != nullptr) wait.next->previous = &wait;
  task->waiters = &wait;
  publish_before_wait(self);
  const std::atomic_ref joined(self.frame->details.joined);
  while (!wait.is_over) {
    if (is_cancelled(self)) {
      unlink_join(*task, wait);
      task->lock.unlock();
      (void)sees_cancel(self);  // passes the cancel on; must hold no lock
      return kCancelledCode;
    }
    joined.store(task->id, std::memory_order_relaxed);
    const bool has_stack = block_unlocking(self, task->lock);
    joined.store(0, std::memory_order_relaxed);
    if (!has_stack) {
      unlink_join(*task, wait);
      task->lock.unlock();
      return kErrorNoMemory;
    }
    task->lock.lock();
  }
  order_hooks::acquire(order_hooks::second(task));
  task->lock.unlock();
  if (result != nullptr) write_user(result, wait.result);
  return 0;
}

}  // namespace janus
