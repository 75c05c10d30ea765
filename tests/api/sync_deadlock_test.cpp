// SPDX-License-Identifier: Apache-2.0
// sync_deadlock_test.cpp — circles of tasks that wait for locks, and for the ends, of each other: the wait that closes one
// is refused, while other tasks run. Where nobody can run, waits for locks are a deadlock of the whole runtime.
#include <janus/sync.h>

#include "tests/api/world.h"

namespace janus::test {

namespace {

bool blocks(janus_task task) {
  return eventually([&] { return janus_task_state(task) == JANUS_TASK_BLOCKED; });
}

// Runs `body` beside a task that can always run.
template <class Body>
void beside_another(Body body) {
  on_any_workers([body] {
    Scope busy;
    busy.go(yield_until_cancelled, nullptr);
    body();
    busy.cancel();
    busy.end();
  });
}

}  // namespace

TEST(lock_deadlock, each_of_some_tasks_wants_the_lock_of_the_next) {
  beside_another([] {
    constexpr int kMost = 6;
    for (int count = 2; count <= kMost; ++count) {
      static janus_mutex mutexes[kMost];
      static std::atomic<int> locked, told;
      static int tasks;
      for (janus_mutex& mutex : mutexes) mutex = {};
      locked = told = 0;
      tasks = count;
      auto user = [](void* number) -> std::int64_t {
        const auto mine = static_cast<int>(return_arg(number));
        CHECK_EQ(janus_mutex_lock(&mutexes[mine]), 0);
        locked.fetch_add(1);
        CHECK(eventually([] { return locked.load() == tasks; }));
        const int answer = janus_mutex_lock(&mutexes[(mine + 1) % tasks]);
        CHECK(answer == 0 || answer == JANUS_E_DEADLOCK);
        if (answer == JANUS_E_DEADLOCK) told.fetch_add(1);
        if (answer == 0) CHECK_EQ(janus_mutex_unlock(&mutexes[(mine + 1) % tasks]), 0);
        CHECK_EQ(janus_mutex_unlock(&mutexes[mine]), 0);
        return 0;
      };
      Scope scope;
      for (int i = 0; i < count; ++i) scope.go(user, as_arg(i));
      CHECK_EQ(scope.end(), 0);
      CHECK_GE(told.load(), 1);
      for (const janus_mutex& mutex : mutexes) CHECK_EQ(mutex.word, 0u);
    }
  });
}

TEST(lock_deadlock, a_long_row_of_waits_is_none) {
  beside_another([] {
    constexpr int kTasks = 8;
    static janus_mutex mutexes[kTasks + 1];
    for (janus_mutex& mutex : mutexes) mutex = {};
    CHECK_EQ(janus_mutex_lock(&mutexes[0]), 0);
    auto user = [](void* number) -> std::int64_t {
      const auto mine = static_cast<int>(return_arg(number));
      CHECK_EQ(janus_mutex_lock(&mutexes[mine + 1]), 0);
      CHECK_EQ(janus_mutex_lock(&mutexes[mine]), 0);
      CHECK_EQ(janus_mutex_unlock(&mutexes[mine]), 0);
      CHECK_EQ(janus_mutex_unlock(&mutexes[mine + 1]), 0);
      return 0;
    };
    Scope scope;
    for (int i = 0; i < kTasks; ++i) CHECK(blocks(scope.go(user, as_arg(i))));
    CHECK_EQ(janus_mutex_unlock(&mutexes[0]), 0);
    CHECK_EQ(scope.end(), 0);
  });
}

TEST(lock_deadlock, a_task_joins_the_one_that_wants_its_lock) {
  beside_another([] {
    janus_mutex mutex = {};
    janus_task first = {};
    std::atomic<int> told{0};
    auto holds_and_joins = [&] {
      CHECK_EQ(janus_mutex_lock(&mutex), 0);
      CHECK(eventually([&] { return std::atomic_ref(first.raw).load() != 0; }));
      const int answer = janus_task_join(first, nullptr);
      CHECK(answer == 0 || answer == JANUS_E_DEADLOCK);
      told.fetch_add(answer != 0 ? 1 : 0);
      CHECK_EQ(janus_mutex_unlock(&mutex), 0);
    };
    auto wants = [&] {
      while (mutex.word == 0) janus_yield();
      const int answer = janus_mutex_lock(&mutex);
      CHECK(answer == 0 || answer == JANUS_E_DEADLOCK);
      told.fetch_add(answer != 0 ? 1 : 0);
      if (answer == 0) CHECK_EQ(janus_mutex_unlock(&mutex), 0);
    };
    Scope scope;
    scope.go(holds_and_joins);
    const janus_task task = scope.go(wants);
    std::atomic_ref(first.raw).store(task.raw);
    CHECK_EQ(scope.end(), 0);
    CHECK_GE(told.load(), 1);
  });
}

TEST(lock_deadlock, two_tasks_join_each_other) {
  beside_another([] {
    static std::atomic<std::uint64_t> handles[2];
    static std::atomic<int> told;
    handles[0] = handles[1] = 0;
    told = 0;
    auto joins = [](void* number) -> std::int64_t {
      const auto mine = static_cast<std::size_t>(return_arg(number));
      CHECK(eventually([&] { return handles[1 - mine].load() != 0; }));
      const int answer = janus_task_join({handles[1 - mine].load()}, nullptr);
      CHECK(answer == 0 || answer == JANUS_E_DEADLOCK);
      told.fetch_add(answer != 0 ? 1 : 0);
      return 0;
    };
    Scope scope;
    for (std::size_t i = 0; i < 2; ++i) handles[i] = scope.go(joins, as_arg(static_cast<std::int64_t>(i))).raw;
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(told.load(), 1);
  });
}

// The parent may give up, or unlock before it awaits others, so a wait for its lock is not refused.
TEST(lock_deadlock, a_child_can_wait_for_the_lock_of_a_parent_that_awaits_it) {
  beside_another([] {
    janus_mutex mutex = {};
    auto child = [&] { CHECK_EQ(janus_mutex_lock_until(&mutex, janus_now_ns() + 100'000), JANUS_E_TIMEOUT); };
    CHECK_EQ(janus_mutex_lock(&mutex), 0);
    Scope scope;
    scope.go(child);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(janus_mutex_unlock(&mutex), 0);
  });
}

TEST(lock_deadlock, a_wait_with_a_deadline_is_refused_too_and_one_that_has_ended_closes_nothing) {
  beside_another([] {
    janus_mutex first = {}, second = {};
    constexpr std::uint64_t kHour = 3'600'000'000'000;
    auto other = [&] {
      CHECK_EQ(janus_mutex_lock(&second), 0);
      CHECK_EQ(janus_mutex_lock(&first), JANUS_CANCELLED);  // its edge is gone with its wait
      janus_park(-1);
      for (int i = 0; i < 50; ++i) janus_yield();
      CHECK_EQ(janus_mutex_unlock(&second), 0);
    };
    CHECK_EQ(janus_mutex_lock(&first), 0);
    Scope scope;
    CHECK(blocks(scope.go(other)));
    CHECK_EQ(janus_mutex_lock_until(&second, janus_now_ns() + kHour), JANUS_E_DEADLOCK);
    scope.cancel();
    const int answer = janus_mutex_lock(&second);
    CHECK(answer == 0 || answer == JANUS_E_DEADLOCK);
    if (answer == 0) CHECK_EQ(janus_mutex_unlock(&second), 0);
    scope.end();
    CHECK_EQ(janus_mutex_unlock(&first), 0);
  });
}

// Nobody can run: the wait of the child for a semaphore that nobody releases, beside the parent's for the child.
TEST(lock_deadlock, where_nobody_can_run_the_runtime_ends_the_waits) {
  for (const unsigned workers : {1u, 2u}) {
    janus_semaphore semaphore = {};
    int answer = 0;
    const long result = run_in(with_workers(workers), [&] {
      auto waits = [&] { answer = janus_semaphore_acquire(&semaphore); };
      Scope scope;
      scope.go(waits);
      scope.end();
    });
    CHECK_EQ(result, JANUS_E_DEADLOCK);
    CHECK_EQ(answer, JANUS_CANCELLED);
  }
}

}  // namespace janus::test
