// SPDX-License-Identifier: Apache-2.0
// sync_locks_test.cpp — janus/sync.h: mutexes, conditions, what is done once.
#include <janus/sync.h>

#include "tests/api/world.h"

namespace janus::test {

namespace {

constexpr std::uint64_t kMs = 1'000'000, kLong = 3'600'000 * kMs;

bool blocks(janus_task task) {
  return eventually([&] { return janus_task_state(task) == JANUS_TASK_BLOCKED; });
}

std::uint64_t soon() {
  return janus_now_ns() + kMs;
}
std::uint64_t late() {
  return janus_now_ns() + kLong;
}

}  // namespace

TEST(mutex, one_task_at_a_time_holds_it) {
  on_any_workers([] {
    janus_mutex mutex = {};
    int inside = 0, sum = 0;
    auto user = [&] {
      for (int i = 0; i < 50; ++i) {
        CHECK_EQ(janus_mutex_lock(&mutex), 0);
        CHECK_EQ(++inside, 1);
        if (i % 4 == 0) janus_yield();
        ++sum;
        --inside;
        CHECK_EQ(janus_mutex_unlock(&mutex), 0);
      }
    };
    Scope scope;
    for (int i = 0; i < 8; ++i) scope.go(user);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(sum, 400);
    CHECK_EQ(mutex.word, 0u);  // nobody holds it, and nobody is thought to wait
  });
}

TEST(mutex, whoever_does_not_hold_it_cannot_unlock_or_heal_it) {
  on_any_workers([] {
    janus_mutex mutex = {};
    CHECK_EQ(janus_mutex_unlock(&mutex), JANUS_E_STATE);
    CHECK_EQ(janus_mutex_heal(&mutex), JANUS_E_STATE);
    CHECK_EQ(janus_mutex_lock(&mutex), 0);
    auto stranger = [&] {
      CHECK_EQ(janus_mutex_unlock(&mutex), JANUS_E_STATE);
      CHECK_EQ(janus_mutex_heal(&mutex), JANUS_E_STATE);
      CHECK_EQ(janus_mutex_try_lock(&mutex), JANUS_E_WOULD_BLOCK);
    };
    Scope scope;
    scope.go(stranger);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(janus_mutex_heal(&mutex), 0);
    CHECK_EQ(janus_mutex_unlock(&mutex), 0);
    CHECK_EQ(janus_mutex_try_lock(&mutex), 0);
    CHECK_EQ(janus_mutex_unlock(&mutex), 0);
  });
}

TEST(mutex, to_lock_what_one_holds_is_a_deadlock) {
  on_any_workers([] {
    janus_mutex mutex = {};
    CHECK_EQ(janus_mutex_lock(&mutex), 0);
    CHECK_EQ(janus_mutex_lock(&mutex), JANUS_E_DEADLOCK);
    CHECK_EQ(janus_mutex_lock_until(&mutex, late()), JANUS_E_DEADLOCK);
    CHECK_EQ(janus_mutex_try_lock(&mutex), JANUS_E_WOULD_BLOCK);
    CHECK_EQ(janus_mutex_unlock(&mutex), 0);
    CHECK_EQ(mutex.word, 0u);
  });
}

TEST(mutex, nothing_and_what_is_not_aligned_are_refused) {
  on_any_workers([] {
    alignas(8) unsigned char bytes[24] = {};
    auto* const odd = reinterpret_cast<janus_mutex*>(bytes + 4);
    CHECK_EQ(janus_mutex_lock(nullptr), JANUS_E_INVALID);
    CHECK_EQ(janus_mutex_lock(odd), JANUS_E_INVALID);
    CHECK_EQ(janus_mutex_lock_until(nullptr, 1), JANUS_E_INVALID);
    CHECK_EQ(janus_mutex_try_lock(odd), JANUS_E_INVALID);
    CHECK_EQ(janus_mutex_unlock(nullptr), JANUS_E_INVALID);
    CHECK_EQ(janus_mutex_heal(odd), JANUS_E_INVALID);
    for (const unsigned char byte : bytes) CHECK_EQ(byte, 0);
  });
}

TEST(mutex, a_wait_ends_with_a_cancel) {
  on_any_workers([] {
    janus_mutex mutex = {};
    CHECK_EQ(janus_mutex_lock(&mutex), 0);
    auto waits = [&] {
      CHECK_EQ(janus_mutex_lock(&mutex), JANUS_CANCELLED);
      CHECK_EQ(janus_mutex_unlock(&mutex), JANUS_E_STATE);
      return JANUS_CANCELLED;
    };
    Scope scope;
    const janus_task tasks[] = {scope.go(waits), scope.go(waits), scope.go(waits)};
    for (const janus_task task : tasks) CHECK(blocks(task));
    CHECK_EQ(scope.cancel(), 0);
    scope.end();
    CHECK_EQ(janus_mutex_unlock(&mutex), 0);
    CHECK_EQ(mutex.word, 0u);
  });
}

TEST(mutex, a_cancelled_task_gets_no_lock_but_can_try_and_unlock) {
  on_any_workers([] {
    janus_mutex mutex = {}, other = {};
    auto user = [&] {
      CHECK_EQ(janus_mutex_lock(&mutex), 0);
      CHECK_EQ(janus_task_cancel(janus_task_self()), 0);
      CHECK_EQ(janus_mutex_lock(&other), JANUS_CANCELLED);
      CHECK_EQ(janus_mutex_try_lock(&other), 0);
      CHECK_EQ(janus_mutex_unlock(&other), 0);
      CHECK_EQ(janus_mutex_unlock(&mutex), 0);
    };
    Scope scope;
    scope.go(user);
    scope.end();
    CHECK_EQ(mutex.word, 0u);
  });
}

TEST(mutex, a_wait_ends_at_its_deadline) {
  on_any_workers([] {
    janus_mutex mutex = {};
    CHECK_EQ(janus_mutex_lock(&mutex), 0);
    auto waits = [&] {
      CHECK_EQ(janus_mutex_lock_until(&mutex, 1), JANUS_E_TIMEOUT);
      const std::uint64_t until = soon();
      CHECK_EQ(janus_mutex_lock_until(&mutex, until), JANUS_E_TIMEOUT);
      CHECK_GE(janus_now_ns(), until);
    };
    Scope scope;
    scope.go(waits);
    scope.go(waits);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(janus_mutex_unlock(&mutex), 0);
    CHECK_EQ(mutex.word, 0u);
    CHECK_EQ(janus_mutex_lock_until(&mutex, 1), 0);  // free: it does not wait
    CHECK_EQ(janus_mutex_unlock(&mutex), 0);
    CHECK_EQ(janus_mutex_lock_until(&mutex, 0), 0);
    CHECK_EQ(janus_mutex_unlock(&mutex), 0);
  });
}

// The first waiter gives up after it was woken, or at the same time: the next one has to get the lock.
TEST(mutex, who_leaves_passes_the_wake_on) {
  on_any_workers([] {
    for (int round = 0; round < 20; ++round) {
      janus_mutex mutex = {};
      CHECK_EQ(janus_mutex_lock(&mutex), 0);
      auto told = [&] {
        if (janus_mutex_lock(&mutex) == 0) CHECK_EQ(janus_mutex_unlock(&mutex), 0);
      };
      auto waits = [&] {
        CHECK_EQ(janus_mutex_lock(&mutex), 0);
        CHECK_EQ(janus_mutex_unlock(&mutex), 0);
      };
      Scope ended, scope;
      CHECK(blocks(ended.go(told)));
      CHECK(blocks(scope.go(waits)));
      CHECK(blocks(scope.go(waits)));
      if (round % 2 == 0) {
        CHECK_EQ(janus_mutex_unlock(&mutex), 0);
        ended.cancel();
      } else {
        ended.cancel();
        CHECK_EQ(janus_mutex_unlock(&mutex), 0);
      }
      CHECK_EQ(scope.end(), 0);
      ended.end();
      CHECK_EQ(mutex.word, 0u);
    }
  });
}

namespace {

struct Passing {
  int waiters;
  bool are_caged;
  bool others_run;  // each time that the lock was taken before them
  int passed;       // how often
};
constexpr int kOften = 100;  // is enough

// How often others take the lock before the first waiter has it. One worker, so that all is counted.
int passed_first_waiter(const Passing& how) {
  janus_mutex mutex = {};
  bool has_it = false;
  int passed = 0;
  auto waits = [&] {
    CHECK_EQ(janus_mutex_lock(&mutex), 0);
    has_it = true;
    CHECK_EQ(janus_mutex_unlock(&mutex), 0);
  };
  CHECK_EQ(janus_mutex_lock(&mutex), 0);
  Scope scope(0, 0, how.are_caged ? budget_of(100000) : janus_budget{});
  for (int i = 0; i < how.waiters; ++i) CHECK(blocks(scope.go(waits)));
  while (!has_it && passed < kOften) {
    CHECK_EQ(janus_mutex_unlock(&mutex), 0);
    CHECK_EQ(janus_mutex_lock(&mutex), 0);  // before the waiter runs, unless it was handed the lock
    if (!has_it) ++passed;
    if (how.others_run) janus_yield();
  }
  CHECK_EQ(janus_mutex_unlock(&mutex), 0);
  CHECK_EQ(scope.end(), 0);
  CHECK_EQ(mutex.word, 0u);
  return passed;
}

}  // namespace

TEST(mutex, whoever_was_passed_a_few_times_is_handed_the_lock) {
  static constexpr Passing kWays[] = {{1, false, false, 16}, {2, false, false, 6}, {1, false, true, 1},
                                      {2, false, true, 1},   {1, true, true, 4},   {1, true, false, kOften}};
  for (const janus_rt_config& config : {with_workers(1), deterministic(1, 3)})
    run_in(config, [] {
      for (const Passing& way : kWays) CHECK_EQ(passed_first_waiter(way), way.passed);
    });
}

TEST(mutex, cages_take_turns) {
  run_in(with_workers(1), [] {
    janus_mutex mutex = {};
    int order[12], count = 0;
    struct User {
      janus_mutex* mutex;
      int* order;
      int* count;
      int cage;
      void operator()() {
        CHECK_EQ(janus_mutex_lock(mutex), 0);
        order[(*count)++] = cage;
        CHECK_EQ(janus_mutex_unlock(mutex), 0);
      }
    } users[] = {{&mutex, order, &count, 0}, {&mutex, order, &count, 1}, {&mutex, order, &count, 2}};
    CHECK_EQ(janus_mutex_lock(&mutex), 0);
    Scope crowd(0, 0, budget_of(100000)), other(0, 0, budget_of(100000)), third;
    for (int i = 0; i < 8; ++i) CHECK(blocks(crowd.go(users[0])));
    for (int i = 0; i < 2; ++i) CHECK(blocks(other.go(users[1])));
    for (int i = 0; i < 2; ++i) CHECK(blocks(third.go(users[2])));
    CHECK_EQ(janus_mutex_unlock(&mutex), 0);
    CHECK_EQ(crowd.end(), 0);
    CHECK_EQ(other.end(), 0);
    CHECK_EQ(third.end(), 0);
    CHECK_EQ(count, 12);
    const int expected[] = {0, 1, 2, 0, 1, 2, 0, 0, 0, 0, 0, 0};
    for (int i = 0; i < 12; ++i) CHECK_EQ(order[i], expected[i]);
  });
}

// --- A holder that ends ---

namespace {

// How a task may end with a lock.
std::int64_t returns(void* mutex) {
  CHECK_EQ(janus_mutex_lock(static_cast<janus_mutex*>(mutex)), 0);
  return 0;
}
std::int64_t panics(void* mutex) {
  CHECK_EQ(janus_mutex_lock(static_cast<janus_mutex*>(mutex)), 0);
  janus_task_panic("with a lock");
  return 0;
}
std::int64_t waits_for_its_cancel(void* mutex) {
  CHECK_EQ(janus_mutex_lock(static_cast<janus_mutex*>(mutex)), 0);
  return janus_park(-1);
}
constexpr janus_task_fn kEnds[] = {returns, panics, waits_for_its_cancel};

}  // namespace

TEST(mutex, the_lock_of_a_task_that_ended_says_so_until_it_is_healed) {
  on_any_workers([] {
    for (const janus_task_fn fn : kEnds) {
      janus_mutex mutex = {};
      Scope ended(JANUS_ON_ERROR_COLLECT);
      const janus_task task = ended.go(fn, &mutex);
      if (fn == waits_for_its_cancel) {
        CHECK(blocks(task));
        ended.cancel();
      }
      ended.end();
      CHECK_EQ(janus_mutex_lock(&mutex), JANUS_E_STATE);
      CHECK_EQ(janus_mutex_lock(&mutex), JANUS_E_DEADLOCK);  // it holds it
      CHECK_EQ(janus_mutex_unlock(&mutex), 0);
      CHECK_EQ(janus_mutex_try_lock(&mutex), JANUS_E_STATE);  // not healed yet
      CHECK_EQ(janus_mutex_heal(&mutex), 0);
      CHECK_EQ(janus_mutex_unlock(&mutex), 0);
      CHECK_EQ(janus_mutex_lock(&mutex), 0);
      CHECK_EQ(janus_mutex_unlock(&mutex), 0);
      CHECK_EQ(mutex.word, 0u);
    }
  });
}

TEST(mutex, those_who_wait_for_a_task_that_ends_get_its_lock_in_turn) {
  on_any_workers([] {
    janus_mutex mutex = {};
    int told = 0;
    auto holder = [&]() -> std::int64_t {
      CHECK_EQ(janus_mutex_lock(&mutex), 0);
      return janus_park(-1);
    };
    auto waits = [&] {
      CHECK_EQ(janus_mutex_lock(&mutex), JANUS_E_STATE);
      ++told;
      CHECK_EQ(janus_mutex_unlock(&mutex), 0);
    };
    Scope ended, scope;
    const janus_task task = ended.go(holder);
    CHECK(blocks(task));
    for (int i = 0; i < 3; ++i) CHECK(blocks(scope.go(waits)));
    CHECK_EQ(janus_unpark(task), 0);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(ended.end(), 0);
    CHECK_EQ(told, 3);
  });
}

// The first waiter watches the holder; if it gives up, the next one does.
TEST(mutex, whoever_is_first_then_learns_of_the_end_of_the_holder) {
  on_any_workers([] {
    janus_mutex mutex = {};
    auto holder = [&]() -> std::int64_t {
      CHECK_EQ(janus_mutex_lock(&mutex), 0);
      return janus_park(-1);
    };
    auto gives_up = [&] { CHECK_EQ(janus_mutex_lock(&mutex), JANUS_CANCELLED); };
    auto waits = [&] {
      CHECK_EQ(janus_mutex_lock(&mutex), JANUS_E_STATE);
      CHECK_EQ(janus_mutex_unlock(&mutex), 0);
    };
    Scope ended, told, scope;
    const janus_task task = ended.go(holder);
    CHECK(blocks(task));
    CHECK(blocks(told.go(gives_up)));
    CHECK(blocks(scope.go(waits)));
    told.cancel();
    told.end();
    CHECK_EQ(janus_unpark(task), 0);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(ended.end(), 0);
  });
}

// Each holder in turn ends with the lock, while the others wait.
TEST(mutex, a_row_of_holders_that_end_stops_nobody) {
  on_any_workers([] {
    janus_mutex mutex = {};
    CHECK_EQ(janus_mutex_lock(&mutex), 0);
    int told = 0, count = 0;
    auto waits = [&] {
      const int answer = janus_mutex_lock(&mutex);
      CHECK(answer == 0 || answer == JANUS_E_STATE);
      told += answer == JANUS_E_STATE ? 1 : 0;
      if (++count % 2 == 0) janus_task_panic("with a lock");
    };
    Scope scope(JANUS_ON_ERROR_COLLECT);
    for (int i = 0; i < 10; ++i) CHECK(blocks(scope.go(waits)));
    CHECK_EQ(janus_mutex_unlock(&mutex), 0);
    scope.end();
    CHECK_EQ(count, 10);
    CHECK_EQ(told, 9);  // all but the first
    CHECK_EQ(janus_mutex_lock(&mutex), JANUS_E_STATE);
  });
}

// A task that ends has nurseries open, in which tasks wait for the lock that it has not unlocked; also those that need it
// to return from a wait, whatever else happens to them.
TEST(mutex, the_children_of_a_task_that_ends_get_its_lock) {
  on_any_workers([] {
    for (const bool does_panic : {false, true}) {
      static janus_mutex mutex;
      static janus_cond cond;
      static int told;
      mutex = {};
      cond = {};
      told = 0;
      auto parent = [&] {
        auto waits = [](void*) -> std::int64_t {
          const int locked = janus_mutex_lock(&mutex);
          CHECK(locked == JANUS_E_STATE || locked == JANUS_CANCELLED);
          if (locked == JANUS_E_STATE) CHECK_EQ(janus_mutex_unlock(&mutex), 0);
          ++told;
          return 0;
        };
        auto waits_for_signal = [](void*) -> std::int64_t {
          CHECK_EQ(janus_mutex_lock(&mutex), 0);
          const int signalled = janus_cond_wait(&cond, &mutex);
          CHECK(signalled == JANUS_E_STATE || signalled == JANUS_CANCELLED);
          ++told;
          CHECK_EQ(janus_mutex_unlock(&mutex), 0);
          return 0;
        };
        janus_nursery* const nursery = open_nursery(JANUS_ON_ERROR_COLLECT);
        CHECK(blocks(spawn(nursery, waits_for_signal)));
        CHECK_EQ(janus_mutex_lock(&mutex), 0);
        CHECK(blocks(spawn(nursery, waits)));
        CHECK_EQ(janus_cond_signal(&cond), 0);
        if (does_panic) janus_task_panic("with a lock");
      };
      Scope scope(JANUS_ON_ERROR_COLLECT);
      scope.go(parent);
      scope.end();
      CHECK_EQ(told, 2);
    }
  });
}

// --- Conditions ---

TEST(cond, a_signal_ends_one_wait_and_a_broadcast_all) {
  on_any_workers([] {
    janus_mutex mutex = {};
    janus_cond cond = {};
    int waiting = 0, awake = 0;
    auto waits = [&] {
      CHECK_EQ(janus_mutex_lock(&mutex), 0);
      ++waiting;
      CHECK_EQ(janus_cond_wait(&cond, &mutex), 0);
      ++awake;
      CHECK_EQ(janus_mutex_unlock(&mutex), 0);
    };
    auto is_so = [&](const int& count, int wanted) {
      return eventually([&] {
        CHECK_EQ(janus_mutex_lock(&mutex), 0);
        const bool is_it = count == wanted;
        CHECK_EQ(janus_mutex_unlock(&mutex), 0);
        return is_it;
      });
    };
    CHECK_EQ(janus_cond_signal(&cond), 0);
    CHECK_EQ(janus_cond_broadcast(&cond), 0);
    Scope scope;
    for (int i = 0; i < 6; ++i) scope.go(waits);
    CHECK(is_so(waiting, 6));  // all have released it
    CHECK_EQ(awake, 0);
    CHECK_EQ(janus_cond_signal(&cond), 0);
    CHECK(is_so(awake, 1));
    CHECK_EQ(janus_cond_broadcast(&cond), 0);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(awake, 6);
    CHECK_EQ(cond.word, 0u);
    CHECK_EQ(mutex.word, 0u);
  });
}

TEST(cond, no_signal_is_missed) {
  on_any_workers([] {
    janus_mutex mutex = {};
    janus_cond changed = {};
    int count = 0;
    constexpr int kRounds = 60;
    struct Side {
      janus_mutex& mutex;
      janus_cond& changed;
      int& count;
      int mine;
      void operator()() {
        CHECK_EQ(janus_mutex_lock(&mutex), 0);
        while (count < kRounds) {
          if (count % 2 == mine) {
            ++count;
            CHECK_EQ(janus_cond_signal(&changed), 0);
          } else {
            CHECK_EQ(janus_cond_wait(&changed, &mutex), 0);
          }
        }
        CHECK_EQ(janus_mutex_unlock(&mutex), 0);
      }
    } sides[] = {{mutex, changed, count, 0}, {mutex, changed, count, 1}};
    Scope scope;
    scope.go(sides[0]);
    scope.go(sides[1]);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(count, kRounds);
  });
}

TEST(cond, the_mutex_is_held_again_whatever_the_wait_answers) {
  on_any_workers([] {
    janus_mutex mutex = {};
    janus_cond cond = {};
    CHECK_EQ(janus_cond_wait(&cond, &mutex), JANUS_E_STATE);  // not held
    CHECK_EQ(mutex.word, 0u);
    CHECK_EQ(janus_mutex_lock(&mutex), 0);
    CHECK_EQ(janus_cond_wait_until(&cond, &mutex, 1), JANUS_E_TIMEOUT);
    CHECK_EQ(janus_cond_wait_until(&cond, &mutex, soon()), JANUS_E_TIMEOUT);
    CHECK_EQ(janus_cond_wait(nullptr, &mutex), JANUS_E_INVALID);
    CHECK_EQ(janus_cond_wait(&cond, nullptr), JANUS_E_INVALID);
    CHECK_EQ(janus_mutex_unlock(&mutex), 0);

    int answers = 0;
    auto told = [&] {
      CHECK_EQ(janus_mutex_lock(&mutex), 0);
      CHECK_EQ(janus_cond_wait(&cond, &mutex), JANUS_CANCELLED);
      ++answers;
      CHECK_EQ(janus_cond_wait(&cond, &mutex), JANUS_CANCELLED);
      CHECK_EQ(janus_mutex_unlock(&mutex), 0);  // also now
    };
    auto passed = [&] {
      CHECK_EQ(janus_mutex_lock(&mutex), 0);
      CHECK_EQ(janus_cond_wait_until(&cond, &mutex, soon()), JANUS_E_TIMEOUT);
      ++answers;
      CHECK_EQ(janus_mutex_unlock(&mutex), 0);
    };
    Scope first, second;
    CHECK(blocks(first.go(told)));
    CHECK_EQ(janus_mutex_lock(&mutex), 0);
    first.cancel();
    const janus_task late_one = second.go(passed);
    for (int i = 0; i < 50; ++i) janus_yield();
    CHECK_EQ(answers, 0);  // they have to have the mutex first
    CHECK_EQ(janus_mutex_unlock(&mutex), 0);
    CHECK_EQ(second.end(), 0);
    first.end();
    (void)late_one;
    CHECK_EQ(answers, 2);
    CHECK_EQ(janus_cond_signal(&cond), 0);
    CHECK_EQ(cond.word, 0u);  // nobody waits any more
    CHECK_EQ(mutex.word, 0u);
  });
}

TEST(cond, a_wait_comes_back_to_a_mutex_whose_holder_has_ended) {
  on_any_workers([] {
    janus_mutex mutex = {};
    janus_cond cond = {};
    auto waits = [&] {
      CHECK_EQ(janus_mutex_lock(&mutex), 0);
      CHECK_EQ(janus_cond_wait(&cond, &mutex), JANUS_E_STATE);
      CHECK_EQ(janus_mutex_heal(&mutex), 0);
      CHECK_EQ(janus_mutex_unlock(&mutex), 0);
    };
    auto breaks = [&] {
      CHECK_EQ(janus_mutex_lock(&mutex), 0);
      CHECK_EQ(janus_cond_signal(&cond), 0);
      for (int i = 0; i < 10; ++i) janus_yield();
      janus_task_panic("with a lock");
    };
    Scope scope, broken(JANUS_ON_ERROR_COLLECT);
    CHECK(blocks(scope.go(waits)));
    broken.go(breaks);
    broken.end();
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(mutex.word, 0u);
  });
}

TEST(cond, a_wait_whose_time_has_passed_tells_of_the_end_of_the_holder_and_a_cancelled_one_of_the_cancel) {
  on_any_workers([] {
    janus_mutex mutex = {};
    janus_cond cond = {};
    bool is_held = false;
    // Ends while it holds the lock, after `until`; but for who has got it too late.
    auto holds = [&](std::uint64_t until) {
      CHECK_EQ(janus_mutex_lock(&mutex), 0);
      if (janus_now_ns() < until) {
        std::atomic_ref(is_held).store(true);
        CHECK_EQ(janus_sleep_until(until + kMs), 0);
      } else {
        CHECK_EQ(janus_mutex_unlock(&mutex), 0);
      }
    };
    auto waits = [&](std::uint64_t until) {
      CHECK_EQ(janus_mutex_lock(&mutex), 0);
      const int answer = janus_cond_wait_until(&cond, &mutex, until);
      CHECK_EQ(janus_mutex_heal(&mutex), 0);
      CHECK_EQ(janus_mutex_unlock(&mutex), 0);
      return answer;
    };

    for (std::uint64_t time = kMs; !is_held; time *= 4) {
      const std::uint64_t until = janus_now_ns() + time;
      Scope one, holder;
      auto times_out = [&] {
        const int answer = waits(until);
        CHECK_EQ(answer, is_held ? JANUS_E_STATE : JANUS_E_TIMEOUT);
      };
      auto in_time = [&] { holds(until); };
      const janus_task waiter = one.go(times_out);
      CHECK(eventually([&] { return janus_task_state(waiter) == JANUS_TASK_BLOCKED || janus_now_ns() >= until; }));
      holder.go(in_time);
      CHECK_EQ(holder.end(), 0);
      CHECK_EQ(one.end(), 0);
    }

    is_held = false;
    Scope other, again;
    auto is_cancelled = [&] {
      const int answer = waits(late());
      CHECK_EQ(answer, JANUS_CANCELLED);
      return answer;
    };
    auto holds_on = [&] {
      CHECK_EQ(janus_mutex_lock(&mutex), 0);
      std::atomic_ref(is_held).store(true);
      CHECK_EQ(janus_sleep_ns(3 * kMs), 0);
    };
    CHECK(blocks(other.go(is_cancelled)));
    again.go(holds_on);
    CHECK(eventually([&] { return std::atomic_ref(is_held).load(); }));
    other.cancel();
    CHECK_EQ(again.end(), 0);
    other.end();
    CHECK_EQ(mutex.word, 0u);
  });
}

// --- Once ---

TEST(once_call, one_task_calls_it_and_the_others_wait) {
  on_any_workers([] {
    janus_once once = {};
    struct Made {
      int count = 0;
      bool is_done = false;
    } made;
    constexpr auto kMake = [](void* arg) {
      auto& it = *static_cast<Made*>(arg);
      ++it.count;
      for (int i = 0; i < 5; ++i) janus_yield();
      it.is_done = true;
    };
    auto user = [&] {
      CHECK_EQ(janus_once_call(&once, kMake, &made), 0);
      CHECK(made.is_done);
    };
    Scope scope;
    for (int i = 0; i < 10; ++i) scope.go(user);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(janus_once_call(&once, kMake, &made), 0);
    CHECK_EQ(janus_once_call_until(&once, kMake, &made, 1), 0);
    CHECK_EQ(made.count, 1);
    CHECK_EQ(janus_once_call(&once, nullptr, nullptr), JANUS_E_INVALID);
  });
}

TEST(once_call, a_call_that_panics_is_made_again_and_one_that_needs_itself_is_a_deadlock) {
  on_any_workers([] {
    static janus_once once;
    static std::atomic<int> tries;
    once = {};
    tries = 0;
    constexpr auto kMake = [](void*) {
      CHECK_EQ(janus_once_call(
                   &once, [](void*) {}, nullptr),
               JANUS_E_DEADLOCK);
      if (tries.fetch_add(1) < 2) janus_task_panic("not yet");
    };
    auto user = [&] { CHECK_EQ(janus_once_call(&once, kMake, nullptr), 0); };
    Scope scope(JANUS_ON_ERROR_COLLECT);
    for (int i = 0; i < 6; ++i) scope.go(user);
    scope.end();
    CHECK_EQ(tries.load(), 3);
    CHECK_EQ(janus_once_call(&once, kMake, nullptr), 0);
  });
}

TEST(once_call, a_wait_for_another_task_can_end_early) {
  on_any_workers([] {
    static janus_once once;
    once = {};
    auto slow = [&] {
      CHECK_EQ(janus_once_call(
                   &once, [](void*) { CHECK_EQ(janus_park(-1), 0); }, nullptr),
               0);
    };
    std::atomic<bool> has_passed{false};
    auto told = [&] {
      CHECK_EQ(janus_once_call_until(
                   &once, [](void*) {}, nullptr, soon()),
               JANUS_E_TIMEOUT);
      has_passed.store(true);
      CHECK_EQ(janus_once_call(
                   &once, [](void*) {}, nullptr),
               JANUS_CANCELLED);
    };
    Scope scope, waiting;
    const janus_task caller = scope.go(slow);
    CHECK(blocks(caller));
    waiting.go(told);
    CHECK(eventually([&] { return has_passed.load(); }));
    waiting.cancel();
    waiting.end();
    CHECK_EQ(janus_unpark(caller), 0);
    CHECK_EQ(scope.end(), 0);
  });
}

}  // namespace janus::test
