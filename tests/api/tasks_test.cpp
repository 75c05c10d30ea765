// SPDX-License-Identifier: Apache-2.0
// tasks_test.cpp — programs of several tasks: trees, chains, stealing, joins, handles, budgets, on various numbers of
// workers.
#include <algorithm>
#include <iterator>

#include <janus/supervise.h>
#include <janus/sync.h>

#include "tests/api/world.h"

extern "C" int janus_may_exit(void);  // for the C library (linker/start/program.h)

namespace janus::test {

namespace {

struct Fib {
  int n;
  std::int64_t result;
  static std::int64_t run(void* pointer) {
    auto& me = *static_cast<Fib*>(pointer);
    if (me.n < 2) return me.result = me.n, 0;
    Fib left{me.n - 1, 0}, right{me.n - 2, 0};
    Scope scope;
    scope.go(run, &left);
    scope.go(run, &right);
    const long status = scope.end();
    me.result = left.result + right.result;
    return status;
  }
};

}  // namespace

TEST(tasks, a_task_runs_and_gives_its_value) {
  on_any_workers([] {
    Scope scope;
    const janus_task task = scope.go(return_arg, as_arg(42));
    std::int64_t value = 0;
    CHECK_EQ(janus_task_join(task, &value), 0);
    CHECK_EQ(value, 42);
    CHECK_EQ(scope.end(), 0);
  });
}

TEST(tasks, ten_at_once_all_run) {
  on_any_workers([] {
    std::atomic<int> count{0};
    Scope scope;
    for (int i = 0; i < 10; ++i) scope.go(count_up, &count);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(count.load(), 10);
  });
}

TEST(tasks, a_thousand_run_once_each) {
  on_any_workers([] {
    static std::atomic<int> times[1000];
    for (auto& t : times) t.store(0);
    Scope scope;
    for (auto& t : times) CHECK_NE(scope.go(count_up, &t).raw, 0u);
    CHECK_EQ(scope.end(), 0);
    for (auto& t : times) CHECK_EQ(t.load(), 1);
  });
}

TEST(tasks, fibonacci_by_recursion) {
  on_any_workers([] {
    Fib fib{scaled(16, 10), 0};
    CHECK_EQ(Fib::run(&fib), 0);
    CHECK_EQ(fib.result, scaled(987, 55));
  });
}

TEST(tasks, a_chain_of_joins_runs_in_order) {
  on_any_workers([] {
    std::atomic<int> clock{0};
    int at[3] = {};
    janus_task a = {}, b = {};
    auto first = [&] { return at[0] = ++clock, 1; };
    auto second = [&] {
      std::int64_t value = 0;
      CHECK_EQ(janus_task_join(a, &value), 0);
      return at[1] = ++clock, value + 1;
    };
    auto third = [&] {
      std::int64_t value = 0;
      CHECK_EQ(janus_task_join(b, &value), 0);
      return at[2] = ++clock, value + 1;
    };
    Scope scope;
    a = scope.go(first);
    b = scope.go(second);
    const janus_task c = scope.go(third);
    std::int64_t value = 0;
    CHECK_EQ(janus_task_join(c, &value), 0);
    CHECK_EQ(value, 3);
    CHECK_EQ(scope.end(), 0);
    CHECK(at[0] < at[1] && at[1] < at[2]);
  });
}

TEST(tasks, the_failure_of_one_leaves_the_others_alone_when_collected) {
  on_any_workers([] {
    std::atomic<int> count{0};
    Scope scope(JANUS_ON_ERROR_COLLECT);
    scope.go(return_arg, as_arg(-5));
    for (int i = 0; i < 50; ++i) scope.go(count_up, &count);
    CHECK_EQ(scope.end(), -5);
    CHECK_EQ(count.load(), 50);
  });
}

TEST(tasks, work_is_stolen_from_a_busy_worker) {
  janus_stats stats = {};
  run_in(
      with_workers(2),
      [] {
        std::atomic<int> count{0};
        Scope scope;
        for (int i = 0; i < 100; ++i) scope.go(count_up, &count);
        const std::uint64_t patience = platform::now_ns() + 60'000'000'000;
        while (count.load() < 100 && platform::now_ns() < patience) __builtin_ia32_pause();  // keeps its worker busy
        CHECK_EQ(count.load(), 100);
        return scope.end();
      },
      &stats);
  CHECK_GT(stats.steals + stats.injected, 1u);  // one of these is main; a task for a sleeping worker is injected, too
}

// Each child keeps its worker busy until both have begun.
TEST(tasks, a_parent_awaits_two_children_one_of_which_another_worker_took) {
  janus_stats stats = {};
  run_in(
      with_workers(2),
      [] {
        std::atomic<int> begun{0};
        auto child = [&] {
          begun.fetch_add(1);
          const std::uint64_t patience = platform::now_ns() + 60'000'000'000;
          while (begun.load() < 2 && platform::now_ns() < patience) __builtin_ia32_pause();
          CHECK_EQ(begun.load(), 2);
          return 0;
        };
        Scope scope;
        scope.go(child);
        scope.go(child);
        CHECK_EQ(scope.end(), 0);
      },
      &stats);
  CHECK_EQ(stats.tasks_completed, 3u);
  CHECK_GE(stats.steals + stats.injected, 2u);  // the root came in through the shared queue
}

TEST(tasks, producer_and_consumer_keep_the_order) {
  on_any_workers([] {
    janus_channel* const channel = janus_channel_create(sizeof(int), 4);
    auto producer = [&] {
      for (int i = 0; i < 500; ++i) CHECK_EQ(janus_channel_send(channel, &i), 0);
      return janus_channel_close(channel);
    };
    auto consumer = [&] {
      int value = 0, expected = 0;
      while (janus_channel_recv(channel, &value) == 0) CHECK_EQ(value, expected++);
      return expected == 500 ? 0 : -9;
    };
    Scope scope;
    scope.go(consumer);
    scope.go(producer);
    CHECK_EQ(scope.end(), 0);
    janus_channel_release(channel);
  });
}

// --- States ---

TEST(tasks, states_from_created_to_completed) {
  run_in(with_workers(1), [] {
    Scope scope;
    const janus_task task = scope.go(park_until_cancelled, nullptr);
    CHECK_EQ(janus_task_state(task), JANUS_TASK_CREATED);
    CHECK(eventually([&] { return janus_task_state(task) == JANUS_TASK_BLOCKED; }));
    CHECK_EQ(janus_unpark(task), 0);
    CHECK_EQ(janus_task_state(task), JANUS_TASK_READY);
    CHECK_EQ(janus_task_join(task, nullptr), 0);
    CHECK_EQ(janus_task_state(task), JANUS_TASK_COMPLETED);
    CHECK_EQ(janus_task_state(janus_task_self()), JANUS_TASK_RUNNING);
    CHECK_EQ(scope.end(), 0);
  });
}

TEST(tasks, states_failed_and_cancelled_are_terminal) {
  on_any_workers([] {
    Scope scope(JANUS_ON_ERROR_COLLECT);
    const janus_task failed = scope.go(return_arg, as_arg(-8));
    const janus_task cancelled = scope.go(park_until_cancelled, nullptr);
    CHECK_EQ(janus_task_join(failed, nullptr), 0);
    CHECK_EQ(janus_task_state(failed), JANUS_TASK_FAILED);
    CHECK_EQ(janus_task_cancel(cancelled), 0);
    CHECK_EQ(janus_task_join(cancelled, nullptr), 0);
    CHECK_EQ(janus_task_state(cancelled), JANUS_TASK_CANCELLED);
    CHECK_EQ(janus_task_cancel(cancelled), 0);
    CHECK_EQ(janus_unpark(cancelled), JANUS_E_STALE);
    CHECK_EQ(janus_task_state(cancelled), JANUS_TASK_CANCELLED);
    CHECK_EQ(scope.end(), -8);
  });
}

TEST(tasks, tasks_cancelled_before_their_start_never_run) {
  run_in(with_workers(1), [] {
    std::atomic<int> count{0};
    Scope scope;
    const janus_task task = scope.go(count_up, &count);
    janus_task_cancel(task);
    std::int64_t value = 0;
    CHECK_EQ(janus_task_join(task, &value), 0);
    CHECK_EQ(value, JANUS_CANCELLED);
    CHECK_EQ(count.load(), 0);
    const janus_task cleaner = scope.go(count_up, &count, JANUS_SPAWN_RUN_CANCELLED);
    janus_task_cancel(cleaner);
    CHECK_EQ(janus_task_join(cleaner, nullptr), 0);
    CHECK_EQ(count.load(), 1);
    scope.end();
  });
}

// --- Refused spawns ---

// Each refusal of janus_nursery_spawn is -1, with the reason in janus_last_error(); the refused function never runs.
TEST(tasks, a_spawn_that_fails_is_minus_one_whatever_the_reason) {
  on_any_workers([] {
    std::atomic<int> ran{0};
    auto tries = [&] {
      CHECK_EQ(janus_nursery_spawn(count_up, &ran), -1);  // no current nursery
      CHECK_EQ(janus_last_error(), JANUS_E_STATE);
      CHECK(janus_nursery_create() != nullptr);
      CHECK_EQ(janus_nursery_spawn(nullptr, nullptr), -1);
      CHECK_EQ(janus_last_error(), JANUS_E_INVALID);
      CHECK_EQ(janus_nursery_spawn(count_up, &ran), 0);
      CHECK_EQ(janus_nursery_spawn(count_up, &ran), -1);  // a spawn_count of 1 is used up
      CHECK_EQ(janus_last_error(), JANUS_E_BUDGET);
      CHECK_EQ(janus_nursery_await_all(), 0);
    };
    janus_budget one_spawn = JANUS_BUDGET_ALL;
    one_spawn.spawn_count = 1;
    Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY);
    scope.go(tries, 0, one_spawn);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(ran.load(), 1);
  });
}

