// SPDX-License-Identifier: Apache-2.0
// time_test.cpp — tasks that sleep, or park for a time.
#include "tests/api/world.h"

namespace janus::test {

namespace {

constexpr std::uint64_t kMs = 1'000'000;

struct Sleeper {
  std::uint64_t ns = kMs;
  std::atomic<bool> has_woken{false};

  void operator()() {
    CHECK_EQ(janus_sleep_ns(ns), 0);
    has_woken.store(true);
  }
  bool is_asleep() const { return !has_woken.load(std::memory_order_relaxed); }
};

}  // namespace

TEST(time, a_sleep_lasts_its_time) {
  on_any_workers([] {
    for (const std::uint64_t ns : {std::uint64_t{1}, std::uint64_t{1000}, 2 * kMs}) {
      const std::uint64_t before = janus_now_ns();
      CHECK_EQ(janus_sleep_ns(ns), 0);
      CHECK_GE(janus_now_ns(), before + ns);
    }
  });
}

TEST(time, a_sleep_until_a_time_that_has_passed_returns_at_once) {
  on_any_workers([] {
    CHECK_EQ(janus_sleep_until(1), 0);
    CHECK_EQ(janus_sleep_until(janus_now_ns()), 0);
    const std::uint64_t until = janus_now_ns() + kMs;
    CHECK_EQ(janus_sleep_until(until), 0);
    CHECK_GE(janus_now_ns(), until);
  });
}

TEST(time, others_run_while_a_task_sleeps) {
  on_any_workers([] {
    std::atomic<bool> has_run{false};
    auto other = [&] { has_run.store(true); };
    Scope scope;
    scope.go(other);
    CHECK_EQ(janus_sleep_ns(kMs), 0);
    CHECK(eventually([&] { return has_run.load(); }));
    CHECK_EQ(scope.end(), 0);
  });
}

// Tasks of one worker, which are woken in the order of their times and, among equal ones, of their sleeps.
TEST(time, sleepers_wake_up_in_order) {
  constexpr int kSleepers = 300;
  static std::uint64_t until[kSleepers];
  static int order[kSleepers], count;
  for (const bool is_deterministic : {false, true}) {
    count = 0;
    run_in(is_deterministic ? deterministic(1, 7) : with_workers(1), [] {
      const std::uint64_t start = janus_now_ns() + 300 * kMs;  // all sleep by then, also on a slow machine
      Dice dice(3);
      for (std::uint64_t& each : until) each = start + dice.below(4) * 1000;
      auto sleeper = [](void* number) -> std::int64_t {
        const auto mine = static_cast<int>(return_arg(number));
        CHECK_EQ(janus_sleep_until(until[mine]), 0);
        order[count++] = mine;
        return 0;
      };
      Scope scope;
      for (int i = 0; i < kSleepers; ++i) {
        scope.go(sleeper, as_arg(i));
        janus_yield();  // so that they fall asleep in order
      }
      CHECK_EQ(scope.end(), 0);
    });
    CHECK_EQ(count, kSleepers);
    for (int i = 1; i < kSleepers; ++i) {
      const int before = order[i - 1], after = order[i];
      CHECK(until[before] < until[after] || (until[before] == until[after] && before < after));
    }
  }
}

TEST(time, a_worker_that_computes_wakes_its_sleepers) {
  for (unsigned workers : {1u, 2u})
    run_in(with_workers(workers), [] {
      Sleeper sleeper;
      Scope scope;
      scope.go(sleeper);
      while (sleeper.is_asleep()) janus_yield_check(1);
      CHECK_EQ(scope.end(), 0);
    });
}

TEST(time, tasks_that_only_exchange_messages_let_sleepers_wake_up) {
  for (unsigned workers : {1u, 2u})
    run_in(with_workers(workers), [] {
      Sleeper sleeper;
      janus_channel *there = janus_channel_create(8, 0), *back = janus_channel_create(8, 0);
      auto echo = [&] {
        for (std::uint64_t ball; janus_channel_recv(there, &ball) == 0;) CHECK_EQ(janus_channel_send(back, &ball), 0);
      };
      Scope scope;
      scope.go(sleeper);
      scope.go(echo);
      std::uint64_t ball = 0;
      while (sleeper.is_asleep()) {
        CHECK_EQ(janus_channel_send(there, &ball), 0);
        CHECK_EQ(janus_channel_recv(back, &ball), 0);
      }
      CHECK_EQ(janus_channel_close(there), 0);
      CHECK_EQ(scope.end(), 0);
      janus_channel_release(there);
      janus_channel_release(back);
    });
}

TEST(time, tasks_that_only_yield_let_sleepers_wake_up) {
  for (unsigned workers : {1u, 2u})
    run_in(with_workers(workers), [] {
      Sleeper sleeper;
      auto yielder = [&] {
        while (sleeper.is_asleep()) janus_yield();
      };
      Scope scope;
      scope.go(sleeper);
      scope.go(yielder);
      scope.go(yielder);
      CHECK_EQ(scope.end(), 0);
    });
}

// In cages, which share a worker's time by turns.
TEST(time, a_cage_that_computes_lets_sleepers_of_others_wake_up) {
  for (unsigned workers : {1u, 2u})
    run_in(with_workers(workers), [] {
      Sleeper sleeper;
      auto computer = [&] {
        while (sleeper.is_asleep()) janus_yield_check(1);
      };
      Scope first(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(4'000'000'000));
      Scope second(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(1'000'000));
      first.go(computer);
      first.go(computer);
      second.go(sleeper);
      CHECK_EQ(second.end(), 0);
      CHECK_EQ(first.end(), 0);
    });
}

// The sleeper's worker runs a task that does not return and checks nothing, while another worker sleeps.
TEST(time, a_sleeper_wakes_up_although_its_worker_is_held) {
  for (int round = 0; round < 20; ++round)
    run_in(with_workers(2), [] {
      Sleeper sleeper{3 * kMs};
      Scope scope;
      scope.go(sleeper);
      janus_yield();
      while (sleeper.is_asleep()) __builtin_ia32_pause();
      CHECK_EQ(scope.end(), 0);
    });
}

TEST(time, a_cancel_ends_a_sleep) {
  on_any_workers([] {
    for (const std::uint64_t ns : {1000 * 1000 * kMs, UINT64_MAX}) {
      int told = 0;
      auto sleeper = [&] {
        told = janus_sleep_ns(ns);
        CHECK_EQ(janus_sleep_ns(kMs), JANUS_CANCELLED);
        CHECK_EQ(janus_sleep_until(0), JANUS_CANCELLED);
      };
      Scope scope;
      const janus_task task = scope.go(sleeper, JANUS_SPAWN_RUN_CANCELLED);
      CHECK(eventually([&] { return janus_task_state(task) == JANUS_TASK_BLOCKED; }));
      CHECK_EQ(scope.cancel(), 0);
      (void)scope.end();
      CHECK_EQ(told, JANUS_CANCELLED);
    }
  });
}

TEST(time, a_token_or_the_time_ends_a_park) {
  on_any_workers([] {
    const std::uint64_t before = janus_now_ns();
    CHECK_EQ(janus_park(static_cast<std::int64_t>(kMs)), JANUS_E_TIMEOUT);
    CHECK_GE(janus_now_ns(), before + kMs);
    const janus_task self = janus_task_self();
    CHECK_EQ(janus_unpark(self), 0);
    CHECK_EQ(janus_park(INT64_MAX), 0);
    auto waker = [&] { CHECK_EQ(janus_unpark(self), 0); };
    Scope scope;
    scope.go(waker);
    CHECK_EQ(janus_park(INT64_MAX), 0);
    CHECK_EQ(janus_park(1), JANUS_E_TIMEOUT);
    CHECK_EQ(scope.end(), 0);
  });
}

// The token comes about when the time is over; it is never lost.
TEST(time, a_token_that_comes_with_the_timeout_is_kept) {
  on_any_workers([] {
    for (int round = 0; round < 200; ++round) {
      const janus_task self = janus_task_self();
      auto waker = [&, ns = static_cast<std::uint64_t>(1 + round * 200)] {
        CHECK_EQ(janus_sleep_ns(ns), 0);
        CHECK_EQ(janus_unpark(self), 0);
      };
      Scope scope;
      scope.go(waker);
      const int first = janus_park(static_cast<std::int64_t>(20'000));
      CHECK(first == 0 || first == JANUS_E_TIMEOUT);
      CHECK_EQ(scope.end(), 0);
      CHECK_EQ(janus_park(0), first == 0 ? JANUS_E_TIMEOUT : 0);
    }
  });
}

TEST(time, an_hour_takes_no_time_in_deterministic_mode) {
  constexpr std::uint64_t kHour = 3600 * 1000 * kMs;
  std::uint64_t hashes[2];
  for (std::uint64_t& hash : hashes) {
    janus_stats stats{};
    run_in(
        deterministic(4, 11),
        [] {
          const std::uint64_t start = janus_now_ns();
          static std::atomic<std::uint64_t> sum;
          sum.store(0);
          auto sleeper = [](void* number) -> std::int64_t {
            CHECK_EQ(janus_sleep_ns(kHour * static_cast<std::uint64_t>(return_arg(number))), 0);
            return static_cast<std::int64_t>(sum.fetch_add(1)) + 1 == return_arg(number) ? 0 : -2;
          };
          Scope scope(JANUS_ON_ERROR_COLLECT);
          for (int i = 100; i > 0; --i) scope.go(sleeper, as_arg(i));
          CHECK_EQ(scope.end(), 0);
          CHECK_GE(janus_now_ns(), start + 100 * kHour);
          CHECK_LT(janus_now_ns(), start + 101 * kHour);
        },
        &stats);
    hash = stats.order_hash;
  }
  CHECK_EQ(hashes[0], hashes[1]);
}

// Such a wait for a recharge is not hopeless.
TEST(time, a_task_that_wakes_up_may_recharge_others) {
  on_any_workers([] {
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(1000));
    auto spender = [] {
      for (int i = 0; i < 3000; ++i) janus_yield_check(1);
    };
    const janus_task task = cage.go(spender);
    CHECK(eventually([&] { return janus_task_state(task) == JANUS_TASK_BUDGET_EXHAUSTED; }));
    CHECK_EQ(janus_sleep_ns(5 * kMs), 0);
    janus_budget more = {};
    more.ops = 10'000;
    CHECK_EQ(janus_nursery_recharge(cage.get(), more), 0);
    CHECK_EQ(cage.end(), 0);
  });
}

TEST(time, many_sleepers_with_one_time) {
  run_in(with_workers(2), [] {
    constexpr int kSleepers = kIsWatched ? 500 : 3000;
    static std::atomic<int> awake;
    awake.store(0);
    static std::uint64_t until;
    until = janus_now_ns() + 100 * kMs;
    auto sleeper = [](void*) -> std::int64_t {
      CHECK_EQ(janus_sleep_until(until), 0);
      CHECK_GE(janus_now_ns(), until);
      awake.fetch_add(1);
      return 0;
    };
    Scope scope;
    for (int i = 0; i < kSleepers; ++i) scope.go(sleeper, nullptr);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(awake.load(), kSleepers);
  });
}

// Sets deadlines and cancels them all the time, on several workers: none is lost, and none fires for another task.
TEST(time, a_flood_of_timeouts_that_are_met) {
  for (unsigned workers : {1u, 2u, 4u})
    run_in(with_workers(workers), [] {
      constexpr int kPairs = 8, kRounds = kIsWatched ? 100 : 300;
      static janus_task pairs[kPairs];
      auto parker = [](void*) -> std::int64_t {
        int got = 0;
        Dice dice(static_cast<std::uint64_t>(janus_task_id()));
        while (got < kRounds) {
          const int status = janus_park(static_cast<std::int64_t>(1 + dice.below(30'000)));
          CHECK(status == 0 || status == JANUS_E_TIMEOUT);
          ++got;
        }
        return 0;
      };
      std::atomic<bool> is_over{false};
      Scope scope;
      for (janus_task& each : pairs) each = scope.go(parker, nullptr);
      Scope wakers;
      auto waker = [&] {
        for (Dice dice; !is_over.load();) {
          (void)janus_unpark(pairs[dice.below(kPairs)]);
          janus_yield();
        }
      };
      wakers.go(waker);
      CHECK_EQ(scope.await(), 0);
      is_over.store(true);
      CHECK_EQ(wakers.end(), 0);
      CHECK_EQ(scope.end(), 0);
    });
}

TEST(time, a_receive_or_send_ends_when_its_time_has_passed) {
  on_any_workers([] {
    janus_channel* const channel = janus_channel_create(sizeof(std::uint64_t), 1);
    std::uint64_t word = 7;
    for (const std::uint64_t until : {std::uint64_t{1}, janus_now_ns() + kMs}) {
      CHECK_EQ(janus_channel_recv_until(channel, &word, until), JANUS_E_TIMEOUT);
      CHECK_GE(janus_now_ns(), until);
    }
    CHECK_EQ(janus_channel_send_until(channel, &word, 1), 0);  // there is room
    CHECK_EQ(janus_channel_send_until(channel, &word, 1), JANUS_E_TIMEOUT);
    CHECK_EQ(janus_channel_send_until(channel, &word, janus_now_ns() + kMs), JANUS_E_TIMEOUT);
    word = 0;
    CHECK_EQ(janus_channel_recv_until(channel, &word, 1), 0);
    CHECK_EQ(word, 7u);
    auto sender = [&] {
      std::uint64_t eight = 8;
      CHECK_EQ(janus_sleep_ns(kMs), 0);
      CHECK_EQ(janus_channel_send(channel, &eight), 0);
    };
    Scope scope;
    scope.go(sender);
    CHECK_EQ(janus_channel_recv_until(channel, &word, UINT64_MAX), 0);
    CHECK_EQ(word, 8u);
    auto closer = [&] {
      CHECK_EQ(janus_sleep_ns(kMs), 0);
      CHECK_EQ(janus_channel_close(channel), 0);
    };
    scope.go(closer);
    CHECK_EQ(janus_channel_recv_until(channel, &word, janus_now_ns() + 3600 * 1000 * kMs), JANUS_E_CLOSED);
    CHECK_EQ(scope.end(), 0);
    janus_channel_release(channel);
  });
}

// A message, a cancel and the time come about at once: each message arrives once, at whoever received it.
TEST(time, messages_are_neither_lost_nor_doubled_by_timeouts) {
  for (unsigned workers : {1u, 2u, 4u})
    run_in(with_workers(workers), [] {
      constexpr int kMessages = kIsWatched ? 300 : 1000;
      janus_channel* const channel = janus_channel_create(sizeof(std::uint64_t), 0);
      static std::atomic<std::uint64_t> sent, received;
      sent.store(0), received.store(0);
      auto sender = [&] {
        Dice dice(1);
        for (std::uint64_t number = 1; number <= kMessages; ++number)
          if (janus_channel_send_until(channel, &number, janus_now_ns() + dice.below(20'000)) == 0)
            sent.fetch_add(number);
      };
      std::atomic<bool> is_over{false};
      auto receiver = [&] {
        Dice dice(2);
        while (!is_over.load()) {
          std::uint64_t number = 0;
          if (janus_channel_recv_until(channel, &number, janus_now_ns() + dice.below(20'000)) == 0)
            received.fetch_add(number);
        }
      };
      Scope senders, receivers;
      receivers.go(receiver);
      receivers.go(receiver);
      senders.go(sender);
      senders.go(sender);
      CHECK_EQ(senders.end(), 0);
      is_over.store(true);
      CHECK_EQ(receivers.end(), 0);
      CHECK_GT(sent.load(), 0u);
      CHECK_EQ(sent.load(), received.load());
      janus_channel_release(channel);
    });
}

TEST(time, a_join_or_await_ends_when_its_time_has_passed) {
  on_any_workers([] {
    std::atomic<bool> may_end{false};
    auto child = [&]() -> std::int64_t {
      while (!may_end.load()) CHECK_EQ(janus_sleep_ns(kMs / 10), 0);
      return 5;
    };
    Scope scope;
    const janus_task task = scope.go(child);
    std::int64_t value = 0;
    CHECK_EQ(janus_task_join_until(task, &value, 1), JANUS_E_TIMEOUT);
    CHECK_EQ(janus_task_join_until(task, &value, janus_now_ns() + kMs), JANUS_E_TIMEOUT);
    CHECK_EQ(janus_nursery_await_until(scope.get(), nullptr, 1), JANUS_E_TIMEOUT);
    CHECK_EQ(janus_nursery_await_until(scope.get(), nullptr, janus_now_ns() + kMs), JANUS_E_TIMEOUT);
    CHECK_EQ(janus_nursery_state(scope.get()), JANUS_NURSERY_CLOSING);
    may_end.store(true);
    CHECK_EQ(janus_task_join_until(task, &value, UINT64_MAX), 0);
    CHECK_EQ(value, 5);
    CHECK_EQ(janus_nursery_await_until(scope.get(), nullptr, 0), 0);
    CHECK_EQ(janus_task_join_until(task, &value, 1), 0);  // it has ended
    CHECK_EQ(scope.end(), 0);
  });
}

// Although such a child would else run on the stack of the task that waits.
TEST(time, an_await_ends_in_time_beside_a_child_that_computes) {
  for (unsigned workers : {1u, 2u})
    run_in(with_workers(workers), [] {
      std::atomic<bool> may_end{false};
      auto child = [&] {
        while (!may_end.load(std::memory_order_relaxed)) janus_yield_check(1);
      };
      Scope scope;
      scope.go(child);
      CHECK_EQ(janus_nursery_await_until(scope.get(), nullptr, janus_now_ns() + kMs), JANUS_E_TIMEOUT);
      CHECK_EQ(janus_nursery_await_until(scope.get(), nullptr, 1), JANUS_E_TIMEOUT);
      may_end.store(true);
      CHECK_EQ(scope.end(), 0);
    });
}

TEST(time, a_thread_outside_tasks_awaits_until_a_time) {
  const janus_rt_config config = with_workers(2);
  janus_rt* const rt = janus_rt_create(&config);
  if (!CHECK(rt != nullptr)) return;
  static std::atomic<bool> may_end;
  may_end.store(false);
  janus_nursery* const nursery = janus_nursery_open(rt, nullptr);
  const auto child = [](void*) -> std::int64_t {
    while (!may_end.load()) CHECK_EQ(janus_sleep_ns(kMs), 0);
    return 0;
  };
  CHECK_NE(janus_nursery_spawn_in(nursery, child, nullptr, nullptr).raw, 0u);
  CHECK_EQ(janus_nursery_await_until(nursery, nullptr, janus_now_ns() + 5 * kMs), JANUS_E_TIMEOUT);
  may_end.store(true);
  CHECK_EQ(janus_nursery_await_until(nursery, nullptr, UINT64_MAX), 0);
  CHECK_EQ(janus_nursery_destroy(nursery), 0);
  janus_rt_destroy(rt);
}

// The thread is about to do something, so its task's wait is no deadlock.
TEST(time, a_thread_that_awaits_until_a_time_may_wake_tasks_afterwards) {
  const janus_rt_config config = with_workers(2);
  janus_rt* const rt = janus_rt_create(&config);
  if (!CHECK(rt != nullptr)) return;
  janus_nursery* const nursery = janus_nursery_open(rt, nullptr);
  const janus_task task = spawn(nursery, [](void*) -> std::int64_t { return janus_park(-1); });
  CHECK_EQ(janus_nursery_await_until(nursery, nullptr, janus_now_ns() + 20 * kMs), JANUS_E_TIMEOUT);
  CHECK_EQ(janus_unpark(task), 0);
  CHECK_EQ(janus_nursery_await(nursery, nullptr), 0);
  CHECK_EQ(janus_nursery_destroy(nursery), 0);
  janus_rt_destroy(rt);
}

// The timer lies on a stack that is left by a panic: a receiver whose memory cannot be written when a message comes. On a
// machine that stands still for some time the message comes too late.
TEST(time, a_task_that_ends_by_force_leaves_no_timer) {
  for (unsigned workers : {1u, 2u})
    run_in(with_workers(workers), [] {
      int panics = 0;
      for (int round = 0; round < 20; ++round) {
        janus_channel* const channel = janus_channel_create(sizeof(std::uint64_t), 0);
        auto receiver = [&]() -> std::int64_t {
          return janus_channel_recv_until(channel, reinterpret_cast<void*>(std::uintptr_t{4096}),
                                          janus_now_ns() + 2 * kMs);
        };
        Scope scope(JANUS_ON_ERROR_COLLECT);
        const janus_task task = scope.go(receiver);
        (void)eventually([&] { return janus_task_state(task) >= JANUS_TASK_BLOCKED; });
        std::uint64_t word = 1;
        CHECK_EQ(janus_channel_send_until(channel, &word, janus_now_ns() + 4 * kMs), JANUS_E_TIMEOUT);
        const std::int64_t result = scope.end();
        CHECK(result == JANUS_PANIC || result == JANUS_E_TIMEOUT);
        panics += result == JANUS_PANIC;
        janus_channel_release(channel);
      }
      CHECK_GT(panics, 0);
    });
}

namespace {

janus_nursery* open_until(std::uint64_t deadline_ns, janus_rt* rt = nullptr) {
  janus_nursery_options options = {};
  options.on_error = JANUS_ON_ERROR_COLLECT;
  options.deadline_ns = deadline_ns;
  janus_nursery* const nursery = janus_nursery_open(rt, &options);
  CHECK(nursery != nullptr);
  return nursery;
}

std::int64_t sleep_for_an_hour(void*) {
  return janus_sleep_ns(3600 * 1000 * kMs);
}

void expect_deadline(janus_nursery* nursery, std::uint64_t deadline_ns) {
  janus_result result = {};
  CHECK_EQ(janus_nursery_await(nursery, &result), JANUS_CANCELLED);
  CHECK_EQ(result.kind, JANUS_KIND_CANCELLED);
  CHECK_EQ(result.cause, JANUS_CAUSE_DEADLINE);
  CHECK_GE(janus_now_ns(), deadline_ns);
  CHECK_EQ(janus_nursery_destroy(nursery), 0);
}

}  // namespace

TEST(time, a_nursery_is_cancelled_at_its_deadline) {
  on_any_workers([] {
    const std::uint64_t deadline_ns = janus_now_ns() + 2 * kMs;
    janus_nursery* const nursery = open_until(deadline_ns);
    for (int i = 0; i < 3; ++i) spawn(nursery, sleep_for_an_hour);
    spawn(nursery, [](void*) -> std::int64_t {
      for (;;)
        if (janus_yield_check(1) < 0) return JANUS_CANCELLED;
    });
    spawn(nursery, [](void*) -> std::int64_t {  // what it opens is cancelled with it
      janus_nursery* const inner = open_until(janus_now_ns() + 3600 * 1000 * kMs);
      spawn(inner, sleep_for_an_hour);
      return end(inner);
    });
    expect_deadline(nursery, deadline_ns);
  });
}

TEST(time, a_nursery_whose_deadline_has_passed_takes_no_task) {
  on_any_workers([] {
    janus_nursery* const nursery = open_until(1);
    CHECK_EQ(janus_nursery_spawn_in(nursery, sleep_for_an_hour, nullptr, nullptr).raw, 0u);
    CHECK_EQ(janus_last_error(), JANUS_E_STATE);
    expect_deadline(nursery, 1);
  });
}

TEST(time, a_nursery_that_ends_before_its_deadline_has_none_any_more) {
  on_any_workers([] {
    for (int round = 0; round < 200; ++round) {
      janus_nursery* const timed = open_until(janus_now_ns() + static_cast<std::uint64_t>(round % 20) * 1000);
      (void)janus_nursery_spawn_in(timed, return_arg, as_arg(0), nullptr);
      const long status = janus_nursery_await(timed, nullptr);
      CHECK(status == 0 || status == JANUS_CANCELLED);
      CHECK_EQ(janus_nursery_destroy(timed), 0);
      Scope plain;  // in the same record
      CHECK_NE(plain.go(return_arg, as_arg(0)).raw, 0u);
      CHECK_EQ(janus_sleep_ns(1000), 0);
      CHECK_EQ(plain.end(), 0);
    }
  });
}

// They are told in parts.
TEST(time, a_deadline_ends_many_waits) {
  for (unsigned workers : {1u, 2u})
    run_in(with_workers(workers), [] {
      constexpr int kTasks = kIsWatched ? 500 : 2000;
      const std::uint64_t deadline_ns = janus_now_ns() + 30 * kMs;
      janus_nursery* const nursery = open_until(deadline_ns);
      static std::atomic<int> told;
      told.store(0);
      int spawned = 0;  // on a slow machine not all in time
      for (int i = 0; i < kTasks; ++i) {
        const janus_task task = spawn(
            nursery,
            [](void*) -> std::int64_t {
              const int status = janus_park(-1);
              told.fetch_add(status == JANUS_CANCELLED ? 1 : 0);
              return status;
            },
            nullptr, JANUS_SPAWN_RUN_CANCELLED);
        spawned += task.raw != 0 ? 1 : 0;
      }
      expect_deadline(nursery, deadline_ns);
      CHECK_GT(spawned, 0);
      CHECK_EQ(told.load(), spawned);
    });
}

TEST(time, a_cage_pays_for_its_deadline) {
  for (unsigned workers : {1u, 2u})
    run_in(with_workers(workers), [] {
      janus_nursery_options options = {};
      options.on_error = JANUS_ON_ERROR_COLLECT;
      options.budget = budget_of(1'000'000, 64 << 20);
      options.deadline_ns = janus_now_ns() + 5 * kMs;
      janus_nursery* const cage = janus_nursery_open(nullptr, &options);
      for (int i = 0; i < 600; ++i) spawn(cage, sleep_for_an_hour);
      expect_deadline(cage, options.deadline_ns);
    });
}

TEST(time, a_thread_outside_tasks_gives_a_nursery_a_deadline) {
  const janus_rt_config config = with_workers(2);
  janus_rt* const rt = janus_rt_create(&config);
  if (!CHECK(rt != nullptr)) return;
  const std::uint64_t deadline_ns = janus_now_ns() + 100 * kMs;
  janus_nursery* const nursery = open_until(deadline_ns, rt);
  CHECK_NE(janus_nursery_spawn_in(nursery, sleep_for_an_hour, nullptr, nullptr).raw, 0u);
  expect_deadline(nursery, deadline_ns);
  janus_rt_destroy(rt);
}

}  // namespace janus::test
