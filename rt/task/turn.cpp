// SPDX-License-Identifier: Apache-2.0
// rt/task/turn.cpp — queues by key. Whoever stands first in the queue of a key has it.
//
// INVARIANT one-wake: under the lock of the bucket, a turn that waits belongs to a task that has left its stack (state
// kAwaitsTurn) or to one that is about to look again, and whoever changes the turn wakes the task once, before it lets
// go of the lock. The task looks only with the lock held, so neither it nor its turn is gone before that.
#include "rt/task/turn.h"

#include "rt/base/lock_rank.h"
#include "rt/task/cancel.h"
#include "rt/task/memory.h"
#include "rt/task/runtime.h"
#include "rt/task/wait.h"
#include "rt/task/wake.h"

namespace janus {

namespace {

constexpr unsigned kBucketBits = 6;

struct alignas(64) Bucket {
  TurnLock lock;
  Turn* first = nullptr;
};
Bucket buckets[1u << kBucketBits];

Bucket& bucket_of(std::uint64_t key) noexcept {
  return buckets[(key * 0x9e3779b97f4a7c15) >> (64 - kBucketBits)];
}

Turn* first_of(const Bucket& bucket, std::uint64_t key) noexcept {
  Turn* turn = bucket.first;
  while (turn != nullptr && turn->key != key) turn = turn->next;
  return turn;
}

void append(Bucket& bucket, Turn& turn) noexcept {
  Turn** at = &bucket.first;
  while (*at != nullptr) at = &(*at)->next;
  *at = &turn;
}

void remove(Bucket& bucket, const Turn& turn) noexcept {
  Turn** at = &bucket.first;
  while (*at != &turn) at = &(*at)->next;
  *at = turn.next;
}

void set_and_wake(Turn& turn, Turn::State state) noexcept {
  turn.state.store(state, std::memory_order_relaxed);
  if (turn.task == nullptr) return platform::wake(turn.state, 1);
  const Runtime& runtime = *turn.task->nursery->runtime;
  (void)wake(worker_of(runtime), *turn.task, TaskState::kAwaitsTurn);
}

void prepare(Turn& turn, std::uint64_t key, Task* task, Turn::State state) noexcept {
  turn.key = key;
  turn.task = task;
  turn.next = nullptr;
  turn.also_held = nullptr;
  turn.state.store(state, std::memory_order_relaxed);
}

// The lock is held, before and after.
void wait_as_task(Bucket& bucket, Turn& turn) noexcept {
  Runtime& runtime = *turn.task->nursery->runtime;
  runtime.waits_for_turns.fetch_add(1, std::memory_order_relaxed);
  while (turn.state.load(std::memory_order_relaxed) == Turn::kWaits) {
    if (!block_for_turn(*turn.task, bucket.lock)) {
      // No stack for anybody else: whoever has the turn goes on all the same if it stands on another worker.
      bucket.lock.unlock();
      arch::pause();
      current_worker().scheduler->sched_point();
    }
    bucket.lock.lock();
  }
  runtime.waits_for_turns.fetch_sub(1, std::memory_order_relaxed);
}

void wait_as_thread(Bucket& bucket, Turn& turn) noexcept {
  bucket.lock.unlock();
  while (turn.state.load(std::memory_order_relaxed) == Turn::kWaits)
    platform::wait(turn.state, Turn::kWaits, platform::kForever);
  bucket.lock.lock();  // whoever woke us is done with the turn
}

}  // namespace

int take_turn(Turn& turn, std::uint64_t key, Task* task) noexcept {
  Bucket& bucket = bucket_of(key);
  prepare(turn, key, task, Turn::kWaits);
  LockGuard guard(bucket.lock);
  const Turn* const holder = first_of(bucket, key);
  if (holder == nullptr) turn.state.store(Turn::kHas, std::memory_order_relaxed);
  if (holder != nullptr && task != nullptr && holder->task == task) return kErrorDeadlock;
  append(bucket, turn);
  if (holder == nullptr) return 0;
  if (task != nullptr)
    wait_as_task(bucket, turn);
  else
    wait_as_thread(bucket, turn);
  return turn.state.load(std::memory_order_relaxed) == Turn::kHas ? 0 : kCancelledCode;
}

bool try_turn(Turn& turn, std::uint64_t key, Task& task) noexcept {
  Bucket& bucket = bucket_of(key);
  prepare(turn, key, &task, Turn::kHas);
  LockGuard guard(bucket.lock);
  if (first_of(bucket, key) != nullptr) return false;
  append(bucket, turn);
  return true;
}

void pass_turn(Turn& turn) noexcept {
  Bucket& bucket = bucket_of(turn.key);
  LockGuard guard(bucket.lock);
  remove(bucket, turn);
  if (Turn* const next = first_of(bucket, turn.key)) set_and_wake(*next, Turn::kHas);
}

void send_cancelled_away(const Turn& turn) noexcept {
  Bucket& bucket = bucket_of(turn.key);
  LockGuard guard(bucket.lock);
  for (Turn* at = turn.next; at != nullptr;) {
    Turn& other = *at;
    at = other.next;
    if (other.key != turn.key || other.task == nullptr || !is_cancelled(*other.task)) continue;
    remove(bucket, other);
    set_and_wake(other, Turn::kWasSentAway);
  }
}

void hold_turn(Task& task, Turn& turn) noexcept {
  task.mark(TaskMarks::kHoldsTurns);
  Turn*& held = task.frame->details.held_turns;
  turn.also_held = held;
  held = &turn;
}

Turn* end_hold(Task& task, std::uint64_t key) noexcept {
  if (!task.is_marked(TaskMarks::kHoldsTurns)) return nullptr;
  Turn** at = &task.frame->details.held_turns;
  while (*at != nullptr && (*at)->key != key) at = &(*at)->also_held;
  Turn* const turn = *at;
  if (turn != nullptr) *at = turn->also_held;
  return turn;
}

void pass_held_turns(Task& task) noexcept {
  if (!task.is_marked(TaskMarks::kHoldsTurns)) return;
  while (Turn* const turn = task.frame->details.held_turns) {
    task.frame->details.held_turns = turn->also_held;
    pass_turn(*turn);
    Worker& worker = current_worker();
    release_own(runtime_of(worker), &worker, turn);
  }
}

}  // namespace janus