// --- Parents ---

namespace {

struct Generation {
  const janus_task* above;
  unsigned depth;
  static constexpr unsigned kDepth = 4;
  static std::int64_t run(void* pointer) {
    const Generation& parents = *static_cast<Generation*>(pointer);
    janus_task above[kDepth + 1];
    std::copy(parents.above, parents.above + parents.depth, above);
    above[parents.depth] = janus_task_self();
    // A task cannot join an ancestor, which waits for it, so a join tells whether a task is an ancestor.
    for (unsigned i = 0; i <= parents.depth; ++i) CHECK_EQ(janus_task_join(above[i], nullptr), JANUS_E_DEADLOCK);
    if (parents.depth == kDepth) return 0;
    Generation next{above, parents.depth + 1};
    Scope scope;
    const janus_task sibling = scope.go(return_arg, as_arg(7));
    std::int64_t value = 0;
    CHECK_EQ(janus_task_join(sibling, &value), 0);
    CHECK_EQ(value, 7);
    scope.go(run, &next);
    return scope.end();
  }
};

}  // namespace

TEST(tasks, a_task_knows_its_parents_up_to_the_root) {
  on_any_workers([] {
    Generation root{nullptr, 0};
    CHECK_EQ(Generation::run(&root), 0);
  });
}

// --- Handles ---

