// SPDX-License-Identifier: Apache-2.0
// rt/task/locks/keyed_lock.cpp — a queue of waiters for each key, made of a queue for each group. docs/decisions/0242
//
// INVARIANT one-wake: under the lock of the bucket, a waiter belongs to a task that has left its stack (and waits for
// kLock) or to one that is about to read the waiter's state again. The thread that changes that state wakes the
// task once, before it releases the lock; the task reads it only with the lock held, so both exist until then.
#include "rt/task/locks/keyed_lock.h"

#include <utility>

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

// A digital search tree (Coffman and Eve, 1970): all keys in a subtree n steps below the root have the same n lowest
// bits. So no path exceeds 64 steps, however many keys a user adds; and on the path to a descriptor only the root can
// be an object.
struct alignas(64) Bucket {
  RankedLock<LockRank::kKeyedLock> lock;
  LockWaiter* root = nullptr;
};
Bucket buckets[1u << kBucketBits];

Bucket& bucket_of(std::uint64_t key) noexcept {
  return buckets[(key * 0x9e3779b97f4a7c15) >> (64 - kBucketBits)];
}

// The place of the pointer to the first waiter of that key; it holds nullptr if the key has none.
LockWaiter** place_of(Bucket& bucket, std::uint64_t key) noexcept {
  LockWaiter** at = &bucket.root;
  for (std::uint64_t bits = key; *at != nullptr && (*at)->key != key; bits >>= 1) at = &(*at)->below[bits & 1];
  return at;
}

LockWaiter* find(Bucket& bucket, std::uint64_t key, auto accepts) noexcept {
  LockWaiter* waiter = *place_of(bucket, key);
  while (waiter != nullptr && !accepts(*waiter)) waiter = waiter->next;
  return waiter;
}

bool is_holder(const LockWaiter& waiter) noexcept {
  return waiter.state.load(std::memory_order_relaxed) == LockWaiter::kHolds;
}

LockWaiter* holder_of(Bucket& bucket, std::uint64_t key) noexcept {
  return find(bucket, key, is_holder);
}

void append(Bucket& bucket, LockWaiter& waiter) noexcept {
  LockWaiter** at = place_of(bucket, waiter.key);
  if (*at == nullptr) waiter.below[0] = waiter.below[1] = nullptr;
  while (*at != nullptr) at = &(*at)->next;
  waiter.next = nullptr;
  *at = &waiter;
}

// Removes and returns a leaf below `waiter`, to take its place in the tree; nullptr: there is none.
LockWaiter* take_leaf(LockWaiter& waiter) noexcept {
  LockWaiter** at = nullptr;
  for (LockWaiter* leaf = &waiter; leaf->below[0] != nullptr || leaf->below[1] != nullptr; leaf = *at)
    at = &leaf->below[leaf->below[0] == nullptr ? 1 : 0];
  return at != nullptr ? std::exchange(*at, nullptr) : nullptr;
}

// Removes the holder, or the oldest of a group; its place goes to `in_its_place`, unless that is nullptr.
void remove(Bucket& bucket, LockWaiter& waiter, LockWaiter* in_its_place = nullptr) noexcept {
  LockWaiter** const first = place_of(bucket, waiter.key);
  LockWaiter** at = first;
  while (*at != &waiter) at = &(*at)->next;
  LockWaiter* heir = waiter.next;
  if (in_its_place != nullptr) {
    in_its_place->next = heir;
    heir = in_its_place;
  }
  if (at == first) {
    if (heir == nullptr) heir = take_leaf(waiter);
    if (heir != nullptr) {
      heir->below[0] = waiter.below[0];
      heir->below[1] = waiter.below[1];
    }
  }
  *at = heir;
}

// The waiter that has waited longest, among those of other groups than the given waiter's.
LockWaiter* next_of_others(Bucket& bucket, const LockWaiter& waiter) noexcept {
  const auto is_of_another = [&waiter](const LockWaiter& other) {
    return !is_holder(other) && other.group != waiter.group;
  };
  return find(bucket, waiter.key, is_of_another);
}
// The waiter that has waited longest, among those of the given waiter's group.
LockWaiter* next_of_own(Bucket& bucket, const LockWaiter& waiter) noexcept {
  const auto is_of_own = [&waiter](const LockWaiter& other) {
    return !is_holder(other) && other.group == waiter.group;
  };
  return find(bucket, waiter.key, is_of_own);
}

