// SPDX-License-Identifier: Apache-2.0
// rt/task/locks/keyed_lock.cpp — queues by key, of crowds and of the turns in a crowd. docs/decisions/0242
//
// INVARIANT one-wake: under the lock of the bucket, a turn that waits belongs to a task that has left its stack (state
// kAwaitsTurn) or to one that is about to look again, and the thread that changes the turn wakes the task once, before
// it releases the lock. The task looks only with the lock held, so neither it nor its turn is gone before that.
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

// A digital search tree (Coffman and Eve, 1970): a key that stands below another shares its first bits, as many as
// there are steps from the root. So none is more than 64 steps away, however many keys a user piles up; and no object's
// key is on the way to a descriptor, except for the root.
struct alignas(64) Bucket {
  TurnLock lock;
  Turn* root = nullptr;
};
Bucket buckets[1u << kBucketBits];

Bucket& bucket_of(std::uint64_t key) noexcept {
  return buckets[(key * 0x9e3779b97f4a7c15) >> (64 - kBucketBits)];
}

// The pointer to the first turn of that key, or where it would be.
Turn** place_of(Bucket& bucket, std::uint64_t key) noexcept {
  Turn** at = &bucket.root;
  for (std::uint64_t bits = key; *at != nullptr && (*at)->key != key; bits >>= 1) at = &(*at)->below[bits & 1];
  return at;
}

Turn* find(Bucket& bucket, std::uint64_t key, auto accepts) noexcept {
  Turn* turn = *place_of(bucket, key);
  while (turn != nullptr && !accepts(*turn)) turn = turn->next;
  return turn;
}

bool has_turn(const Turn& turn) noexcept {
  return turn.state.load(std::memory_order_relaxed) == Turn::kHas;
}

Turn* holder_of(Bucket& bucket, std::uint64_t key) noexcept {
  return find(bucket, key, has_turn);
}

void append(Bucket& bucket, Turn& turn) noexcept {
  Turn** at = place_of(bucket, turn.key);
  if (*at == nullptr) turn.below[0] = turn.below[1] = nullptr;
  while (*at != nullptr) at = &(*at)->next;
  turn.next = nullptr;
  *at = &turn;
}

// Takes out a leaf from below `turn`, whose place it may take; nullptr: there is none.
Turn* take_leaf(Turn& turn) noexcept {
  Turn** at = nullptr;
  for (Turn* leaf = &turn; leaf->below[0] != nullptr || leaf->below[1] != nullptr; leaf = *at)
    at = &leaf->below[leaf->below[0] == nullptr ? 1 : 0];
  return at != nullptr ? std::exchange(*at, nullptr) : nullptr;
}

// Removes a turn that is held, or is the oldest of its crowd; its place goes to `in_its_place`, unless that is nullptr.
void remove(Bucket& bucket, Turn& turn, Turn* in_its_place = nullptr) noexcept {
  Turn** const first = place_of(bucket, turn.key);
  Turn** at = first;
  while (*at != &turn) at = &(*at)->next;
  Turn* heir = turn.next;
  if (in_its_place != nullptr) {
    in_its_place->next = heir;
    heir = in_its_place;
  }
  if (at == first) {
    if (heir == nullptr) heir = take_leaf(turn);
    if (heir != nullptr) {
      heir->below[0] = turn.below[0];
      heir->below[1] = turn.below[1];
    }
  }
  *at = heir;
}

// Of the turns that wait, the one that has waited longest: of another crowd, ...
Turn* next_of_others(Bucket& bucket, const Turn& turn) noexcept {
  const auto is_of_another = [&turn](const Turn& other) { return !has_turn(other) && other.crowd != turn.crowd; };
  return find(bucket, turn.key, is_of_another);
}
// ... and of the same crowd.
Turn* next_of_own(Bucket& bucket, const Turn& turn) noexcept {
  const auto is_of_own = [&turn](const Turn& other) { return !has_turn(other) && other.crowd == turn.crowd; };
  return find(bucket, turn.key, is_of_own);
}

// All others of a crowd stand behind its oldest, so that no walk passes them, however many they are.
void wait_in_crowd(Bucket& bucket, Turn& turn) noexcept {
  Turn* const oldest = next_of_own(bucket, turn);
  turn.behind = nullptr;
  turn.last_behind = &turn;
  if (oldest == nullptr) return append(bucket, turn);
  oldest->last_behind->behind = &turn;
  oldest->last_behind = &turn;
}

// Waits before the others of its crowd, which comes behind all other crowds.
void wait_before_crowd(Bucket& bucket, Turn& turn) noexcept {
  Turn* const oldest = next_of_own(bucket, turn);
  turn.behind = oldest;
  turn.last_behind = oldest != nullptr ? oldest->last_behind : &turn;
  if (oldest != nullptr) remove(bucket, *oldest);
  append(bucket, turn);
}

// The oldest of a crowd leaves; returns the one behind it, which is the oldest then.
Turn* next_oldest(const Turn& turn) noexcept {
  if (turn.behind != nullptr) turn.behind->last_behind = turn.last_behind;
  return turn.behind;
}

void set_and_wake(Turn& turn, Turn::State state) noexcept {
  turn.state.store(state, std::memory_order_relaxed);
  if (turn.task == nullptr) return platform::wake(turn.state, 1);
  const Runtime& runtime = *turn.task->nursery->runtime;
  (void)wake(worker_of(runtime), *turn.task, TaskState::kAwaitsTurn);
}