TEST(tasks, handles_released_joined_and_cancelled_in_a_race_stay_errors) {
  on_any_workers([] {
    for (int round = 0; round < scaled(100, 10); ++round) {
      Scope victims(JANUS_ON_ERROR_COLLECT), others(JANUS_ON_ERROR_COLLECT);
      janus_task handles[8];
      for (auto& handle : handles) handle = victims.go(round % 2 != 0 ? yield_until_cancelled : return_zero, nullptr);
      auto attacker = [&] {
        for (const janus_task handle : handles) {
          const int state = janus_task_state(handle);
          CHECK(state == JANUS_E_STALE || (state >= 0 && state <= JANUS_TASK_CANCELLED));
          const int told = janus_task_cancel(handle);
          CHECK(told == 0 || told == JANUS_E_STALE);
          janus_unpark(handle);
          const int joined = janus_task_join(handle, nullptr);
          CHECK(joined == 0 || joined == JANUS_E_STALE);
          const int released = janus_task_release(handle);
          CHECK(released == 0 || released == JANUS_E_STALE);
        }
        return 0;
      };
      for (int i = 0; i < 4; ++i) others.go(attacker);
      CHECK_EQ(others.end(), 0);
      for (const janus_task handle : handles) CHECK_EQ(janus_task_state(handle), JANUS_E_STALE);
      victims.end();
    }
  });
}

TEST(tasks, forged_handles_are_stale) {
  run_in(with_workers(2), [] {
    Dice dice(7);
    for (int i = 0; i < scaled(100000, 5000); ++i) {
      const std::uint64_t raw = dice.below(2) != 0 ? dice.next() : (dice.next() & 0xff000000ff) | 1;
      const janus_task forged = {raw};
      if (raw == janus_task_self().raw) continue;
      CHECK(janus_task_state(forged) < 0);
      CHECK(janus_task_release(forged) < 0);
      CHECK(janus_task_join(forged, nullptr) < 0);
      CHECK(janus_unpark(forged) < 0);
    }
  });
}

