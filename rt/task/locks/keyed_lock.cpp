// SPDX-License-Identifier: Apache-2.0
// rt/task/locks/keyed_lock.cpp — a queue of waiters for each key, made of a queue for each group. docs/decisions/0242
//
// INVARIANT one-wake: under the lock of the bucket, a waiter belongs to a task that has left its stack (and waits for
// kLock) or to one that is about to read the waiter's state again. The thread that changes that state wakes the
// task once, before it releases the lock; the task reads it only with the lock held, so both exist until then.
#include "rt/task/locks/keyed_lock.h"

#include "rt/base/lock_rank.h"
#include "rt/task/account/group.h"
#include "rt/task/account/memory.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/wait.h"
#include "rt/task/wait/wake.h"

namespace janus {

namespace {

constexpr unsigned kBucketBits = 6;

// On the path to a descriptor only the root of the tree can be an object.
struct alignas(64) Bucket {
  RankedLock<LockRank::kKeyedLock> lock;
  KeyedQueue waiters;
};
Bucket buckets[1u << kBucketBits];

Bucket& bucket_of(std::uint64_t key) noexcept {
  return buckets[(key * 0x9e3779b97f4a7c15) >> (64 - kBucketBits)];
}

bool is_holder(const QueuedWaiter& waiter) noexcept {
  return static_cast<const LockWaiter&>(waiter).state.load(std::memory_order_relaxed) == LockWaiter::kHolds;
}

const LockWaiter* holder_of(Bucket& bucket, std::uint64_t key) noexcept {
  return static_cast<LockWaiter*>(bucket.waiters.find(key, [](const QueuedWaiter& each) { return is_holder(each); }));
}

// The waiter that has waited longest, among those of other groups than the given waiter's.
LockWaiter* next_of_others(Bucket& bucket, const LockWaiter& waiter) noexcept {
  const auto is_of_another = [&waiter](const QueuedWaiter& other) {
    return !is_holder(other) && other.group != waiter.group;
  };
  return static_cast<LockWaiter*>(bucket.waiters.find(waiter.key, is_of_another));
}
// The waiter that has waited longest, among those of the given waiter's group.
LockWaiter* next_of_own(Bucket& bucket, const LockWaiter& waiter) noexcept {
  const auto is_of_own = [&waiter](const QueuedWaiter& other) {
    return !is_holder(other) && other.group == waiter.group;
  };
  return static_cast<LockWaiter*>(bucket.waiters.find(waiter.key, is_of_own));
}

void set_and_wake(LockWaiter& waiter, LockWaiter::State state) noexcept {
  waiter.state.store(state, std::memory_order_relaxed);
  if (waiter.task == nullptr) return platform::wake(waiter.state, 1);
  const Runtime& runtime = *waiter.task->nursery->runtime;
  (void)wake(worker_of(runtime), *waiter.task, WaitReason::kLock);
}

// Hands the lock to the oldest waiter of a group.
void hand_over(Bucket& bucket, LockWaiter& next) noexcept {
  bucket.waiters.serve(next);
  bucket.waiters.append(next);  // as the holder
  set_and_wake(next, LockWaiter::kHolds);
}

void prepare(LockWaiter& waiter, std::uint64_t key, Task* task, LockWaiter::State state) noexcept {
  waiter.key = key;
  waiter.task = task;
  waiter.group = group_of(task);
  waiter.also_held = nullptr;
  waiter.state.store(state, std::memory_order_relaxed);
}

struct AwaitedLock : Awaited {
  Bucket& bucket;
  const LockWaiter& waiter;