// Queues the waiter behind the oldest waiter of its group, so that walks of the key's list skip it.
void wait_in_group(Bucket& bucket, LockWaiter& waiter) noexcept {
  LockWaiter* const oldest = next_of_own(bucket, waiter);
  waiter.behind = nullptr;
  waiter.last_behind = &waiter;
  if (oldest == nullptr) return append(bucket, waiter);
  oldest->last_behind->behind = &waiter;
  oldest->last_behind = &waiter;
}

// Queues the waiter before the others of its group, and the group behind all other groups.
void wait_before_group(Bucket& bucket, LockWaiter& waiter) noexcept {
  LockWaiter* const oldest = next_of_own(bucket, waiter);
  waiter.behind = oldest;
  waiter.last_behind = oldest != nullptr ? oldest->last_behind : &waiter;
  if (oldest != nullptr) remove(bucket, *oldest);
  append(bucket, waiter);
}

// Removes the waiter, the oldest of its group, from the group's queue. Returns the next one, which is now the oldest.
LockWaiter* next_oldest(const LockWaiter& waiter) noexcept {
  if (waiter.behind != nullptr) waiter.behind->last_behind = waiter.last_behind;
  return waiter.behind;
}

void set_and_wake(LockWaiter& waiter, LockWaiter::State state) noexcept {
  waiter.state.store(state, std::memory_order_relaxed);
  if (waiter.task == nullptr) return platform::wake(waiter.state, 1);
  const Runtime& runtime = *waiter.task->nursery->runtime;
  (void)wake(worker_of(runtime), *waiter.task, WaitReason::kLock);
}

// Hands the lock to the oldest waiter of a group.
void hand_over(Bucket& bucket, LockWaiter& next) noexcept {
  LockWaiter* const oldest = next_oldest(next);
  remove(bucket, next);
  append(bucket, next);  // as the holder
  if (oldest != nullptr) append(bucket, *oldest);
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
    append(bucket, waiter);
    return 0;
  }
  if (task != nullptr && holder->task == task) return kErrorDeadlock;
  wait_in_group(bucket, waiter);
  return wait_for_lock(bucket, waiter);
}

bool keyed_try_lock(LockWaiter& waiter, std::uint64_t key, Task& task) noexcept {
  Bucket& bucket = bucket_of(key);
  prepare(waiter, key, &task, LockWaiter::kHolds);
  LockGuard guard(bucket.lock);
  if (holder_of(bucket, key) != nullptr) return false;
  append(bucket, waiter);
  return true;
}

void keyed_unlock(LockWaiter& waiter) noexcept {
  Bucket& bucket = bucket_of(waiter.key);
  LockGuard guard(bucket.lock);
  remove(bucket, waiter);
  LockWaiter* next = next_of_others(bucket, waiter);
  if (next == nullptr) next = next_of_own(bucket, waiter);
  if (next != nullptr) hand_over(bucket, *next);
}

int lend_lock(LockWaiter& waiter) noexcept {
  Bucket& bucket = bucket_of(waiter.key);
  LockGuard guard(bucket.lock);
  LockWaiter* const next = next_of_others(bucket, waiter);
  if (next == nullptr) return 0;
  remove(bucket, waiter);
  waiter.state.store(LockWaiter::kWaits, std::memory_order_relaxed);
  wait_before_group(bucket, waiter);
  hand_over(bucket, *next);
  return wait_for_lock(bucket, waiter);
}

void send_cancelled_away(const LockWaiter& waiter) noexcept {
  Bucket& bucket = bucket_of(waiter.key);
  LockGuard guard(bucket.lock);
  const auto is_to_go = [](const LockWaiter& other) { return other.task != nullptr && is_cancelled(*other.task); };
  for (LockWaiter* at = *place_of(bucket, waiter.key); at != nullptr;) {
    LockWaiter* oldest = at;
    at = at->next;
    if (is_holder(*oldest)) continue;
    while (oldest != nullptr && is_to_go(*oldest)) {
      LockWaiter* const second = next_oldest(*oldest);
      remove(bucket, *oldest, second);
      set_and_wake(*oldest, LockWaiter::kWasSentAway);
      oldest = second;
    }
    for (LockWaiter* before = oldest; before != nullptr && before->behind != nullptr;) {
      LockWaiter* const other = before->behind;
      if (!is_to_go(*other)) {
        before = other;
        continue;
      }
      before->behind = other->behind;
      if (oldest->last_behind == other) oldest->last_behind = before;
      set_and_wake(*other, LockWaiter::kWasSentAway);
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