// Records are reused; a handle that was released, or that ended with its nursery, names no task any more.
TEST(tasks, no_handle_comes_twice) {
  on_any_workers([] {
    constexpr int kRounds = 20, kEach = 3;
    std::uint64_t seen[kRounds * kEach];
    std::uint64_t* end = seen;
    for (int round = 0; round < kRounds; ++round) {
      Scope scope;
      janus_task tasks[kEach];
      for (janus_task& task : tasks) {
        task = scope.go(return_zero, nullptr);
        CHECK(std::find(seen, end, task.raw) == end);
        *end++ = task.raw;
      }
      for (const janus_task task : tasks) CHECK_EQ(janus_task_join(task, nullptr), 0);
      if (round % 2 == 0)
        for (const janus_task task : tasks) CHECK_EQ(janus_task_release(task), 0);
      CHECK_EQ(scope.end(), 0);
      for (const std::uint64_t* raw = seen; raw != end; ++raw) CHECK_EQ(janus_task_state({*raw}), JANUS_E_STALE);
    }
  });
}

TEST(tasks, janus_task_self_works_while_others_release_the_handle) {
  on_any_workers([] {
    for (int round = 0; round < scaled(100, 10); ++round) {
      Scope scope;
      auto asks = [] {
        for (int i = 0; i < 20; ++i) CHECK_NE(janus_task_self().raw, 0u);
        return 0;
      };
      for (int i = 0; i < 8; ++i) CHECK_EQ(janus_task_release(scope.go(asks)), 0);
      CHECK_EQ(scope.await(), 0);
      CHECK_EQ(scope.end(), 0);
    }
  });
}

// --- Budgets ---

TEST(tasks, a_nurserys_budget_comes_back_whole) {
  on_any_workers([] {
    janus_budget budget = JANUS_BUDGET_ALL;
    budget.ops = 1000000;
    budget.memory = 8 << 20;
    budget.spawn_count = 1000;
    budget.channel_ops = 1000;
    Scope outer;
    auto body = [] {
      const janus_budget before = janus_budget_get_current();
      for (int round = 0; round < 10; ++round) {
        janus_budget share = JANUS_BUDGET_ALL;
        share.ops = 10000;
        share.memory = 1 << 20;
        share.spawn_count = 20;
        share.channel_ops = 20;
        Scope inner(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, share);
        // The budget also pays for the records of the nursery and of its account, on each of up to 8 workers, while
        // they exist.
        CHECK_LE(janus_budget_get_current().memory, before.memory - (1 << 20) - 1);
        CHECK_GE(janus_budget_get_current().memory, before.memory - (1 << 20) - 256 - 384 - 8 * 160);
        auto child = [] {
          void* const block = janus_alloc(1000);
          janus_yield();
          janus_free(block);
          return 0;
        };
        for (int i = 0; i < 5; ++i) inner.go(child);
        inner.end();
        const janus_budget after = janus_budget_get_current();
        CHECK_EQ(after.memory, before.memory);
        CHECK_EQ(after.spawn_count, before.spawn_count - 5 * (round + 1));
      }
      return 0;
    };
    outer.go(body, 0, budget);
    CHECK_EQ(outer.end(), 0);
  });
}

TEST(tasks, spawns_beyond_the_budget_are_refused_and_leave_nothing) {
  on_any_workers([] {
    janus_budget budget = JANUS_BUDGET_ALL;
    budget.spawn_count = 3;
    Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, budget);
    for (int i = 0; i < 3; ++i) CHECK_NE(scope.go(return_zero, nullptr).raw, 0u);
    CHECK_EQ(scope.go(return_zero, nullptr).raw, 0u);
    CHECK_EQ(janus_last_error(), JANUS_E_BUDGET);
    CHECK_EQ(scope.end(), 0);
  });
}

