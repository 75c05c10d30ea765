// SPDX-License-Identifier: Apache-2.0
// once_test.cpp — what the project's libraries use of rt/abi/lock_by_address.cpp: one-time initialisation and locks by
// address, among tasks; and the errors that a thread outside tasks gets.
#include "tests/task/bad_memory.h"

extern "C" {
int janus_once_begin(std::uint8_t* flag);
void janus_once_end(std::uint8_t* flag, int is_done);
int janus_hold_try(const void* object);
void janus_hold_end(const void* object);
}

namespace janus::test {

TEST(once, one_task_initialises_and_the_others_wait) {
  for (const unsigned workers : kWorkerCounts) {
    run_both_ways(workers, [] {
      std::uint8_t flag = 0;
      std::atomic<int> tried{0}, done{0};
      auto user = [&] {
        for (;;) {
          const int answer = janus_once_begin(&flag);
          if (answer == 0) return done.load() == 1 ? 0 : -5;
          if (answer != 1) return -6;
          const bool succeeds = tried.fetch_add(1) == 2;  // the third task that tries
          for (int i = 0; i < 5; ++i) janus_yield();
          if (succeeds) done.fetch_add(1);
          janus_once_end(&flag, succeeds ? 1 : 0);
        }
      };
      Scope scope(JANUS_ON_ERROR_COLLECT);
      for (int i = 0; i < 20; ++i) scope.go(user);
      CHECK_EQ(scope.end(), 0);
      CHECK_EQ(tried.load(), 3);
      CHECK_NE(flag, 0);
    });
  }
}

TEST(once, a_task_that_waited_for_a_static_holds_no_lock_afterwards) {
  run_both_ways(1, [] {
    std::uint8_t flag = 0;
    int gone_on = 0;
    CHECK_EQ(janus_once_begin(&flag), 1);
    auto waits = [&] {
      CHECK_EQ(janus_once_begin(&flag), 0);
      ++gone_on;
      for (int i = 0; i < 100 && gone_on < 2; ++i) janus_yield();
      CHECK_EQ(gone_on, 2);  // the other one does not wait for this one's end
    };
    Scope scope;
    const janus_task waiting[] = {scope.go(waits), scope.go(waits)};
    for (const janus_task task : waiting) CHECK(stops(task));
    janus_once_end(&flag, 1);
    CHECK_EQ(scope.end(), 0);
  });
}

TEST(once, a_static_that_needs_itself_panics_instead_of_waiting) {
  run_both_ways(1, [] {
    std::uint8_t flag = 0;
    CHECK_EQ(janus_once_begin(&flag), 1);
    CHECK_EQ(janus_once_begin(&flag), JANUS_E_DEADLOCK);
    janus_once_end(&flag, 1);
    CHECK_EQ(janus_once_begin(&flag), 0);
  });
}

TEST(once, a_lock_by_address_is_one_tasks_until_it_gives_it_back_or_ends) {
  for (const unsigned workers : kWorkerCounts) {
    run_both_ways(workers, [] {
      alignas(8) static int object, other;
      CHECK_EQ(janus_hold_try(&object), 1);
      CHECK_EQ(janus_hold_try(&object), 0);
      const auto tries = [] {
        if (janus_hold_try(&object) == 0 && janus_hold_try(&other) == 1) janus_task_panic("with a lock");
        return 0;
      };
      CHECK(panics(tries));
      CHECK_EQ(janus_hold_try(&other), 1);
      janus_hold_end(&other);
      janus_hold_end(&object);
      const auto takes = [] { return janus_hold_try(&object); };
      CHECK_EQ(outcome_of(takes).code, 1);
      CHECK_EQ(outcome_of(takes).code, 1);
      CHECK_EQ(janus_hold_try(&object), 1);
      janus_hold_end(&object);
    });
  }
}

// Addresses that have equal low or high bits, and some that are far apart.
const void* made_up(unsigned number) {
  const std::uint64_t n = number / 4 + 1;
  const std::uint64_t words[] = {n, n << 52, std::uint64_t{1} << (n % 63), n * 0x9e3779b97f4a7c15 >> 1};
  return reinterpret_cast<const void*>(words[number % 4] << 3 | number % 4);
}

TEST(once, each_lock_has_one_holder_at_a_time) {
  constexpr unsigned kLocks = 800, kMax = 64, kSteps = 2000;
  for (const unsigned workers : kWorkerCounts) {
    run_both_ways(workers, [] {
      static std::atomic<int> holders[kLocks];
      std::atomic<unsigned> seed{1};
      auto user = [&] {
        unsigned held[kMax], count = 0;
        std::uint64_t state = seed.fetch_add(1);
        const auto give_back = [&](unsigned which) {
          holders[held[which]].store(0);
          janus_hold_end(made_up(held[which]));
          held[which] = held[--count];
        };
        for (unsigned i = 0; i < kSteps; ++i) {
          state = state * 6364136223846793005 + 1442695040888963407;
          const auto number = static_cast<unsigned>(state >> 33);
          if (count == kMax || (count != 0 && number % 5 < 2)) {
            give_back(number / 8 % count);
          } else {
            // Several numbers give the same power of two; only one of them is used.
            const unsigned lock = number / 8 % kLocks, is = lock % 4 == 2 ? lock / 4 % 63 * 4 + 2 : lock;
            if (janus_hold_try(made_up(is)) == 1) {
              CHECK_EQ(holders[is].exchange(1), 0);
              held[count++] = is;
            }
          }
          if (number % 16 == 0) janus_yield();
        }
        while (count != 0) give_back(0);
        return 0;
      };
      Scope scope(JANUS_ON_ERROR_COLLECT);
      for (int i = 0; i < 20; ++i) scope.go(user);
      CHECK_EQ(scope.end(), 0);
      // All locks are free again.
      for (unsigned lock = 0; lock < kLocks; lock += 4) {
        CHECK_EQ(janus_hold_try(made_up(lock)), 1);
        janus_hold_end(made_up(lock));
      }
    });
  }
}

TEST(once, a_thread_outside_tasks_can_use_neither_statics_nor_locks) {
  std::uint8_t flag = 0;
  int object = 0;
  CHECK_EQ(janus_once_begin(&flag), JANUS_E_NO_TASK);
  janus_once_end(&flag, 1);
  CHECK_EQ(flag, 0);
  CHECK_EQ(janus_hold_try(&object), JANUS_E_NO_TASK);
  janus_hold_end(&object);
}

}  // namespace janus::test
