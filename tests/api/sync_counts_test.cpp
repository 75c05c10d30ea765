// SPDX-License-Identifier: Apache-2.0
// sync_counts_test.cpp — janus/sync.h: reader-writer locks, semaphores, barriers, wait groups, events.
#include <janus/sync.h>

#include "tests/api/world.h"

namespace janus::test {

namespace {

constexpr std::uint64_t kMs = 1'000'000;

bool blocks(janus_task task) {
  return eventually([&] { return janus_task_state(task) == JANUS_TASK_BLOCKED; });
}

std::uint64_t soon() {
  return janus_now_ns() + kMs;
}

}  // namespace

TEST(rwlock, readers_share_it_and_writers_do_not) {
  on_any_workers([] {
    janus_rwlock lock = {};
    std::atomic<int> readers{0}, writers{0};
    auto reads = [&] {
      for (int i = 0; i < 20; ++i) {
        CHECK_EQ(janus_rwlock_read_lock(&lock), 0);
        readers.fetch_add(1);
        CHECK_EQ(writers.load(), 0);
        janus_yield();
        readers.fetch_sub(1);
        CHECK_EQ(janus_rwlock_read_unlock(&lock), 0);
      }
    };
    auto writes = [&] {
      for (int i = 0; i < 20; ++i) {
        CHECK_EQ(janus_rwlock_write_lock(&lock), 0);
        CHECK_EQ(writers.fetch_add(1), 0);
        CHECK_EQ(readers.load(), 0);
        janus_yield();
        writers.fetch_sub(1);
        CHECK_EQ(janus_rwlock_write_unlock(&lock), 0);
      }
    };
    Scope scope;
    for (int i = 0; i < 5; ++i) scope.go(reads);
    for (int i = 0; i < 2; ++i) scope.go(writes);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(lock.words[0], 0u);
  });
}

TEST(rwlock, a_writer_that_waits_stops_readers_and_then_all_of_them_come) {
  on_any_workers([] {
    janus_rwlock lock = {};
    janus_barrier together = {};
    CHECK_EQ(janus_barrier_init(&together, 4), 0);
    int wrote = 0;
    auto writes = [&] {
      CHECK_EQ(janus_rwlock_write_lock(&lock), 0);
      ++wrote;
      CHECK_EQ(janus_rwlock_write_unlock(&lock), 0);
    };
    auto reads = [&] {
      CHECK_EQ(janus_rwlock_read_lock(&lock), 0);
      CHECK_EQ(wrote, 1);
      CHECK_GE(janus_barrier_wait(&together), 0);  // all four read at once, and before the second writer
      CHECK_EQ(janus_rwlock_read_unlock(&lock), 0);
    };
    CHECK_EQ(janus_rwlock_read_lock(&lock), 0);
    Scope scope;
    CHECK(blocks(scope.go(writes)));
    CHECK_EQ(janus_rwlock_try_read_lock(&lock), JANUS_E_WOULD_BLOCK);
    CHECK_EQ(janus_rwlock_try_write_lock(&lock), JANUS_E_WOULD_BLOCK);
    for (int i = 0; i < 2; ++i) CHECK(blocks(scope.go(reads)));
    CHECK(blocks(scope.go(writes)));
    for (int i = 0; i < 2; ++i) CHECK(blocks(scope.go(reads)));
    CHECK_EQ(janus_rwlock_read_unlock(&lock), 0);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(wrote, 2);
    CHECK_EQ(lock.words[0], 0u);
  });
}

TEST(rwlock, readers_go_on_when_the_writer_that_stopped_them_gives_up) {
  on_any_workers([] {
    janus_rwlock lock = {};
    auto told = [&] { CHECK_EQ(janus_rwlock_write_lock(&lock), JANUS_CANCELLED); };
    auto passed = [&] { CHECK_EQ(janus_rwlock_write_lock_until(&lock, soon()), JANUS_E_TIMEOUT); };
    auto reads = [&] {
      CHECK_EQ(janus_rwlock_read_lock(&lock), 0);
      CHECK_EQ(janus_rwlock_read_unlock(&lock), 0);
    };
    CHECK_EQ(janus_rwlock_read_lock(&lock), 0);
    Scope writers, readers;
    CHECK(blocks(writers.go(told)));
    for (int i = 0; i < 3; ++i) CHECK(blocks(readers.go(reads)));
    writers.cancel();
    CHECK_EQ(readers.end(), 0);
    writers.end();
    Scope more;
    more.go(passed);
    CHECK_EQ(more.end(), 0);
    CHECK_EQ(janus_rwlock_try_read_lock(&lock), 0);
    CHECK_EQ(janus_rwlock_read_unlock(&lock), 0);
    CHECK_EQ(janus_rwlock_read_unlock(&lock), 0);
    CHECK_EQ(lock.words[0], 0u);
  });
}

TEST(rwlock, wrong_calls_are_errors) {
  on_any_workers([] {
    janus_rwlock lock = {};
    CHECK_EQ(janus_rwlock_read_unlock(&lock), JANUS_E_STATE);
    CHECK_EQ(janus_rwlock_write_unlock(&lock), JANUS_E_STATE);
    CHECK_EQ(janus_rwlock_write_lock(&lock), 0);
    CHECK_EQ(janus_rwlock_write_lock(&lock), JANUS_E_DEADLOCK);
    CHECK_EQ(janus_rwlock_read_lock(&lock), JANUS_E_DEADLOCK);
    CHECK_EQ(janus_rwlock_try_read_lock(&lock), JANUS_E_WOULD_BLOCK);
    CHECK_EQ(janus_rwlock_try_write_lock(&lock), JANUS_E_WOULD_BLOCK);
    CHECK_EQ(janus_rwlock_read_unlock(&lock), JANUS_E_STATE);
    auto stranger = [&] {
      CHECK_EQ(janus_rwlock_write_unlock(&lock), JANUS_E_STATE);
      CHECK_EQ(janus_rwlock_read_lock_until(&lock, 1), JANUS_E_TIMEOUT);
      CHECK_EQ(janus_rwlock_write_lock_until(&lock, soon()), JANUS_E_TIMEOUT);
    };
    Scope scope;
    scope.go(stranger);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(janus_rwlock_write_unlock(&lock), 0);
    CHECK_EQ(lock.words[0], 0u);
    CHECK_EQ(janus_rwlock_try_write_lock(&lock), 0);
    CHECK_EQ(janus_rwlock_write_unlock(&lock), 0);
    CHECK_EQ(janus_rwlock_read_lock(nullptr), JANUS_E_INVALID);
    CHECK_EQ(janus_rwlock_write_unlock(nullptr), JANUS_E_INVALID);
  });
}

TEST(rwlock, the_lock_of_a_writer_that_has_ended_goes_on) {
  on_any_workers([] {
    janus_rwlock lock = {};
    auto writes = [&]() -> std::int64_t {
      CHECK_EQ(janus_rwlock_write_lock(&lock), 0);
      return janus_park(-1);
    };
    int told = 0;
    auto reads = [&] {
      const int answer = janus_rwlock_read_lock(&lock);
      CHECK(answer == 0 || answer == JANUS_E_STATE);
      if (answer == JANUS_E_STATE) ++told;
      CHECK_EQ(janus_rwlock_read_unlock(&lock), 0);
    };
    Scope writer, others;
    const janus_task task = writer.go(writes);
    CHECK(blocks(task));
    for (int i = 0; i < 3; ++i) CHECK(blocks(others.go(reads)));
    CHECK_EQ(janus_unpark(task), 0);
    CHECK_EQ(others.end(), 0);
    CHECK_EQ(told, 3);
    CHECK_EQ(writer.end(), 0);
    Scope again;
    CHECK(blocks(again.go(writes)));
    again.cancel();
    again.end();
    CHECK_EQ(janus_rwlock_write_lock(&lock), JANUS_E_STATE);  // nobody waited
    CHECK_EQ(janus_rwlock_write_unlock(&lock), 0);
    CHECK_EQ(janus_rwlock_write_lock(&lock), 0);
    CHECK_EQ(janus_rwlock_write_unlock(&lock), 0);
  });
}

// Whoever looks at memory that says now that nobody writes goes on waiting, and watches nobody.
TEST(rwlock, waiters_sleep_though_their_memory_was_cleared_when_the_writer_ended) {
  on_any_workers([] {
    janus_rwlock lock = {};
    auto writes = [&]() -> std::int64_t {
      CHECK_EQ(janus_rwlock_write_lock(&lock), 0);
      return janus_park(-1);
    };
    auto reads = [&] { return janus_rwlock_read_lock(&lock); };
    auto writes_too = [&] { return janus_rwlock_write_lock(&lock); };
    Scope writer, others;
    const janus_task task = writer.go(writes);
    CHECK(blocks(task));
    const janus_task waiting[] = {others.go(reads), others.go(reads), others.go(writes_too)};
    for (const janus_task one : waiting) CHECK(blocks(one));
    lock = {};
    CHECK_EQ(janus_unpark(task), 0);
    CHECK_EQ(writer.end(), 0);
    for (const janus_task one : waiting) CHECK(blocks(one));
    others.cancel();
    others.end();
  });
}

// --- Semaphores ---

TEST(semaphore, no_more_tasks_go_in_than_there_are_permits) {
  on_any_workers([] {
    janus_semaphore semaphore = {};
    CHECK_EQ(janus_semaphore_init(&semaphore, 3), 0);
    std::atomic<int> inside{0};
    auto user = [&] {
      for (int i = 0; i < 20; ++i) {
        CHECK_EQ(janus_semaphore_acquire(&semaphore), 0);
        CHECK(inside.fetch_add(1) < 3);
        janus_yield();
        inside.fetch_sub(1);
        CHECK_EQ(janus_semaphore_release(&semaphore, 1), 0);
      }
    };
    Scope scope;
    for (int i = 0; i < 8; ++i) scope.go(user);
    CHECK_EQ(scope.end(), 0);
    for (int i = 0; i < 3; ++i) CHECK_EQ(janus_semaphore_try_acquire(&semaphore), 0);
    CHECK_EQ(janus_semaphore_try_acquire(&semaphore), JANUS_E_WOULD_BLOCK);
    CHECK_EQ(semaphore.word, 0u);
  });
}

TEST(semaphore, a_release_wakes_as_many_as_it_has_permits_in_the_order_of_their_waits) {
  run_in(with_workers(1), [] {
    janus_semaphore semaphore = {};
    int order[10], count = 0;
    struct User {
      janus_semaphore* semaphore;
      int* order;
      int* count;
      int number;
      void operator()() {
        CHECK_EQ(janus_semaphore_acquire(semaphore), 0);
        order[(*count)++] = number;
      }
    } users[10];
    Scope scope;
    for (int i = 0; i < 10; ++i) {
      users[i] = {&semaphore, order, &count, i};
      CHECK(blocks(scope.go(users[i])));
    }
    CHECK_EQ(janus_semaphore_release(&semaphore, 4), 0);
    CHECK_EQ(janus_semaphore_try_acquire(&semaphore), JANUS_E_WOULD_BLOCK);
    for (int i = 0; i < 20; ++i) janus_yield();
    CHECK_EQ(count, 4);
    CHECK_EQ(janus_semaphore_release(&semaphore, 100), 0);
    CHECK_EQ(scope.end(), 0);
    bool seen[10] = {};
    for (int i = 0; i < 10; ++i) seen[order[i]] = true;
    for (int i = 0; i < 4; ++i) CHECK(order[i] < 4);
    for (const bool each : seen) CHECK(each);
    CHECK_EQ(semaphore.word >> 32, 94u);
  });
}

TEST(semaphore, permits_have_bounds) {
  on_any_workers([] {
    janus_semaphore semaphore = {};
    CHECK_EQ(janus_semaphore_release(&semaphore, 0), JANUS_E_INVALID);
    CHECK_EQ(janus_semaphore_release(&semaphore, UINT32_MAX), 0);
    CHECK_EQ(janus_semaphore_release(&semaphore, 1), JANUS_E_STATE);
    CHECK_EQ(janus_semaphore_acquire(&semaphore), 0);
    CHECK_EQ(janus_semaphore_release(&semaphore, 2), JANUS_E_STATE);
    CHECK_EQ(janus_semaphore_release(&semaphore, 1), 0);
    CHECK_EQ(semaphore.word >> 32, UINT32_MAX);
    CHECK_EQ(janus_semaphore_init(nullptr, 1), JANUS_E_INVALID);
    CHECK_EQ(janus_semaphore_acquire(nullptr), JANUS_E_INVALID);
  });
}

// A permit that was handed to a task whose wait is cancelled, or passes its time, at that moment stays with the task, or
// stays free: none is lost.
TEST(semaphore, no_permit_is_lost_to_a_task_that_gives_up) {
  on_any_workers([] {
    janus_semaphore semaphore = {};
    std::atomic<int> got{0};
    constexpr int kRounds = 30;
    for (int round = 0; round < kRounds; ++round) {
      auto told = [&] {
        if (janus_semaphore_acquire(&semaphore) == 0) got.fetch_add(1);
      };
      auto passed = [&] {
        if (janus_semaphore_acquire_until(&semaphore, janus_now_ns() + 1000) == 0) got.fetch_add(1);
      };
      auto releases = [&] { CHECK_EQ(janus_semaphore_release(&semaphore, 1), 0); };
      Scope scope, releasing;
      scope.go(told);
      scope.go(passed);
      for (int i = 0; i < round % 5; ++i) janus_yield();
      releasing.go(releases);
      if (round % 2 == 0) janus_yield();
      scope.cancel();
      scope.end();
      CHECK_EQ(releasing.end(), 0);
    }
    while (janus_semaphore_try_acquire(&semaphore) == 0) got.fetch_add(1);
    CHECK_EQ(got.load(), kRounds);
    CHECK_EQ(semaphore.word >> 32, 0u);
  });
}

// The cancel comes before the task has run again, at least with one worker.
TEST(semaphore, whoever_was_given_a_permit_before_its_cancel_has_it) {
  on_any_workers([] {
    janus_semaphore semaphore = {};
    janus_event event = {};
    int had = 0;
    auto acquires = [&] {
      CHECK_EQ(janus_semaphore_acquire(&semaphore), 0);
      ++had;
    };
    auto waits = [&] {
      CHECK_EQ(janus_event_wait(&event), 0);
      ++had;
    };
    for (int round = 0; round < 5; ++round) {
      had = 0;
      event = {};
      Scope scope;
      CHECK(blocks(scope.go(acquires)));
      CHECK_EQ(janus_semaphore_release(&semaphore, 1), 0);
      scope.cancel();
      scope.end();
      CHECK_EQ(had, 1);
      Scope other;
      CHECK(blocks(other.go(waits)));
      CHECK_EQ(janus_event_set(&event), 0);
      other.cancel();
      other.end();
      CHECK_EQ(had, 2);
      CHECK_EQ(semaphore.word, 0u);
    }
  });
}

TEST(semaphore, many_wait_and_one_release_wakes_them_in_parts) {
  for (const unsigned workers : {1u, 2u})
    run_in(with_workers(workers), [] {
      constexpr int kTasks = 600;
      static janus_semaphore semaphore;
      static std::atomic<int> got;
      semaphore = {};
      got = 0;
      auto user = [] {
        CHECK_EQ(janus_semaphore_acquire(&semaphore), 0);
        got.fetch_add(1);
      };
      Scope scope;
      static janus_task tasks[kTasks];
      for (janus_task& task : tasks) task = scope.go(user);
      for (const janus_task task : tasks) CHECK(blocks(task));
      CHECK_EQ(janus_semaphore_release(&semaphore, kTasks), 0);
      CHECK_EQ(scope.end(), 0);
      CHECK_EQ(got.load(), kTasks);
      CHECK_EQ(semaphore.word, 0u);
    });
}

// --- Barriers ---

TEST(barrier, tasks_meet_again_and_again_and_one_of_them_is_told) {
  on_any_workers([] {
    janus_barrier barrier = {};
    CHECK_EQ(janus_barrier_wait(&barrier), JANUS_E_STATE);
    CHECK_EQ(janus_barrier_init(&barrier, 0), JANUS_E_INVALID);
    CHECK_EQ(janus_barrier_init(&barrier, 5), 0);
    std::atomic<int> came{0}, told{0};
    constexpr int kRounds = 12;
    auto party = [&] {
      for (int round = 1; round <= kRounds; ++round) {
        came.fetch_add(1);
        const int answer = janus_barrier_wait(&barrier);
        CHECK(answer == 0 || answer == 1);
        told.fetch_add(answer);
        CHECK_GE(came.load(), 5 * round);
        CHECK(came.load() <= 5 * (round + 1));
      }
    };
    Scope scope;
    for (int i = 0; i < 5; ++i) scope.go(party);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(told.load(), kRounds);
    CHECK_EQ(janus_barrier_init(&barrier, 1), 0);
    CHECK_EQ(janus_barrier_wait(&barrier), 1);
    CHECK_EQ(janus_barrier_wait(nullptr), JANUS_E_INVALID);
  });
}

TEST(barrier, whoever_gives_up_has_not_come) {
  on_any_workers([] {
    janus_barrier barrier = {};
    CHECK_EQ(janus_barrier_init(&barrier, 3), 0);
    auto told = [&] { CHECK_EQ(janus_barrier_wait(&barrier), JANUS_CANCELLED); };
    auto party = [&] { CHECK_GE(janus_barrier_wait(&barrier), 0); };
    Scope first, scope;
    CHECK(blocks(first.go(told)));
    CHECK_EQ(janus_barrier_wait_until(&barrier, 1), JANUS_E_TIMEOUT);
    CHECK_EQ(janus_barrier_wait_until(&barrier, soon()), JANUS_E_TIMEOUT);
    first.cancel();
    first.end();
    CHECK(blocks(scope.go(party)));
    CHECK(blocks(scope.go(party)));  // two are there, not three
    CHECK_EQ(janus_barrier_wait(&barrier), 1);
    CHECK_EQ(scope.end(), 0);
  });
}

// --- Wait groups and events ---

TEST(wait_group, a_wait_lasts_until_all_is_done) {
  on_any_workers([] {
    janus_wait_group group = {};
    CHECK_EQ(janus_wait_group_wait(&group), 0);  // nothing is to be done
    CHECK_EQ(janus_wait_group_add(&group, 10), 0);
    std::atomic<int> done{0};
    auto works = [&] {
      janus_yield();
      done.fetch_add(1);
      CHECK_EQ(janus_wait_group_done(&group), 0);
    };
    auto waits = [&] {
      CHECK_EQ(janus_wait_group_wait(&group), 0);
      CHECK_EQ(done.load(), 10);
    };
    Scope scope;
    for (int i = 0; i < 3; ++i) scope.go(waits);
    for (int i = 0; i < 10; ++i) scope.go(works);
    CHECK_EQ(janus_wait_group_wait(&group), 0);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(group.word, 0u);
  });
}

TEST(wait_group, its_count_has_bounds) {
  on_any_workers([] {
    janus_wait_group group = {};
    CHECK_EQ(janus_wait_group_done(&group), JANUS_E_STATE);
    CHECK_EQ(janus_wait_group_add(&group, -1), JANUS_E_STATE);
    CHECK_EQ(janus_wait_group_add(&group, INT64_MIN), JANUS_E_STATE);
    CHECK_EQ(janus_wait_group_add(&group, INT64_MAX), JANUS_E_STATE);
    CHECK_EQ(janus_wait_group_add(&group, 0), 0);
    CHECK_EQ(janus_wait_group_add(&group, INT32_MAX), 0);
    CHECK_EQ(janus_wait_group_add(&group, 1), JANUS_E_STATE);
    CHECK_EQ(janus_wait_group_wait_until(&group, soon()), JANUS_E_TIMEOUT);
    CHECK_EQ(janus_wait_group_add(&group, -INT32_MAX), 0);
    CHECK_EQ(group.word, 0u);
    CHECK_EQ(janus_wait_group_wait(nullptr), JANUS_E_INVALID);
  });
}

TEST(event, a_wait_lasts_until_it_is_set_and_all_who_waited_go_on) {
  on_any_workers([] {
    janus_event event = {};
    auto waits = [&] { CHECK_EQ(janus_event_wait(&event), 0); };
    auto told = [&] { CHECK_EQ(janus_event_wait(&event), JANUS_CANCELLED); };
    Scope scope, ended;
    for (int i = 0; i < 4; ++i) CHECK(blocks(scope.go(waits)));
    CHECK(blocks(ended.go(told)));
    ended.cancel();
    ended.end();
    CHECK_EQ(janus_event_wait_until(&event, soon()), JANUS_E_TIMEOUT);
    CHECK_EQ(janus_event_set(&event), 0);
    CHECK_EQ(janus_event_reset(&event), 0);  // those who waited go on all the same
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(event.word, 0u);
    CHECK_EQ(janus_event_set(&event), 0);
    CHECK_EQ(janus_event_set(&event), 0);
    CHECK_EQ(janus_event_wait(&event), 0);
    CHECK_EQ(janus_event_wait_until(&event, 1), 0);
    CHECK_EQ(janus_event_wait(nullptr), JANUS_E_INVALID);
  });
}

}  // namespace janus::test