TEST(tasks, asking_for_a_budget_grants_nothing) {
  CHECK_EQ(janus_budget_recharge({}), JANUS_E_NO_TASK);
  run_in(with_workers(1), [] {
    static constexpr janus_budget kFew = {100'000, 100'000, 50, 60, 70};
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, kFew);
    auto ask = [] {
      janus_budget left = janus_budget_get_current();
      left.ops /= 2;  // the query costs some
      CHECK_EQ(janus_budget_recharge({}), 0);
      CHECK_EQ(janus_budget_recharge(JANUS_BUDGET_ALL), 0);  // all that it has
      CHECK_EQ(janus_budget_recharge(left), 0);
      const auto too_much = [&left](auto more) {
        janus_budget wanted = left;
        more(wanted);
        CHECK_EQ(janus_budget_recharge(wanted), JANUS_E_BUDGET);
      };
      too_much([](janus_budget& wanted) { wanted.ops = kFew.ops + 1; });
      too_much([](janus_budget& wanted) { ++wanted.memory; });
      too_much([](janus_budget& wanted) { ++wanted.spawn_count; });
      too_much([](janus_budget& wanted) { ++wanted.channel_ops; });
      too_much([](janus_budget& wanted) { ++wanted.syscalls; });
      const janus_budget still = janus_budget_get_current();
      CHECK_LE(still.ops, kFew.ops);
      CHECK_EQ(still.memory, left.memory);
      CHECK_EQ(still.spawn_count, left.spawn_count);
    };
    cage.go(ask);
    CHECK_EQ(cage.end(), 0);
    auto ask_alone = [] { CHECK_EQ(janus_budget_recharge({}), JANUS_E_NO_CAP); };
    Scope scope;
    scope.go(ask_alone, 0, kFew);
    CHECK_EQ(scope.end(), 0);
  });
}

TEST(tasks, an_exhausted_task_is_recharged_again_and_again) {
  on_any_workers([] {
    Scope scope;
    janus_budget budget = JANUS_BUDGET_ALL;
    budget.ops = 500;
    std::atomic<bool> is_done{false};
    auto spender = [&] {
      for (int i = 0; i < 5000; ++i) {
        if (janus_yield_check(1) < 0) return JANUS_CANCELLED;
      }
      is_done.store(true);
      return 0;
    };
    const janus_task task = scope.go(spender, 0, budget);
    janus_budget more = {};
    more.ops = 500;
    int charges = 0;
    CHECK(eventually([&] {
      if (janus_task_state(task) == JANUS_TASK_BUDGET_EXHAUSTED) {
        ++charges;
        CHECK_EQ(janus_nursery_recharge(scope.get(), more), 0);
      }
      return is_done.load();
    }));
    CHECK_GE(charges, 1);
    CHECK_EQ(scope.end(), 0);
  });
}

// The record of a detached task is freed at its end, before that of its nursery, even if the task has got its own
// handle.
TEST(tasks, the_record_of_a_detached_task_goes_when_it_ends) {
  on_any_workers([] {
    Scope scope;
    const janus_task kept = scope.go(return_arg, as_arg(7));
    const janus_task detached = scope.go(return_arg, as_arg(8), JANUS_SPAWN_DETACHED);
    CHECK_EQ(scope.await(), 0);
    janus_result result = {};
    CHECK_EQ(janus_task_result(kept, &result), 0);
    CHECK_EQ(result.code, 7);
    CHECK_EQ(janus_task_result(detached, &result), JANUS_E_STALE);
    CHECK_EQ(janus_task_state(detached), JANUS_E_STALE);
    CHECK_EQ(scope.end(), 0);
    std::atomic<std::uint64_t> self{0};
    auto asks = [&] { self.store(janus_task_self().raw); };
    CHECK(janus_nursery_create() != nullptr);
    CHECK_EQ(janus_nursery_spawn(call_closure<decltype(asks)>, &asks), 0);
    CHECK(eventually([&] { return self.load() != 0 && janus_task_state({self.load()}) == JANUS_E_STALE; }));
    CHECK_EQ(janus_nursery_await_all(), 0);
  });
}

