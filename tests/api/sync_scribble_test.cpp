// SPDX-License-Identifier: Apache-2.0
// sync_scribble_test.cpp — janus/sync.h: all calls at the same few words, which are taken now for one object and now for another, and
// written to meanwhile. What they answer means nothing then; but each wait ends by its deadline or a cancel, nobody spins, and
// others are as before.
#include <janus/sync.h>

#include "tests/api/world.h"

namespace janus::test {

namespace {

constexpr int kWords = 5, kTasks = 8;

void call_anything(std::uint64_t* words, Dice& dice) {
  void* const at = words + dice.below(kWords - 1);
  auto* const mutex = static_cast<janus_mutex*>(at);
  auto* const rwlock = static_cast<janus_rwlock*>(at);
  auto* const cond = static_cast<janus_cond*>(at);
  auto* const semaphore = static_cast<janus_semaphore*>(at);
  auto* const barrier = static_cast<janus_barrier*>(at);
  auto* const group = static_cast<janus_wait_group*>(at);
  auto* const event = static_cast<janus_event*>(at);
  auto* const once = static_cast<janus_once*>(at);
  auto* const other = reinterpret_cast<janus_mutex*>(words + dice.below(kWords - 1));
  const std::uint64_t until = janus_now_ns() + dice.below(20000);
  switch (dice.below(28)) {
    case 0:
      (void)janus_mutex_lock_until(mutex, until);
      break;
    case 1:
      (void)janus_mutex_try_lock(mutex);
      break;
    case 2:
    case 3:
      (void)janus_mutex_unlock(mutex);
      break;
    case 4:
      (void)janus_mutex_heal(mutex);
      break;
    case 5:
      (void)janus_rwlock_read_lock_until(rwlock, until);
      break;
    case 6:
      (void)janus_rwlock_write_lock_until(rwlock, until);
      break;
    case 7:
      (void)janus_rwlock_try_read_lock(rwlock);
      break;
    case 8:
      (void)janus_rwlock_try_write_lock(rwlock);
      break;
    case 9:
      (void)janus_rwlock_read_unlock(rwlock);
      break;
    case 10:
      (void)janus_rwlock_write_unlock(rwlock);
      break;
    case 11:
      (void)janus_cond_wait_until(cond, other, until);
      break;
    case 12:
      (void)janus_cond_signal(cond);
      break;
    case 13:
      (void)janus_cond_broadcast(cond);
      break;
    case 14:
      (void)janus_semaphore_init(semaphore, static_cast<std::uint32_t>(dice.below(3)));
      break;
    case 15:
      (void)janus_semaphore_acquire_until(semaphore, until);
      break;
    case 16:
      (void)janus_semaphore_release(semaphore, 1);
      break;
    case 17:
      (void)janus_barrier_init(barrier, 1 + static_cast<std::uint32_t>(dice.below(3)));
      break;
    case 18:
      (void)janus_barrier_wait_until(barrier, until);
      break;
    case 19:
      (void)janus_wait_group_add(group, static_cast<std::int64_t>(dice.below(3)));
      break;
    case 20:
      (void)janus_wait_group_done(group);
      break;
    case 21:
      (void)janus_wait_group_wait_until(group, until);
      break;
    case 22:
      (void)janus_event_set(event);
      break;
    case 23:
      (void)janus_event_reset(event);
      break;
    case 24:
      (void)janus_event_wait_until(event, until);
      break;
    case 25:
      (void)janus_once_call_until(
          once, [](void*) { janus_yield(); }, nullptr, until);
      break;
    case 26:
      __atomic_store_n(&words[dice.below(kWords)], 0, __ATOMIC_RELAXED);
      break;
    default:
      (void)__atomic_fetch_xor(&words[dice.below(kWords)], std::uint64_t{1} << dice.below(64), __ATOMIC_RELAXED);
  }
}

}  // namespace

TEST(sync_scribble, whatever_the_words_hold_each_wait_ends_and_others_are_as_before) {
  on_any_workers([] {
    alignas(8) std::uint64_t words[kWords] = {};
    std::atomic<std::uint64_t> seeds{0};
    std::atomic<int> finished{0};
    auto scribbles = [&] {
      Dice dice(seeds.fetch_add(1) + 1);
      for (int i = scaled(400, 60); i > 0; --i) call_anything(words, dice);
      finished.fetch_add(1);
    };
    // The same without deadlines, until a cancel. What a waiter finds may make it panic, if its lock were lost.
    auto waits = [&]() -> std::int64_t {
      auto* const rwlock = reinterpret_cast<janus_rwlock*>(words);
      auto* const mutex = reinterpret_cast<janus_mutex*>(words + 1);
      for (;;) {
        for (const int answer :
             {janus_rwlock_read_lock(rwlock), janus_mutex_lock(mutex), janus_rwlock_write_lock(rwlock)})
          if (answer == JANUS_CANCELLED) return answer;
        janus_yield();
      }
    };
    for (int round = 0; round < 3; ++round) {
      Scope scope(JANUS_ON_ERROR_COLLECT), waiting(JANUS_ON_ERROR_COLLECT);
      for (int i = 0; i < 3; ++i) waiting.go(waits);
      for (int i = 0; i < kTasks; ++i) scope.go(scribbles);
      // A wait at a condition ends when it has the mutex again, which one of `waiting` may hold for ever.
      for (int i = 0; i < 200 && finished.load() < kTasks; ++i) CHECK_EQ(janus_sleep_ns(1000000), 0);
      CHECK_EQ(waiting.cancel(), 0);
      waiting.end();
      CHECK_EQ(scope.end(), 0);
      finished.store(0);
    }
    janus_mutex mutex = {};
    CHECK_EQ(janus_mutex_lock(&mutex), 0);
    CHECK_EQ(janus_mutex_unlock(&mutex), 0);
  });
}

}  // namespace janus::test
