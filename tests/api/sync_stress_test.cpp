// SPDX-License-Identifier: Apache-2.0
// sync_stress_test.cpp — eight tasks over all that janus/sync.h has, beside cancels and deadlines, against what a sequential
// model says: who is inside of what, and what is left at the end.
#include <janus/sync.h>

#include "tests/api/world.h"

namespace janus::test {

namespace {

// The objects, and what has to be true of them.
struct World {
  janus_mutex mutex = {};
  int in_mutex = 0;
  bool is_broken = false;  // a task has ended inside
  janus_cond cond = {};
  janus_rwlock rwlock = {};
  std::atomic<int> readers{0}, writers{0};
  janus_semaphore semaphore = {};
  std::atomic<int> in_semaphore{0};
  janus_event event = {};
  janus_once once = {};
  std::atomic<int> once_calls{0};
  janus_wait_group group = {};
  std::atomic<int> in_group{0};
};

constexpr int kPermits = 3;
World* world;

std::uint64_t until(Dice& dice) {
  const std::uint64_t kinds[] = {0, 1, janus_now_ns() + dice.below(20000)};
  return kinds[dice.below(3)];
}

bool ended(int answer) {
  CHECK(answer == 0 || answer == JANUS_CANCELLED || answer == JANUS_E_TIMEOUT);
  return answer != 0;
}

bool enters(Dice& dice) {
  const int answer = janus_mutex_lock_until(&world->mutex, until(dice));
  if (answer != JANUS_E_STATE) {
    if (ended(answer)) return false;
    CHECK(!world->is_broken);
  } else {
    CHECK(world->is_broken);
    world->in_mutex = 0;
    if (dice.below(2) == 0) {
      world->is_broken = false;
      CHECK_EQ(janus_mutex_heal(&world->mutex), 0);
    }
  }
  CHECK_EQ(++world->in_mutex, 1);
  return true;
}

void leaves() {
  CHECK_EQ(world->in_mutex--, 1);
  CHECK_EQ(janus_mutex_unlock(&world->mutex), 0);
}

void step_mutex(Dice& dice) {
  if (!enters(dice)) return;
  for (std::uint64_t i = dice.below(3); i > 0; --i) janus_yield();
  if (dice.below(8) == 0) {
    world->in_mutex = 0;  // while it waits, others are inside
    const int answer = janus_cond_wait_until(&world->cond, &world->mutex, janus_now_ns() + dice.below(5000));
    if (answer == JANUS_E_STATE || world->is_broken) world->in_mutex = 0;
    if (answer != JANUS_E_STATE) (void)ended(answer);
    CHECK_EQ(world->in_mutex++, 0);
  }
  CHECK_EQ(dice.below(2) == 0 ? janus_cond_signal(&world->cond) : janus_cond_broadcast(&world->cond), 0);
  if (dice.below(40) == 0) {
    world->is_broken = true;
    janus_task_panic("inside");
  }
  leaves();
}

void step_rwlock(Dice& dice) {
  if (dice.below(3) == 0) {
    if (ended(janus_rwlock_write_lock_until(&world->rwlock, until(dice)))) return;
    CHECK_EQ(world->writers.fetch_add(1), 0);
    CHECK_EQ(world->readers.load(), 0);
    janus_yield();
    world->writers.fetch_sub(1);
    CHECK_EQ(janus_rwlock_write_unlock(&world->rwlock), 0);
  } else {
    if (ended(janus_rwlock_read_lock_until(&world->rwlock, until(dice)))) return;
    world->readers.fetch_add(1);
    CHECK_EQ(world->writers.load(), 0);
    janus_yield();
    world->readers.fetch_sub(1);
    CHECK_EQ(janus_rwlock_read_unlock(&world->rwlock), 0);
  }
}

void step_semaphore(Dice& dice) {
  if (ended(janus_semaphore_acquire_until(&world->semaphore, until(dice)))) return;
  CHECK(world->in_semaphore.fetch_add(1) < kPermits);
  janus_yield();
  world->in_semaphore.fetch_sub(1);
  CHECK_EQ(janus_semaphore_release(&world->semaphore, 1), 0);
}

void step_group(Dice& dice) {
  CHECK_EQ(janus_wait_group_add(&world->group, 1), 0);
  janus_yield();
  CHECK_EQ(janus_wait_group_done(&world->group), 0);
  (void)ended(janus_wait_group_wait_until(&world->group, janus_now_ns() + dice.below(3000)));
}

void step_event(Dice& dice) {
  CHECK_EQ(dice.below(2) == 0 ? janus_event_set(&world->event) : janus_event_reset(&world->event), 0);
  (void)ended(janus_event_wait_until(&world->event, janus_now_ns() + dice.below(3000)));
  CHECK_EQ(janus_once_call(
               &world->once, [](void*) { world->once_calls.fetch_add(1); }, nullptr) <= 0,
           true);
}

std::int64_t user(void* seed) {
  Dice dice(static_cast<std::uint64_t>(return_arg(seed)));
  constexpr void (*kSteps[])(Dice&) = {step_mutex, step_rwlock, step_semaphore, step_group, step_event};
  for (int i = 0; i < 30; ++i) {
    kSteps[dice.below(5)](dice);
    if (janus_yield() < 0 && dice.below(4) == 0) return JANUS_CANCELLED;
  }
  return 0;
}

void run_stress() {
  World here;
  world = &here;
  CHECK_EQ(janus_semaphore_init(&here.semaphore, kPermits), 0);
  Dice dice(7);
  for (std::uint64_t round = 0; round < 4; ++round) {
    Scope scope(JANUS_ON_ERROR_COLLECT);
    janus_task tasks[8];
    for (std::uint64_t i = 0; i < 8; ++i) tasks[i] = scope.go(user, as_arg(static_cast<std::int64_t>(round * 8 + i)));
    for (int i = 0; i < 6; ++i) {
      for (std::uint64_t k = dice.below(30); k > 0; --k) janus_yield();
      (void)janus_task_cancel(tasks[dice.below(8)]);
    }
    scope.end();
    CHECK_EQ(here.cond.word, 0u);
    CHECK_EQ(here.rwlock.words[0], 0u);
    CHECK_EQ(here.rwlock.words[1], 0u);
    CHECK_EQ(here.semaphore.word, std::uint64_t{kPermits} << 32);
    CHECK_EQ(here.group.word, 0u);
    const int answer = janus_mutex_lock(&here.mutex);
    CHECK_EQ(answer, here.is_broken ? JANUS_E_STATE : 0);
    CHECK_EQ(janus_mutex_unlock(&here.mutex), 0);
  }
  CHECK(here.once_calls.load() <= 1);
}

}  // namespace

TEST(sync_stress, all_of_it_at_once_loses_nothing) {
  on_any_workers([] { run_stress(); });
}

}  // namespace janus::test