// Calls all functions that rt.h marks [task]; tests/abi/headers_test.py compares the list.
TEST(tasks, a_thread_outside_is_no_task) {
  std::int64_t value = 0;
  janus_channel* const channel = reinterpret_cast<janus_channel*>(&value);  // never accessed
  CHECK_EQ(janus_budget_recharge({1, 0, 0, 0, 0}), JANUS_E_NO_TASK);
  CHECK_EQ(janus_task_join({1}, &value), JANUS_E_NO_TASK);
  CHECK_EQ(janus_task_join_until({1}, &value, 1), JANUS_E_NO_TASK);
  CHECK_EQ(janus_task_watch({1}, nullptr), JANUS_E_NO_TASK);
  CHECK_EQ(janus_task_find(1).raw, 0u);
  CHECK_EQ(janus_last_error(), JANUS_E_NO_TASK);
  CHECK_EQ(janus_task_set_name("somebody"), JANUS_E_NO_TASK);
  CHECK_EQ(janus_task_pin(), JANUS_E_NO_TASK);
  CHECK_EQ(janus_task_unpin(), JANUS_E_NO_TASK);
  CHECK_EQ(janus_local_set({1}, &value), JANUS_E_NO_TASK);
  CHECK_EQ(janus_yield(), JANUS_E_NO_TASK);
  CHECK_EQ(janus_yield_slow(), JANUS_E_NO_TASK);
  CHECK_EQ(janus_sleep_ns(1), JANUS_E_NO_TASK);
  CHECK_EQ(janus_sleep_until(1), JANUS_E_NO_TASK);
  CHECK_EQ(janus_park(-1), JANUS_E_NO_TASK);
  CHECK_EQ(janus_shield(return_zero, nullptr), JANUS_E_NO_TASK);
  CHECK_EQ(janus_channel_send(channel, &value), JANUS_E_NO_TASK);
  CHECK_EQ(janus_channel_recv(channel, &value), JANUS_E_NO_TASK);
  CHECK_EQ(janus_channel_send_until(channel, &value, 1), JANUS_E_NO_TASK);
  CHECK_EQ(janus_channel_recv_until(channel, &value, 1), JANUS_E_NO_TASK);
  CHECK_EQ(janus_channel_send_many(channel, &value, 1), JANUS_E_NO_TASK);
  CHECK_EQ(janus_channel_recv_many(channel, &value, 1), JANUS_E_NO_TASK);
  CHECK_EQ(janus_select(nullptr, 0, -1), JANUS_E_NO_TASK);
  CHECK_EQ(janus_select_until(nullptr, 0, 1), JANUS_E_NO_TASK);
  CHECK_EQ(janus_syscall(39), JANUS_E_NO_TASK);
  CHECK_EQ(janus_blocking(return_zero, nullptr), JANUS_E_NO_TASK);
  janus_result results[2];
  CHECK_EQ(janus_fork_join(return_zero, nullptr, return_zero, nullptr, results), JANUS_E_NO_TASK);
  CHECK_EQ(results[1].kind, JANUS_KIND_PENDING);
  CHECK_EQ(janus_cap_derive({}, JANUS_CAP_SPAWN, {}).raw, 0u);
  CHECK_EQ(janus_last_error(), JANUS_E_NO_TASK);
  CHECK_EQ(janus_cap_root(nullptr).raw, 0u);
  CHECK_EQ(janus_last_error(), JANUS_E_NO_TASK);
  janus_mutex mutex = {};
  janus_rwlock rwlock = {};
  janus_cond cond = {};
  janus_semaphore semaphore = {};
  janus_barrier barrier = {};
  janus_wait_group group = {};
  janus_event event = {};
  janus_once once = {};
  CHECK_EQ(janus_mutex_lock(&mutex), JANUS_E_NO_TASK);
  CHECK_EQ(janus_mutex_lock_until(&mutex, 1), JANUS_E_NO_TASK);
  CHECK_EQ(janus_mutex_try_lock(&mutex), JANUS_E_NO_TASK);
  CHECK_EQ(janus_mutex_unlock(&mutex), JANUS_E_NO_TASK);
  CHECK_EQ(janus_mutex_heal(&mutex), JANUS_E_NO_TASK);
  CHECK_EQ(janus_rwlock_read_lock(&rwlock), JANUS_E_NO_TASK);
  CHECK_EQ(janus_rwlock_read_lock_until(&rwlock, 1), JANUS_E_NO_TASK);
  CHECK_EQ(janus_rwlock_write_lock(&rwlock), JANUS_E_NO_TASK);
  CHECK_EQ(janus_rwlock_write_lock_until(&rwlock, 1), JANUS_E_NO_TASK);
  CHECK_EQ(janus_rwlock_try_read_lock(&rwlock), JANUS_E_NO_TASK);
  CHECK_EQ(janus_rwlock_try_write_lock(&rwlock), JANUS_E_NO_TASK);
  CHECK_EQ(janus_rwlock_read_unlock(&rwlock), JANUS_E_NO_TASK);
  CHECK_EQ(janus_rwlock_write_unlock(&rwlock), JANUS_E_NO_TASK);
  CHECK_EQ(janus_cond_wait(&cond, &mutex), JANUS_E_NO_TASK);
  CHECK_EQ(janus_cond_wait_until(&cond, &mutex, 1), JANUS_E_NO_TASK);
  CHECK_EQ(janus_cond_signal(&cond), JANUS_E_NO_TASK);
  CHECK_EQ(janus_cond_broadcast(&cond), JANUS_E_NO_TASK);
  CHECK_EQ(janus_semaphore_acquire(&semaphore), JANUS_E_NO_TASK);
  CHECK_EQ(janus_semaphore_acquire_until(&semaphore, 1), JANUS_E_NO_TASK);
  CHECK_EQ(janus_semaphore_try_acquire(&semaphore), JANUS_E_NO_TASK);
  CHECK_EQ(janus_semaphore_release(&semaphore, 1), JANUS_E_NO_TASK);
  CHECK_EQ(janus_barrier_wait(&barrier), JANUS_E_NO_TASK);
  CHECK_EQ(janus_barrier_wait_until(&barrier, 1), JANUS_E_NO_TASK);
  CHECK_EQ(janus_wait_group_add(&group, 1), JANUS_E_NO_TASK);
  CHECK_EQ(janus_wait_group_done(&group), JANUS_E_NO_TASK);
  CHECK_EQ(janus_wait_group_wait(&group), JANUS_E_NO_TASK);
  CHECK_EQ(janus_wait_group_wait_until(&group, 1), JANUS_E_NO_TASK);
  CHECK_EQ(janus_event_set(&event), JANUS_E_NO_TASK);
  CHECK_EQ(janus_event_reset(&event), JANUS_E_NO_TASK);
  CHECK_EQ(janus_event_wait(&event), JANUS_E_NO_TASK);
  CHECK_EQ(janus_event_wait_until(&event, 1), JANUS_E_NO_TASK);
  CHECK_EQ(janus_once_call(
               &once, [](void*) {}, nullptr),
           JANUS_E_NO_TASK);
  CHECK_EQ(janus_once_call_until(
               &once, [](void*) {}, nullptr, 1),
           JANUS_E_NO_TASK);
  const auto wants = [](const void*, void*) { return 1; };
  CHECK_EQ(janus_mailbox_send(nullptr, &mutex), JANUS_E_NO_TASK);
  CHECK_EQ(janus_mailbox_send_until(nullptr, &mutex, 1), JANUS_E_NO_TASK);
  CHECK_EQ(janus_mailbox_recv(nullptr, &mutex), JANUS_E_NO_TASK);
  CHECK_EQ(janus_mailbox_recv_until(nullptr, &mutex, 1), JANUS_E_NO_TASK);
  CHECK_EQ(janus_mailbox_recv_match(nullptr, wants, nullptr, &mutex), JANUS_E_NO_TASK);
  CHECK_EQ(janus_mailbox_recv_match_until(nullptr, wants, nullptr, &mutex, 1), JANUS_E_NO_TASK);
  CHECK(janus_supervisor_open(nullptr, nullptr) == nullptr);
  CHECK_EQ(janus_last_error(), JANUS_E_NO_TASK);
  CHECK_EQ(janus_supervisor_add(nullptr, nullptr), JANUS_E_NO_TASK);
  CHECK_EQ(janus_supervisor_remove(nullptr, 1), JANUS_E_NO_TASK);
  CHECK_EQ(janus_supervisor_run(nullptr), JANUS_E_NO_TASK);
  CHECK_EQ(janus_supervisor_children(nullptr, nullptr, 0), JANUS_E_NO_TASK);
  CHECK_EQ(janus_supervisor_close(nullptr), JANUS_E_NO_TASK);
  CHECK_EQ(janus_child_ready(), JANUS_E_NO_TASK);
  CHECK_EQ(janus_semaphore_init(&semaphore, 1), 0);
  CHECK_EQ(janus_barrier_init(&barrier, 1), 0);
}

