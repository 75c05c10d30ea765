// SPDX-License-Identifier: Apache-2.0
// Tasks that wait because their budget is used up: who goes on after a recharge, and which waits end.
#include <array>

#include "tests/api/world.h"
#include "tests/harness/bounded_list.h"

namespace janus::test {

namespace {

// The budget that runs out of system calls is the nursery's in the first round, the task's own in the second.
TEST(recharge, a_task_without_system_calls_left_waits_for_them) {
  for (const bool has_own : {false, true}) {
    run_in(with_workers(1), [has_own] {
      constexpr long kGetPid = 39;
      janus_budget few = budget_of(100'000);
      few.syscalls = 3;
      Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, has_own ? budget_of(1'000'000, 32 << 20) : few);
      int calls = 0;
      auto caller = [&] {
        for (; calls < 7; ++calls) janus_syscall(kGetPid);
        return 0;
      };
      const janus_task task = cage.go(caller, 0, has_own ? few : janus_budget{});
      janus_budget two = {};
      two.syscalls = 2;
      for (int expected = 3; expected < 7; expected += 2) {
        CHECK(eventually([&] { return janus_task_state(task) == JANUS_TASK_BUDGET_EXHAUSTED; }));
        CHECK_EQ(calls, expected);
        CHECK_EQ(janus_nursery_recharge(cage.get(), two), 0);
        CHECK(eventually([&] { return calls != expected; }));
      }
      CHECK_EQ(cage.end(), 0);
      CHECK_EQ(calls, 7);
    });
  }
}

TEST(recharge, a_recharge_goes_to_those_who_ran_dry_in_that_order) {
  run_in(with_workers(1), [] {
    static BoundedList<std::int64_t, 3>* order;
    BoundedList<std::int64_t, 3> went_on;
    order = &went_on;
    Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(1'000'000));
    auto run_dry = [](void* number) -> std::int64_t {
      for (int i = 0; i < 100; ++i) janus_yield_check(1);
      order->add(return_arg(number));
      return 0;
    };
    // Each task has a budget of its own, with fewer ops than it needs.
    std::array<janus_task, 3> tasks;
    for (int i = 0; i < 3; ++i) {
      tasks[static_cast<std::size_t>(i)] = scope.go(run_dry, as_arg(i), 0, budget_of(50, 65536));
      CHECK(eventually([&] { return janus_task_state(tasks[static_cast<std::size_t>(i)]) == 4; }));
    }
    for (int i = 0; i < 3; ++i) {
      janus_budget more = {};
      more.ops = 50;
      CHECK_EQ(janus_nursery_recharge(scope.get(), more), 0);
      const auto ended = static_cast<std::size_t>(i);
      CHECK(eventually([&] { return janus_task_state(tasks[ended]) == JANUS_TASK_COMPLETED; }));
      for (int other = 0; other < 3; ++other)
        CHECK_EQ(janus_task_state(tasks[static_cast<std::size_t>(other)]) == JANUS_TASK_COMPLETED, other <= i);
    }
    CHECK_EQ(scope.end(), 0);
    for (int i = 0; i < 3; ++i) CHECK_EQ(went_on[static_cast<std::size_t>(i)], i);
  });
}

// The first waiter has a budget of its own and needs more than one recharge. The second draws on the nursery, and
// begins to wait only after the first recharge.
TEST(recharge, a_recharge_that_is_too_small_for_the_first_is_kept_from_who_comes_later) {
  run_in(with_workers(1), [] {
    Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(200'000, 1 << 20));
    std::array<janus_task, 2> tasks;
    const auto state = [&](std::size_t number) { return janus_task_state(tasks[number]); };
    janus_budget more = {};
    more.ops = 600'000;
    auto owe = [](void* ops) -> std::int64_t { return janus_yield_check(reinterpret_cast<std::intptr_t>(ops)); };
    tasks[0] = scope.go(owe, as_arg(1'000'000), 0, budget_of(1000, 65536));
    CHECK(eventually([&] { return state(0) == JANUS_TASK_BUDGET_EXHAUSTED; }));
    CHECK_EQ(janus_nursery_recharge(scope.get(), more), 0);
    CHECK_EQ(state(0), JANUS_TASK_BUDGET_EXHAUSTED);
    tasks[1] = scope.go(owe, as_arg(590'000));
    CHECK(eventually([&] { return state(1) == JANUS_TASK_BUDGET_EXHAUSTED; }));
    CHECK_EQ(janus_nursery_recharge(scope.get(), more), 0);
    CHECK(eventually([&] { return state(0) == JANUS_TASK_COMPLETED; }));
    CHECK_EQ(janus_nursery_recharge(scope.get(), more), 0);
    CHECK_EQ(scope.end(), 0);
  });
}

// Two tasks with their own budgets wait, and the recharge is enough for both. But the first draws more of it than it
// needs, and gives back the rest only when it ends.
TEST(recharge, the_first_waiters_rest_of_a_recharge_goes_to_the_next) {
  run_in(with_workers(1), [] {
    for (const bool is_memory : {false, true}) {
      Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(20'000, 1 << 20));
      auto spend = [](void*) -> std::int64_t {
        for (int i = 0; i < 60; ++i) janus_yield_check(100);
        return 0;
      };
      auto allocate = [](void*) -> std::int64_t {
        janus_free(janus_alloc(200'000));
        for (int i = 0; i < 20; ++i) janus_yield();
        return 0;
      };
      std::array<janus_task, 2> tasks;
      for (janus_task& task : tasks) {
        task = is_memory ? scope.go(allocate, nullptr, 0, budget_of(1000, 65536))
                         : scope.go(spend, nullptr, 0, budget_of(5900, 65536));
        CHECK(eventually([&] { return janus_task_state(task) == JANUS_TASK_BUDGET_EXHAUSTED; }));
      }
      janus_budget more = {};
      more.memory = is_memory ? 200'000 : 0;
      more.ops = is_memory ? 0 : 1000;
      CHECK_EQ(janus_nursery_recharge(scope.get(), more), 0);
      for (const janus_task task : tasks)
        CHECK(eventually([&] { return janus_task_state(task) == JANUS_TASK_COMPLETED; }));
      CHECK_EQ(scope.end(), 0);
    }
  });
}

// The first waiter asks for more than the recharge. Its wait ends by a cancel, but the task does not end.
TEST(recharge, a_waiter_that_stops_lets_the_next_one_look) {
  run_in(with_workers(1), [] {
    Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(1'000'000, 1 << 20));
    auto allocate_much = [](void* ends) -> std::int64_t {
      const bool is_refused = janus_alloc(600'000) == nullptr;
      while (!*static_cast<volatile bool*>(ends)) janus_yield();
      return is_refused ? -1 : 0;
    };
    auto allocate = [](void*) -> std::int64_t {
      janus_free(janus_alloc(120'000));
      return 0;
    };
    volatile bool ends = false;
    const janus_task first = scope.go(allocate_much, const_cast<bool*>(&ends), 0, budget_of(100'000, 500'000));
    CHECK(eventually([&] { return janus_task_state(first) == JANUS_TASK_BUDGET_EXHAUSTED; }));
    const janus_task second = scope.go(allocate, nullptr, 0, budget_of(100'000, 65536));
    CHECK(eventually([&] { return janus_task_state(second) == JANUS_TASK_BUDGET_EXHAUSTED; }));
    janus_budget more = {};
    more.memory = 80'000;
    CHECK_EQ(janus_nursery_recharge(scope.get(), more), 0);
    for (int i = 0; i < 20; ++i) janus_yield();  // until the recharge has been offered to all waiters
    CHECK_EQ(janus_task_state(second), JANUS_TASK_BUDGET_EXHAUSTED);
    CHECK_EQ(janus_task_cancel(first), 0);
    CHECK(eventually([&] { return janus_task_state(second) == JANUS_TASK_COMPLETED; }));
    CHECK_LT(janus_task_state(first), JANUS_TASK_COMPLETED);
    ends = true;
    CHECK_EQ(janus_task_join(second, nullptr), 0);
    scope.end();
  });
}

// The budget is enough for both tasks, but one holds the rest of it in its slice when the other runs dry.
TEST(recharge, the_rest_of_a_slice_goes_to_a_task_that_ran_dry) {
  run_in(with_workers(3), [] {
    for (int i = 0; i < 20; ++i) {
      Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(1500));
      std::atomic<bool> goes_on{false};
      std::atomic<bool> has_begun{false};
      auto hold = [&] {
        for (int i = 0; i < 2; ++i) janus_yield_check(1);  // so that it holds a whole slice
        has_begun = true;
        while (!goes_on) __builtin_ia32_pause();
        return 0;
      };
      auto spend = [] {
        for (int left = 600; left > 0; --left) janus_yield_check(1);
        return 0;
      };
      const janus_task holder = scope.go(hold);
      CHECK(eventually([&] { return has_begun.load(); }));
      const janus_task other = scope.go(spend);
      CHECK(eventually([&] { return janus_task_state(other) == JANUS_TASK_BUDGET_EXHAUSTED; }));
      goes_on = true;
      CHECK(eventually([&] { return janus_task_state(other) == JANUS_TASK_COMPLETED; }));
      CHECK_EQ(janus_task_join(holder, nullptr), 0);
      CHECK_EQ(scope.end(), 0);
    }
  });
}

// The waiter has a budget of its own, which it shares with its child. Another task waits for a recharge before it.
TEST(recharge, a_waiter_for_a_recharge_is_woken_by_credits_of_its_own_budget) {
  run_in(with_workers(4), [] {
    struct Shared {
      janus_task parent = {};
      std::atomic<bool> goes_on{false};
    };
    for (int i = 0; i < 20; ++i) {
      Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(20'000));
      auto run_dry = [] { return janus_yield_check(1000); };
      const janus_task other = scope.go(run_dry, 0, budget_of(100, 65536));
      CHECK(eventually([&] { return janus_task_state(other) == JANUS_TASK_BUDGET_EXHAUSTED; }));
      Shared shared;
      auto parent = [](void* pointer) -> std::int64_t {
        auto hold = [](void* held) -> std::int64_t {
          auto& with = *static_cast<Shared*>(held);
          for (int i = 0; i < 2; ++i) janus_yield_check(1);
          janus_unpark(with.parent);
          while (!with.goes_on) __builtin_ia32_pause();
          return 0;
        };
        static_cast<Shared*>(pointer)->parent = janus_task_self();
        Scope inner(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND);
        inner.go(hold, pointer);
        janus_park(-1);
        for (int left = 1200; left > 0; --left) janus_yield_check(1);
        return inner.end();
      };
      const janus_task task = scope.go(parent, &shared, 0, budget_of(1500, 1 << 20));
      CHECK(eventually([&] { return janus_task_state(task) == JANUS_TASK_BUDGET_EXHAUSTED; }));
      shared.goes_on = true;
      CHECK(eventually([&] { return janus_task_state(task) == JANUS_TASK_COMPLETED; }));
      scope.cancel();
      CHECK_EQ(scope.end(), JANUS_CANCELLED);
    }
  });
}

// The first waits for a recharge that never comes. The second waits for ops that the holder gives back.
TEST(recharge, no_wait_ends_while_its_budget_is_there) {
  run_in(with_workers(3), [] {
    Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(1600));
    std::atomic<bool> goes_on{false};
    std::atomic<bool> has_begun{false};
    auto hold = [&] {
      for (int i = 0; i < 2; ++i) janus_yield_check(1);
      has_begun = true;
      while (!goes_on) __builtin_ia32_pause();
      return 0;
    };
    auto spend = [] {
      for (int left = 600; left > 0; --left) janus_yield_check(1);
      return 0;
    };
    const janus_task first = scope.go(spend, 0, budget_of(100, 65536));
    CHECK(eventually([&] { return janus_task_state(first) == JANUS_TASK_BUDGET_EXHAUSTED; }));
    scope.go(hold);
    CHECK(eventually([&] { return has_begun.load(); }));
    const janus_task second = scope.go(spend);
    CHECK(eventually([&] { return janus_task_state(second) == JANUS_TASK_BUDGET_EXHAUSTED; }));
    goes_on = true;
    CHECK_EQ(janus_task_join(second, nullptr), 0);
    CHECK_EQ(janus_task_state(second), JANUS_TASK_COMPLETED);
    CHECK_EQ(scope.end(), JANUS_BUDGET_EXCEEDED);
  });
}

// When all tasks wait, the wait that began last ends first; the memory that its task held is enough for the other.
TEST(recharge, the_end_of_one_wait_leaves_enough_for_another) {
  run_in(with_workers(2), [] {
    Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(1'000'000, 1'000'000));
    bool completed = false;
    auto greedy = [] {
      janus_park(-1);
      return janus_alloc(100'000'000) != nullptr ? 0 : -1;
    };
    auto modest = [&] {
      janus_park(-1);
      void* const block = janus_alloc(700'000);
      janus_free(block);
      completed = block != nullptr;
      return 0;
    };
    // The tasks run dry in this order.
    const std::array<janus_task, 2> tasks = {scope.go(modest), scope.go(greedy, 0, budget_of(10'000, 400'000))};
    for (const janus_task task : tasks) CHECK(eventually([&] { return janus_task_state(task) == JANUS_TASK_BLOCKED; }));
    for (const janus_task task : tasks) {
      CHECK_EQ(janus_unpark(task), 0);
      CHECK(eventually([&] { return janus_task_state(task) == JANUS_TASK_BUDGET_EXHAUSTED; }));
    }
    CHECK_EQ(scope.end(), JANUS_BUDGET_EXCEEDED);
    CHECK(completed);
  });
}

// Three tasks hold memory that the others need, and ask for the same amount. The later half of three waits, rounded
// down, is one. Waits that ended earlier make no difference.
TEST(recharge, the_later_half_of_the_waits_ends_and_the_earlier_half_has_what_that_leaves) {
  run_in(with_workers(1), [] {
    auto spend = [] {
      janus_yield_check(1'000'000);
      return 0;
    };
    for (int i = 0; i < 50; ++i) {
      Scope hopeless(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(1000, 100'000));
      hopeless.go(spend);
      CHECK_EQ(hopeless.end(), JANUS_BUDGET_EXCEEDED);
    }
    Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(1'000'000, 4'000'000));
    int completed = 0;
    auto keep_and_allocate = [&] {
      Scope kept(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(1000, 1'000'000));
      for (int i = 0; i < 3; ++i) janus_yield();
      void* const block = janus_alloc(1'200'000);
      janus_free(block);
      ++completed;
      return kept.end();
    };
    for (int i = 0; i < 3; ++i) scope.go(keep_and_allocate);
    CHECK_EQ(scope.end(), JANUS_BUDGET_EXCEEDED);
    CHECK_EQ(completed, 2);
  });
}

// A task that awaits one cage may recharge another cage afterwards.
TEST(recharge, waits_in_a_cage_that_nobody_awaits_yet_go_on) {
  run_in(with_workers(2), [] {
    auto spend = [] {
      for (int left = 600; left > 0; --left) janus_yield_check(1);
      return 0;
    };
    Scope later(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(100));
    Scope sooner(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(100));
    // The waiting task is in a nursery below the cage, which its opener does await.
    auto spend_within = [&] {
      Scope within(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND);
      within.go(spend);
      return within.end();
    };
    later.go(spend_within);
    sooner.go(spend);
    CHECK_EQ(sooner.end(), JANUS_BUDGET_EXCEEDED);
    janus_budget more = {};
    more.ops = 2000;
    CHECK_EQ(janus_nursery_recharge(later.get(), more), 0);
    CHECK_EQ(later.end(), 0);
  });
}

TEST(recharge, many_waits_that_nobody_recharges_all_end) {
  run_in(with_workers(2), [] {
    constexpr int kCrowd = 1000;
    Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(100'000, 64 << 20));
    auto spend = [] {
      janus_yield_check(1'000'000);
      return 0;
    };
    for (int i = 0; i < kCrowd; ++i) CHECK(scope.go(spend).raw != 0);
    CHECK_EQ(scope.end(), JANUS_BUDGET_EXCEEDED);
  });
}

// Neither another open nursery of the thread nor earlier nurseries that ended with exhausted waits make a difference.
TEST(recharge, an_awaited_nursery_of_a_thread_ends_whatever_else_the_thread_has_open) {
  const janus_rt_config config = with_workers(2);
  janus_rt* const rt = janus_rt_create(&config);
  REQUIRE(rt != nullptr);
  janus_nursery_options options = {};
  options.on_error = JANUS_ON_ERROR_COLLECT;
  options.on_exhaustion = JANUS_ON_EXHAUSTION_SUSPEND;
  options.budget = budget_of(1000, 1 << 20);
  auto spend = [] {
    janus_yield_check(1'000'000);
    return 0;
  };
  janus_nursery* const idle = janus_nursery_open(rt, nullptr);
  for (int i = 0; i < 3; ++i) {
    janus_nursery* const nursery = janus_nursery_open(rt, &options);
    CHECK(spawn(nursery, call_closure<decltype(spend)>, &spend).raw != 0);
    CHECK_EQ(janus_nursery_await(nursery, nullptr), JANUS_BUDGET_EXCEEDED);
    CHECK_EQ(janus_nursery_destroy(nursery), 0);
  }
  CHECK_EQ(janus_nursery_await(idle, nullptr), 0);
  CHECK_EQ(janus_nursery_destroy(idle), 0);
  janus_rt_destroy(rt);
}

// In a host program all workers sleep whenever the threads outside give them no work. That alone does not mean that no
// recharge can come.
TEST(recharge, a_thread_outside_may_recharge_when_all_tasks_wait) {
  const janus_rt_config config = with_workers(2);
  janus_rt* const rt = janus_rt_create(&config);
  REQUIRE(rt != nullptr);
  janus_nursery_options options = {};
  options.on_error = JANUS_ON_ERROR_COLLECT;
  options.on_exhaustion = JANUS_ON_EXHAUSTION_SUSPEND;
  options.budget = budget_of(1000, 1 << 20);
  auto spend = [] {
    for (int left = 5000; left > 0; --left) janus_yield_check(1);
    return 0;
  };
  for (const bool comes : {true, false}) {
    janus_nursery* const nursery = janus_nursery_open(rt, &options);
    const janus_task task = spawn(nursery, call_closure<decltype(spend)>, &spend);
    auto has_run_dry = [&] { return janus_task_state(task) == JANUS_TASK_BUDGET_EXHAUSTED; };
    while (!has_run_dry()) __builtin_ia32_pause();
    std::atomic<std::uint32_t> nobody{0};
    platform::wait(nobody, 0, platform::now_ns() + 20'000'000);
    CHECK(has_run_dry());
    janus_budget more = {};
    more.ops = 10'000;
    if (comes) CHECK_EQ(janus_nursery_recharge(nursery, more), 0);
    CHECK_EQ(janus_nursery_await(nursery, nullptr), comes ? 0 : JANUS_BUDGET_EXCEEDED);
    CHECK_EQ(janus_nursery_destroy(nursery), 0);
  }
  janus_rt_destroy(rt);
}

// Two recharges of memory that only together satisfy the request. The nursery has enough memory itself, but a task with
// its own budget gets only recharges.
TEST(recharge, memory_for_who_ran_dry_comes_when_recharges_add_up_to_it) {
  run_in(with_workers(1), [] {
    constexpr std::uint64_t kWanted = 300'000;
    Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(1'000'000, 1 << 20));
    auto allocate = [] {
      void* const block = janus_alloc(kWanted);
      janus_free(block);
      return block != nullptr ? 0 : -1;
    };
    const janus_task first = scope.go(allocate, 0, budget_of(10'000, 65536));
    CHECK(eventually([&] { return janus_task_state(first) == JANUS_TASK_BUDGET_EXHAUSTED; }));
    janus_budget more = {};
    more.memory = 150'000;
    CHECK_EQ(janus_nursery_recharge(scope.get(), more), 0);
    CHECK_EQ(janus_task_state(first), JANUS_TASK_BUDGET_EXHAUSTED);
    CHECK_EQ(janus_nursery_recharge(scope.get(), more), 0);
    CHECK(eventually([&] { return janus_task_state(first) == JANUS_TASK_COMPLETED; }));
    CHECK_EQ(scope.end(), 0);
  });
}

// The nursery has no budget of its own: a recharge only lets the task draw more of what the nursery shares with the
// root.
TEST(recharge, a_request_that_can_never_be_satisfied_takes_nothing) {
  run_in(with_workers(1), [] {
    constexpr std::uint64_t kMuch = std::uint64_t{1} << 40;
    Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND);
    auto allocate = [] { return janus_alloc(kMuch) == nullptr ? 0 : -1; };
    const janus_task greedy = scope.go(allocate, 0, budget_of(10'000, 65536));
    CHECK(eventually([&] { return janus_task_state(greedy) == JANUS_TASK_BUDGET_EXHAUSTED; }));
    const std::uint64_t before = janus_budget_get_current().memory;
    janus_budget more = {};
    more.memory = before / 2;
    for (int i = 0; i < 5; ++i) CHECK_EQ(janus_nursery_recharge(scope.get(), more), 0);
    CHECK_EQ(janus_budget_grant64(scope.get(), 1, kMuch), JANUS_E_BUDGET);
    CHECK_EQ(janus_budget_get_current().memory, before);
    CHECK_EQ(janus_task_state(greedy), JANUS_TASK_BUDGET_EXHAUSTED);
    scope.cancel();
    CHECK_EQ(scope.end(), JANUS_CANCELLED);
  });
}

// Two tasks draw on the nursery, two have budgets of their own, and each needs one op at a time.
TEST(recharge, a_recharge_goes_in_that_order_to_all_whatever_they_draw_on) {
  run_in(with_workers(1), [] {
    struct Shared {
      BoundedList<int, 100> went_on;
      bool counts = false;
    } shared;
    struct Spender {
      Shared* shared;
      int number;
    };
    auto spend = [](void* arg) -> std::int64_t {
      const Spender me = *static_cast<Spender*>(arg);
      int status = janus_park(-1);
      while (status == 0) {
        status = janus_yield_check(1);
        if (me.shared->counts && status == 0) me.shared->went_on.add(me.number);
      }
      return status;
    };
    Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(5000));
    std::array<Spender, 4> spenders{{{&shared, 0}, {&shared, 1}, {&shared, 2}, {&shared, 3}}};
    std::array<janus_task, 4> tasks;
    for (std::size_t i = 0; i < 4; ++i)
      tasks[i] = scope.go(spend, &spenders[i], 0, i % 2 == 0 ? budget_of(50, 65536) : janus_budget{});
    const auto is_dry = [&](janus_task task) { return janus_task_state(task) == JANUS_TASK_BUDGET_EXHAUSTED; };
    for (const janus_task task : tasks) {
      CHECK(eventually([&] { return janus_task_state(task) == JANUS_TASK_BLOCKED; }));
    }
    for (const janus_task task : tasks) {
      CHECK_EQ(janus_unpark(task), 0);
      CHECK(eventually([&] { return is_dry(task); }));
    }
    shared.counts = true;
    const janus_budget one_op = {1, 0, 0, 0, 0};
    for (std::size_t turn = 0; turn < 12; ++turn) {
      CHECK_EQ(janus_nursery_recharge(scope.get(), one_op), 0);
      CHECK(eventually([&] { return shared.went_on.size() > turn && is_dry(tasks[turn % 4]); }));
      CHECK_EQ(shared.went_on.size(), turn + 1);
    }
    for (int turn = 0; turn < 12; ++turn) CHECK_EQ(shared.went_on[static_cast<std::size_t>(turn)], turn % 4);
    scope.cancel();
    CHECK_EQ(scope.end(), JANUS_CANCELLED);
  });
}

}  // namespace

}  // namespace janus::test
