// SPDX-License-Identifier: Apache-2.0
// once_test.cpp — what our libraries are built on (rt/abi/once.cpp): what is done once, and locks by address, among
// tasks, and what a thread outside tasks is told.
#include "tests/task/bad_memory.h"

extern "C" {
int janus_once_begin(std::uint8_t* flag);
void janus_once_end(std::uint8_t* flag, int is_done);
int janus_hold_try(const void* object);
void janus_hold_end(const void* object);
}

namespace janus::test {

TEST(once, one_does_it_and_the_others_wait_until_it_is_done) {
  for (const unsigned workers : kWorkerCounts) {
    run_both_ways(workers, [] {
      std::uint8_t flag = 0;
      std::atomic<int> tried{0}, done{0};
      auto user = [&] {
        for (;;) {
          const int answer = janus_once_begin(&flag);
          if (answer == 0) return done.load() == 1 ? 0 : -5;
          if (answer != 1) return -6;
          const bool succeeds = tried.fetch_add(1) == 2;  // the third who tries
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

TEST(once, a_task_that_is_at_it_already_cannot_wait_for_itself) {
  run_both_ways(1, [] {
    std::uint8_t flag = 0;
    CHECK_EQ(janus_once_begin(&flag), 1);
    CHECK_EQ(janus_once_begin(&flag), JANUS_E_DEADLOCK);
    janus_once_end(&flag, 1);
    CHECK_EQ(janus_once_begin(&flag), 0);
  });
}

TEST(once, a_lock_by_address_is_one_tasks_until_it_gives_it_back_or_is_ended_by_force) {
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
      const auto takes = [] {
        const int answer = janus_hold_try(&object);
        janus_hold_end(&object);
        return answer;
      };
      CHECK_EQ(outcome_of(takes).code, 1);
    });
  }
}

TEST(once, a_thread_outside_tasks_has_neither) {
  std::uint8_t flag = 0;
  int object = 0;
  CHECK_EQ(janus_once_begin(&flag), JANUS_E_NO_TASK);
  janus_once_end(&flag, 1);
  CHECK_EQ(flag, 0);
  CHECK_EQ(janus_hold_try(&object), JANUS_E_NO_TASK);
  janus_hold_end(&object);
}

}  // namespace janus::test