TEST(tasks, questions_about_the_calling_task_answer_zero_outside_tasks) {
  CHECK_EQ(janus_task_self().raw, 0u);
  CHECK_EQ(janus_task_id(), 0u);
  CHECK_EQ(janus_cancelled(), 0);
  CHECK(janus_local_get({1}) == nullptr);
  CHECK_EQ(janus_budget_get_current().ops, 0u);
  CHECK_EQ(janus_budget_get_current().memory, 0u);
  CHECK_EQ(janus_nursery_await_all(), JANUS_E_STATE);  // this thread has opened none
}

// A budget of the root itself does not make the program a cage.
TEST(tasks, a_task_below_a_budget_of_its_own_may_not_end_the_process) {
  const janus_budget some = {1'000'000, 16 << 20, 100, 100, 100};
  janus_rt_config with_budget = with_workers(2);
  with_budget.root_budget = some;
  const auto may_exit = [](void*) -> std::int64_t { return -2 - janus_may_exit(); };
  const auto below_may_exit = [](void*) -> std::int64_t {
    janus_nursery* const nursery = open_nursery();
    spawn(nursery, [](void*) -> std::int64_t { return -2 - janus_may_exit(); });
    return end(nursery);
  };
  constexpr std::int64_t kMayNot = -2, kMay = -3;
  CHECK_EQ(may_exit(nullptr), kMay);
  for (const janus_rt_config& config : {with_workers(2), with_budget})
    run_in(config, [&] {
      CHECK_EQ(may_exit(nullptr), kMay);
      for (const janus_task_fn fn : {janus_task_fn{may_exit}, janus_task_fn{below_may_exit}}) {
        Scope plain(JANUS_ON_ERROR_COLLECT),
            cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, {1000, 1 << 20, 10, 0, 0}),
            of_cages(JANUS_ON_ERROR_COLLECT);
        plain.go(fn, nullptr);
        cage.go(fn, nullptr);
        of_cages.go(fn, nullptr, 0, {1000, 1 << 20, 10, 0, 0});
        CHECK_EQ(of_cages.end(), kMayNot);
        CHECK_EQ(cage.end(), kMayNot);
        CHECK_EQ(plain.end(), kMay);
      }
    });
}