// Gives the turn to the oldest of a crowd.
void give_turn(Bucket& bucket, Turn& next) noexcept {
  Turn* const oldest = next_oldest(next);
  remove(bucket, next);
  append(bucket, next);  // as one that has its turn
  if (oldest != nullptr) append(bucket, *oldest);
  set_and_wake(next, Turn::kHas);
}

void prepare(Turn& turn, std::uint64_t key, Task* task, Turn::State state) noexcept {
  turn.key = key;
  turn.task = task;
  turn.crowd = crowd_of(task);
  turn.also_held = nullptr;
  turn.state.store(state, std::memory_order_relaxed);
}

// The bucket's lock is held, before and after.
void wait_as_task(Bucket& bucket, Turn& turn) noexcept {
  Runtime& runtime = *turn.task->nursery->runtime;
  runtime.waits_for_turns.fetch_add(1, std::memory_order_relaxed);
  while (turn.state.load(std::memory_order_relaxed) == Turn::kWaits) {
    if (!block_for_turn(*turn.task, bucket.lock)) {
      // There is no stack to go on with: the holder of the turn goes on all the same if it stands on another worker.
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
  bucket.lock.lock();  // after this the waker is done with the turn
}

// The bucket's lock is held, before and after. As take_turn().
int wait_for_turn(Bucket& bucket, Turn& turn) noexcept {
  if (turn.task != nullptr)
    wait_as_task(bucket, turn);
  else
    wait_as_thread(bucket, turn);
  return has_turn(turn) ? 0 : kCancelledCode;
}

}  // namespace

int take_turn(Turn& turn, std::uint64_t key, Task* task) noexcept {
  Bucket& bucket = bucket_of(key);
  prepare(turn, key, task, Turn::kWaits);
  LockGuard guard(bucket.lock);
  const Turn* const holder = holder_of(bucket, key);
  if (holder == nullptr) {
    turn.state.store(Turn::kHas, std::memory_order_relaxed);
    append(bucket, turn);
    return 0;
  }
  if (task != nullptr && holder->task == task) return kErrorDeadlock;
  wait_in_crowd(bucket, turn);
  return wait_for_turn(bucket, turn);
}

bool try_turn(Turn& turn, std::uint64_t key, Task& task) noexcept {
  Bucket& bucket = bucket_of(key);
  prepare(turn, key, &task, Turn::kHas);
  LockGuard guard(bucket.lock);
  if (holder_of(bucket, key) != nullptr) return false;
  append(bucket, turn);
  return true;
}

void pass_turn(Turn& turn) noexcept {
  Bucket& bucket = bucket_of(turn.key);
  LockGuard guard(bucket.lock);
  remove(bucket, turn);
  Turn* next = next_of_others(bucket, turn);
  if (next == nullptr) next = next_of_own(bucket, turn);
  if (next != nullptr) give_turn(bucket, *next);
}

int share_turn(Turn& turn) noexcept {
  Bucket& bucket = bucket_of(turn.key);
  LockGuard guard(bucket.lock);
  Turn* const next = next_of_others(bucket, turn);
  if (next == nullptr) return 0;
  remove(bucket, turn);
  turn.state.store(Turn::kWaits, std::memory_order_relaxed);
  wait_before_crowd(bucket, turn);
  give_turn(bucket, *next);
  return wait_for_turn(bucket, turn);
}

void send_cancelled_away(const Turn& turn) noexcept {
  Bucket& bucket = bucket_of(turn.key);
  LockGuard guard(bucket.lock);
  const auto is_to_go = [](const Turn& other) { return other.task != nullptr && is_cancelled(*other.task); };
  for (Turn* at = *place_of(bucket, turn.key); at != nullptr;) {
    Turn* oldest = at;
    at = at->next;
    if (has_turn(*oldest)) continue;
    while (oldest != nullptr && is_to_go(*oldest)) {
      Turn* const second = next_oldest(*oldest);
      remove(bucket, *oldest, second);
      set_and_wake(*oldest, Turn::kWasSentAway);
      oldest = second;
    }
    for (Turn* before = oldest; before != nullptr && before->behind != nullptr;) {
      Turn* const other = before->behind;
      if (!is_to_go(*other)) {
        before = other;
        continue;
      }
      before->behind = other->behind;
      if (oldest->last_behind == other) oldest->last_behind = before;
      set_and_wake(*other, Turn::kWasSentAway);
    }
  }
}

bool holds_most(const Task& task) noexcept {
  return task.is_marked(TaskMarks::kHoldsTurns) && task.frame->details.held_count == kMostHeld;
}

void hold_turn(Task& task, Turn& turn) noexcept {
  task.mark(TaskMarks::kHoldsTurns);
  RunDetails& details = task.frame->details;
  turn.also_held = details.held_turns;
  details.held_turns = &turn;
  ++details.held_count;
}

Turn* end_hold(Task& task, std::uint64_t key) noexcept {
  if (!task.is_marked(TaskMarks::kHoldsTurns)) return nullptr;
  RunDetails& details = task.frame->details;
  Turn** at = &details.held_turns;
  while (*at != nullptr && (*at)->key != key) at = &(*at)->also_held;
  Turn* const turn = *at;
  if (turn == nullptr) return nullptr;
  *at = turn->also_held;
  --details.held_count;
  return turn;
}

void pass_held_turns(Task& task) noexcept {
  if (!task.is_marked(TaskMarks::kHoldsTurns)) return;
  RunDetails& details = task.frame->details;
  while (Turn* const turn = details.held_turns) {
    details.held_turns = turn->also_held;
    --details.held_count;
    pass_turn(*turn);
    Worker& worker = current_worker();
    release_own(runtime_of(worker), &worker, turn);
  }
}

}  // namespace janus
