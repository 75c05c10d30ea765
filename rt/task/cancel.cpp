// SPDX-License-Identifier: Apache-2.0
// rt/task/cancel.cpp — telling tasks to end. A cancel sets a flag; who starts, yields or blocks looks at it; who is
// blocked is woken to look. There is no list of children to walk, only of those that were once off their worker.
//
// INVARIANT cancel-reaches-all: cancel: 1 flag, epoch  2 are there members?  3 heavy fence  4 wake the blocked ones,
// descend into their published nurseries. Member: 1 become a member, publish nurseries  2 state := Blocked  3 fence
// 4 look at the flags. So a member is seen by the cancel, or sees it. Where there was none yet, whoever becomes one
// does so under the lock under which the cancel looked, later, and sees the flag without a heavy fence: it interrupts
// every CPU of the process, so who only opens and cancels must not cause any. What is running looks when it yields, and
// then cancels what it has opened, be it published by now or not.
#include "rt/task/cancel.h"

#include "rt/task/children.h"
#include "rt/task/runtime.h"
#include "rt/task/slice.h"
#include "rt/task/wake.h"

namespace janus {

namespace {

void pin_to_descend(Nursery& nursery, Nursery*& descend) noexcept {
  if (!nursery.life().cancel()) return;
  nursery.cancel_next = descend;
  descend = &nursery;
}

// Under the lock of the task's nursery: nobody can take its frame off the stack.
void reach_member(Worker* worker, RunDetails& member, Nursery*& descend) noexcept {
  for (Nursery* open = member.published; open != nullptr; open = open->outer) pin_to_descend(*open, descend);
  (void)wake_to_look(worker, *member.task);
}

bool has_members(Nursery& nursery) noexcept {
  LockGuard guard(nursery.lock);
  return !nursery.migrated_tasks.is_empty();
}

// Orders the flags that were set before what is read of members after it.
void fence_members() noexcept {
  if (platform::has_heavy_fence())
    platform::heavy_fence();
  else
    arch::full_fence();
}

enum class Members : std::uint8_t { kNotFenced, kFenced };

// All that stand in `descend` are marked, and kept from their ends until release_pin(). How many tasks it has come by.
std::int64_t descend_all(Worker* worker, Nursery* descend, Members members) noexcept {
  std::int64_t reached = 0;
  while (descend != nullptr) {
    Nursery& nursery = *descend;
    descend = nursery.cancel_next;
    if (members == Members::kFenced || has_members(nursery)) {
      if (members == Members::kNotFenced) fence_members();
      members = Members::kFenced;
      LockGuard guard(nursery.lock);
      for (RunDetails* member = nursery.migrated_tasks.front(); member != nullptr;
           member = nursery.migrated_tasks.after(member), ++reached)
        reach_member(worker, *member, descend);
    }
    release_pin(worker, nursery);
  }
  return reached;
}

void begin_cancel(Runtime& runtime, Worker* worker) noexcept {
  if (worker != nullptr) worker->counters.cancel_requests.add();
  runtime.cancel_epoch.fetch_add(1, std::memory_order_acq_rel);
}

}  // namespace

// A walk up to the root.
[[gnu::noinline]] static bool was_cancelled_above(const Nursery* nursery) noexcept {
  while (nursery != nullptr) {
    if ((nursery->word.load(std::memory_order_relaxed) & NurseryWord::kCancelled) != 0) return true;
    Task* const owner = nursery->owner.load(std::memory_order_relaxed);
    if (owner == nullptr) return false;
    if (owner->cancel.load(std::memory_order_relaxed) != 0) return true;
    nursery = owner->nursery_of_whoever_has_it();
  }
  return false;
}

[[gnu::noinline]] static bool look_above(Nursery& nursery, std::uint64_t epoch) noexcept {
  if (was_cancelled_above(&nursery)) return true;
  nursery.clean_epoch.store(epoch, std::memory_order_release);  // pairs with open_nursery
  return false;
}

// Walks only when somebody has been cancelled since the last walk.
bool is_cancelled(Task& task) noexcept {
  return task.cancel.load(std::memory_order_relaxed) != 0 || is_cancelled(*task.nursery);
}

bool is_cancelled(Nursery& nursery) noexcept {
  const std::uint64_t epoch = nursery.runtime->cancel_epoch.load(std::memory_order_acquire);
  if (nursery.clean_epoch.load(std::memory_order_relaxed) == epoch) [[likely]]
    return false;
  return look_above(nursery, epoch);
}

bool may_be_cancelled(const Runtime& runtime, const Task& task, const Nursery& nursery) noexcept {
  if (task.cancel.load(std::memory_order_relaxed) != 0) return true;
  const std::uint64_t epoch = runtime.cancel_epoch.load(std::memory_order_acquire);
  return nursery.clean_epoch.load(std::memory_order_relaxed) != epoch && was_cancelled_above(&nursery);
}

// What the task has opened is its own to cancel: the canceller may have walked before any of it could be found, and the
// task may have stopped, and published it, since then.
[[gnu::noinline]] static void cancel_own_nurseries(Task& task) noexcept {
  RunFrame& frame = *task.frame;
  Worker& worker = current_worker();
  link_current(frame);
  for (Nursery* open = frame.open; open != nullptr; open = open->outer) cancel_nursery(&worker, *open);
  Nursery* descend = nullptr;
  {
    LockGuard guard(task.nursery->lock);
    for (Nursery* open = frame.details.published; open != nullptr; open = open->outer) pin_to_descend(*open, descend);
  }
  if (descend == nullptr) return;
  begin_cancel(*task.nursery->runtime, &worker);
  (void)descend_all(&worker, descend, Members::kNotFenced);
}

[[gnu::noinline]] static void learn_of_cancel(Task& task) noexcept {
  if (task.is_marked(TaskMarks::kSawCancel)) return;
  begin_grace(current_worker(), task);
  task.cancel.store(1, std::memory_order_relaxed);
  cancel_own_nurseries(task);
}

bool sees_cancel(Task& task) noexcept {
  if (!is_cancelled(task)) [[likely]]
    return false;
  learn_of_cancel(task);
  return true;
}

[[gnu::noinline]] std::int64_t cancel_nursery(Worker* worker, Nursery& nursery) noexcept {
  {
    const NurseryRef ref(worker, nursery);
    if (!ref.is_valid() || !nursery.life().cancel()) return 0;
  }
  begin_cancel(*nursery.runtime, worker);
  nursery.cancel_next = nullptr;
  return descend_all(worker, &nursery, Members::kNotFenced);
}

// Holds the task's lock: it cannot end meanwhile, and neither can its nursery.
std::int64_t cancel_task(Worker* worker, Task& task) noexcept {
  if (task.cancel.exchange(1, std::memory_order_acq_rel) != 0) return 0;
  begin_cancel(*task.nursery->runtime, worker);
  if (!has_members(*task.nursery)) return 0;
  fence_members();
  Nursery* descend = nullptr;
  {
    LockGuard guard(task.nursery->lock);
    if (task.has_migrated.load(std::memory_order_relaxed)) reach_member(worker, task.frame->details, descend);
  }
  return descend_all(worker, descend, Members::kFenced);
}

}  // namespace janus
