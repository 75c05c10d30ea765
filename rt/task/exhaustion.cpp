// SPDX-License-Identifier: Apache-2.0
// rt/task/exhaustion.cpp — waiting for a recharge, and the end of those for whom none can come.
#include "rt/task/exhaustion.h"

#include "rt/task/cancel.h"
#include "rt/task/wait.h"

namespace janus {

namespace {

void link(Runtime& runtime, Exhausted& wait) noexcept {
  wait.previous = nullptr;
  wait.next = runtime.exhausted;
  if (runtime.exhausted != nullptr) runtime.exhausted->previous = &wait;
  runtime.exhausted = &wait;
}

void unlink(Runtime& runtime, Exhausted& wait) noexcept {
  (wait.previous != nullptr ? wait.previous->next : runtime.exhausted) = wait.next;
  if (wait.next != nullptr) wait.next->previous = wait.previous;
}

bool lives_on(const Task& task, const Nursery& nursery) noexcept {
  return task.nursery == &nursery || task.account == nursery.account;
}

}  // namespace

void wait_for_recharge(Runtime& runtime, Exhausted& wait) noexcept {
  Task& task = *wait.task;
  runtime.exhausted_lock.lock();
  link(runtime, wait);
  while (!wait.is_recharged && !wait.is_unrechargeable && !sees_cancel(task)) {
    const bool left = block(
        task, TaskState::kExhausted, [](Task&, void* lock) { static_cast<SpinLock*>(lock)->unlock(); },
        &runtime.exhausted_lock);
    if (!left) break;
    runtime.exhausted_lock.lock();
  }
  unlink(runtime, wait);
  runtime.exhausted_lock.unlock();
}

void wake_recharged(Worker* worker, Nursery& nursery) noexcept {
  LockGuard guard(nursery.runtime->exhausted_lock);
  for (Exhausted* wait = nursery.runtime->exhausted; wait != nullptr; wait = wait->next) {
    if (!lives_on(*wait->task, nursery)) continue;
    wait->is_recharged = true;
    (void)wake(worker, *wait->task, TaskState::kExhausted);
  }
}

bool fail_unrechargeable(Runtime& runtime, Worker* worker) noexcept {
  LockGuard guard(runtime.exhausted_lock);
  bool any = false;
  for (Exhausted* wait = runtime.exhausted; wait != nullptr; wait = wait->next) {
    wait->is_unrechargeable = true;
    any |= wake(worker, *wait->task, TaskState::kExhausted);
  }
  return any;
}

}  // namespace janus