// No other task has the token, with or without a budget of its own.
TEST(tasks, the_root_token_is_for_the_root_task_alone) {
  run_in(with_workers(2), [] {
    CHECK_NE(janus_cap_root(nullptr).raw, 0u);
    auto child = [] {
      CHECK_EQ(janus_cap_root(nullptr).raw, 0u);
      CHECK_EQ(janus_last_error(), JANUS_E_NO_CAP);
    };
    Scope scope;
    scope.go(child);
    CHECK_EQ(scope.end(), 0);
  });
}

// No two tasks of a runtime have the same id, and none has 0, for any spawning worker and call.
TEST(tasks, ids_are_unique) {
  constexpr unsigned kSpawners = 4, kEach = 1500;
  static std::uint64_t ids[kSpawners * kEach];
  const auto note_id = [](void* place) -> std::int64_t {
    *static_cast<std::uint64_t*>(place) = janus_task_id();
    return 0;
  };
  for (unsigned workers : {1u, 2u, kSpawners}) {
    std::fill(std::begin(ids), std::end(ids), 0);
    run_in(with_workers(workers), [&] {
      std::atomic<unsigned> began{0};
      auto spawner = [&] {
        std::uint64_t* const mine = &ids[began.fetch_add(1) * kEach];
        const std::uint64_t patience = platform::now_ns() + 60'000'000'000;
        while (began.load() < workers && platform::now_ns() < patience)
          __builtin_ia32_pause();  // keeps its worker busy, so that each worker has one
        for (unsigned i = 0; i < kEach; i += 15) {
          Scope scope;
          CHECK(janus_nursery_create() != nullptr);
          for (unsigned k = 0; k < 10; ++k) CHECK_EQ(janus_nursery_spawn(note_id, &mine[i + k]), 0);
          for (unsigned k = 10; k < 15; ++k) CHECK_NE(scope.go(note_id, &mine[i + k]).raw, 0u);
          CHECK_EQ(janus_nursery_await_all(), 0);
          CHECK_EQ(scope.end(), 0);
        }
        return 0;
      };
      Scope scope;
      for (unsigned i = 0; i < workers; ++i) scope.go(spawner);
      return scope.end();
    });
    std::sort(std::begin(ids), std::end(ids));
    const std::uint64_t* const first = std::end(ids) - workers * kEach;
    CHECK_NE(*first, 0u);
    CHECK(std::adjacent_find(first, std::cend(ids)) == std::cend(ids));
  }
}

}  // namespace janus::test