  AwaitedLock(Bucket& its_bucket, const LockWaiter& its_waiter) noexcept : bucket(its_bucket), waiter(its_waiter) {}
  static constexpr WaitReason reason() noexcept { return WaitReason::kLock; }
  bool is_over() const noexcept { return waiter.state.load(std::memory_order_relaxed) != LockWaiter::kWaits; }
  void lock() const noexcept { bucket.lock.lock(); }
  void unlock() const noexcept { bucket.lock.unlock(); }
};

// The bucket's lock is held, before and after.
[[gnu::noinline, gnu::cold]] void wait_as_task(Bucket& bucket, LockWaiter& waiter) noexcept {
  Runtime& runtime = *waiter.task->nursery->runtime;
  runtime.waits_for_locks.fetch_add(1, std::memory_order_relaxed);
  AwaitedLock awaited(bucket, waiter);
  while (wait(*waiter.task, awaited) == WaitEnd::kNoStack) {
    // Spins. The holder can still unlock if it runs on another worker.
    arch::pause();
    current_worker().scheduler->sched_point();
    bucket.lock.lock();
  }
  bucket.lock.lock();
  runtime.waits_for_locks.fetch_sub(1, std::memory_order_relaxed);
}

void wait_as_thread(Bucket& bucket, LockWaiter& waiter) noexcept {
  bucket.lock.unlock();
  while (waiter.state.load(std::memory_order_relaxed) == LockWaiter::kWaits)
    platform::wait(waiter.state, LockWaiter::kWaits, platform::kForever);
  bucket.lock.lock();  // the waker no longer uses the waiter once it has unlocked
}

// The bucket's lock is held before and after. Returns as keyed_lock().
int wait_for_lock(Bucket& bucket, LockWaiter& waiter) noexcept {
  if (waiter.task != nullptr)
    wait_as_task(bucket, waiter);
  else
    wait_as_thread(bucket, waiter);
  return is_holder(waiter) ? 0 : kCancelledCode;
}

}  // namespace

int keyed_lock(LockWaiter& waiter, std::uint64_t key, Task* task) noexcept {
  Bucket& bucket = bucket_of(key);
  prepare(waiter, key, task, LockWaiter::kWaits);
  LockGuard guard(bucket.lock);
  const LockWaiter* const holder = holder_of(bucket, key);
  if (holder == nullptr) {
    waiter.state.store(LockWaiter::kHolds, std::memory_order_relaxed);
    bucket.waiters.append(waiter);
    return 0;
  }
  if (task != nullptr && holder->task == task) return kErrorDeadlock;
  if (task == nullptr && platform::worker_slot() != nullptr) return kWouldWait;
  bucket.waiters.join_group(waiter, next_of_own(bucket, waiter));
  return wait_for_lock(bucket, waiter);
}

bool keyed_try_lock(LockWaiter& waiter, std::uint64_t key, Task& task) noexcept {
  Bucket& bucket = bucket_of(key);
  prepare(waiter, key, &task, LockWaiter::kHolds);
  LockGuard guard(bucket.lock);
  if (holder_of(bucket, key) != nullptr) return false;
  bucket.waiters.append(waiter);
  return true;
}

void keyed_unlock(LockWaiter& waiter) noexcept {
  Bucket& bucket = bucket_of(waiter.key);
  LockGuard guard(bucket.lock);
  bucket.waiters.remove(waiter);
  LockWaiter* next = next_of_others(bucket, waiter);
  if (next == nullptr) next = next_of_own(bucket, waiter);
  if (next != nullptr) hand_over(bucket, *next);
}

int lend_lock(LockWaiter& waiter) noexcept {
  Bucket& bucket = bucket_of(waiter.key);
  LockGuard guard(bucket.lock);
  LockWaiter* const next = next_of_others(bucket, waiter);
  if (next == nullptr) return 0;
  bucket.waiters.remove(waiter);
  waiter.state.store(LockWaiter::kWaits, std::memory_order_relaxed);
  bucket.waiters.lead_group(waiter, next_of_own(bucket, waiter));
  hand_over(bucket, *next);
  return wait_for_lock(bucket, waiter);
}

void send_cancelled_away(const LockWaiter& waiter) noexcept {
  Bucket& bucket = bucket_of(waiter.key);
  LockGuard guard(bucket.lock);
  for (QueuedWaiter* at = bucket.waiters.first(waiter.key); at != nullptr;) {
    QueuedWaiter* oldest = at;
    at = at->next;
    if (is_holder(*oldest)) continue;
    for (QueuedWaiter* each = oldest; each != nullptr;) {
      auto& other = static_cast<LockWaiter&>(*each);
      each = other.behind;
      if (other.task == nullptr || !is_cancelled(*other.task)) continue;
      bucket.waiters.leave(other, *oldest);
      if (oldest == &other) oldest = each;
      set_and_wake(other, LockWaiter::kWasSentAway);
    }
  }
}

bool holds_max_locks(const Task& task) noexcept {
  return task.is_marked(TaskMarks::kHoldsLocks) && task.frame->details.held_count == kMaxHeld;
}

void add_held_lock(Task& task, LockWaiter& waiter) noexcept {
  task.mark(TaskMarks::kHoldsLocks);
  RunDetails& details = task.frame->details;
  waiter.also_held = details.held_locks;
  details.held_locks = &waiter;
  ++details.held_count;
}

LockWaiter* remove_held_lock(Task& task, std::uint64_t key) noexcept {
  if (!task.is_marked(TaskMarks::kHoldsLocks)) return nullptr;
  RunDetails& details = task.frame->details;
  LockWaiter** at = &details.held_locks;
  unsigned not_newer = details.held_count;
  for (; *at != nullptr && (*at)->key != key; --not_newer) at = &(*at)->also_held;
  LockWaiter* const waiter = *at;
  if (waiter == nullptr) return nullptr;
  *at = waiter->also_held;
  --details.held_count;
  for (LocksBefore* half = details.locks_before; half != nullptr && half->count >= not_newer; half = half->outer)
    --half->count;
  return waiter;
}

unsigned locks_to_keep(const Task& task) noexcept {
  if (!task.is_marked(TaskMarks::kHoldsLocks)) return 0;
  const LocksBefore* const half = task.frame->details.locks_before;
  return half != nullptr ? half->count : 0;
}

void release_held_locks(Task& task, unsigned keep) noexcept {
  if (!task.is_marked(TaskMarks::kHoldsLocks)) return;
  RunDetails& details = task.frame->details;
  while (details.held_count > keep) {
    LockWaiter* const waiter = details.held_locks;
    details.held_locks = waiter->also_held;
    --details.held_count;
    keyed_unlock(*waiter);
    Worker& worker = current_worker();
    release_own(runtime_of(worker), &worker, waiter);
  }
}

}  // namespace janus
