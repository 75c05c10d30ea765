// SPDX-License-Identifier: Apache-2.0
// channel_test.cpp — channels used from several workers, from threads outside tasks and from tasks of other runtimes,
// and cancels in the middle of a hand-over. A message arrives once, or its sender learns that it did not arrive.
#include "rt/abi/entry/global_runtime.h"
#include "tests/api/world.h"
#include "tests/harness/thread_group.h"

namespace janus::test {

namespace {

constexpr unsigned kWorlds[] = {1, 2, 4};

// Runs `body` in a runtime of `config` twice: as in a host program, and as in a freestanding program, where every
// calling thread is a worker and calls take shorter paths.
template <class Body>
void run_both_ways(const janus_rt_config& config, Body body) {
  run_in(config, body);
  run_in(config, [&] {
    every_thread_is_worker = true;
    body();
    every_thread_is_worker = false;
  });
}

// Sends each word back. After enough round trips the locks of both channels are owned by a worker.
std::int64_t echo(void* arg) {
  auto* const* const pair = static_cast<janus_channel**>(arg);
  long value = 0;
  for (;;) {
    const int status = janus_channel_recv(pair[0], &value);
    if (status == JANUS_E_CLOSED) return 0;
    if (status != 0 || janus_channel_send(pair[1], &value) != 0) return -5;
  }
}

long round_trips(janus_channel* const* pair, long count) {
  long good = 0;
  for (long i = 0; i < count; ++i) {
    long value = i;
    good += janus_channel_send(pair[0], &value) == 0 && janus_channel_recv(pair[1], &value) == 0 && value == i;
  }
  return good;
}

}  // namespace

TEST(channels, ping_pong_works_with_any_capacity_and_any_number_of_workers) {
  const long count = scaled(20000, 2000);
  for (const unsigned workers : kWorlds) {
    for (const std::size_t capacity : {0, 1, 7}) {
      const auto body = [&] {
        janus_channel* pair[] = {janus_channel_create(sizeof(long), capacity), janus_channel_create(sizeof(long), 0)};
        Scope scope;
        scope.go(echo, pair);
        CHECK_EQ(round_trips(pair, count), count);
        CHECK_EQ(janus_channel_close(pair[0]), 0);
        CHECK_EQ(scope.end(), 0);
        for (janus_channel* channel : pair) janus_channel_release(channel);
      };
      run_both_ways(with_workers(workers), body);
      run_in(deterministic(workers, capacity), body);
    }
  }
}

TEST(channels, channel_operations_are_charged_in_both_directions) {
  constexpr long kCount = 500;
  for (const unsigned workers : kWorlds) {
    janus_budget left{}, before{};
    run_both_ways(with_workers(workers), [&] {
      janus_channel* const channel = janus_channel_create(sizeof(long), kCount);
      long value = 0;
      for (long i = 0; i < 100; ++i)
        CHECK_EQ(janus_channel_send(channel, &value) + janus_channel_recv(channel, &value), 0);
      auto spender = [&] {
        before = janus_budget_get_current();
        for (long i = 0; i < kCount; ++i) CHECK_EQ(janus_channel_send(channel, &value), 0);
        for (long i = 0; i < kCount; ++i) CHECK_EQ(janus_channel_recv(channel, &value), 0);
        left = janus_budget_get_current();
        for (long i = 0; i < 50000; ++i)
          if (const int status = janus_channel_send(channel, &value)) return static_cast<std::int64_t>(status);
        return std::int64_t{0};
      };
      Scope scope(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_DENY);
      janus_budget budget = JANUS_BUDGET_ALL;
      budget.channel_ops = 3 * kCount;
      scope.go(spender, 0, budget);
      CHECK_EQ(scope.end(), JANUS_E_BUDGET);
      janus_channel_release(channel);
    });
    CHECK_EQ(before.channel_ops - left.channel_ops, 2 * kCount);
  }
}

// --- Cages ---

namespace {

janus_budget cage_budget(std::uint16_t channel_ops) {
  janus_budget budget = budget_of(1'000'000);
  budget.channel_ops = channel_ops;
  return budget;
}

// Sends and receives so often that the worker owns the lock. Costs kWarmUp ops and channel_ops.
constexpr std::uint32_t kWarmUp = 200;
janus_channel* warm(janus_channel* channel) {
  long value = 0;
  for (std::uint32_t i = 0; i < kWarmUp; i += 2)
    CHECK_EQ(janus_channel_send(channel, &value) + janus_channel_recv(channel, &value), 0);
  return channel;
}

}  // namespace

TEST(channels, the_innermost_cage_pays_and_no_other) {
  static constexpr std::uint32_t kCount = 300;
  for (const unsigned workers : kWorlds) {
    run_both_ways(with_workers(workers), [] {
      janus_channel* const channel = janus_channel_create(sizeof(long), kCount);
      const std::uint64_t counted = stats_of().channel_ops;
      auto innermost = [&] {
        warm(channel);
        const janus_budget before = janus_budget_get_current();
        long value = 0;
        for (std::uint32_t i = 0; i < kCount; ++i) CHECK_EQ(janus_channel_send(channel, &value), 0);
        const janus_budget between = janus_budget_get_current();
        for (std::uint32_t i = 0; i < kCount; ++i) CHECK_EQ(janus_channel_recv(channel, &value), 0);
        const janus_budget after = janus_budget_get_current();
        CHECK_EQ(before.channel_ops - between.channel_ops, kCount);
        CHECK_EQ(between.channel_ops - after.channel_ops, kCount);
        CHECK_EQ(before.ops - between.ops, kCount + 1);  // and the look at the budget
        CHECK_EQ(between.ops - after.ops, kCount + 1);
      };
      auto outer = [&] {
        const std::uint32_t before = janus_budget_get_current().channel_ops;
        Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_FAIL, cage_budget(1000));
        CHECK_EQ(before - janus_budget_get_current().channel_ops, 1000u);
        cage.go(innermost);
        CHECK_EQ(cage.await(), 0);
        CHECK_EQ(before - janus_budget_get_current().channel_ops, 1000u);
        CHECK_EQ(cage.end(), 0);
        CHECK_EQ(before - janus_budget_get_current().channel_ops, kWarmUp + 2 * kCount);
      };
      janus_budget budget = budget_of(4'000'000, 64 << 20);
      budget.channel_ops = 10'000;
      Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_FAIL, budget);
      cage.go(outer);
      CHECK_EQ(cage.end(), 0);
      CHECK_EQ(stats_of().channel_ops - counted, kWarmUp + 2 * kCount);
      janus_channel_release(channel);
    });
  }
}

TEST(channels, a_cage_sends_as_often_as_it_may_and_then_its_policy_decides) {
  for (const unsigned workers : kWorlds) {
    run_both_ways(with_workers(workers), [] {
      static constexpr std::uint16_t kMay = 500;
      janus_channel* const channel = janus_channel_create(sizeof(long), 4 * kMay);
      std::atomic<std::uint32_t> sent = 0;  // read while the sender waits
      std::int64_t answer = 0;
      auto sender = [&] {
        warm(channel);
        for (long i = 0; (answer = janus_channel_send(channel, &i)) == 0 && sent < 3 * kMay;) ++sent;
      };
      for (const std::uint32_t policy : {JANUS_ON_EXHAUSTION_DENY, JANUS_ON_EXHAUSTION_FAIL}) {
        sent = 0;
        answer = 0;
        Scope cage(JANUS_ON_ERROR_CANCEL, policy, cage_budget(kWarmUp + kMay));
        cage.go(sender);
        CHECK_EQ(cage.end(), policy == JANUS_ON_EXHAUSTION_FAIL ? JANUS_BUDGET_EXCEEDED : 0);
        CHECK_EQ(answer, policy == JANUS_ON_EXHAUSTION_FAIL ? 0 : JANUS_E_BUDGET);
        CHECK_EQ(sent.load(), kMay);
        long value = 0;
        for (; sent != 0; --sent) CHECK_EQ(janus_channel_recv(channel, &value), 0);
        CHECK_EQ(janus_channel_try_recv(channel, &value), JANUS_E_WOULD_BLOCK);
      }
      Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, cage_budget(kWarmUp + kMay));
      const janus_task task = cage.go(sender);
      for (std::uint32_t round = 1; round <= 2; ++round) {
        CHECK(eventually([&] { return janus_task_state(task) == JANUS_TASK_BUDGET_EXHAUSTED; }));
        CHECK_EQ(sent.load(), round * kMay);
        janus_budget more = {};
        more.channel_ops = kMay;
        if (round == 1) CHECK_EQ(janus_nursery_recharge(cage.get(), more), 0);
      }
      cage.cancel();
      CHECK_EQ(cage.end(), JANUS_CANCELLED);
      CHECK_EQ(sent.load(), 2 * kMay);
      janus_channel_release(channel);
    });
  }
}

TEST(channels, a_cage_without_channel_ops_sends_nothing_where_others_send) {
  run_both_ways(with_workers(1), [] {
    janus_channel* const channel = warm(janus_channel_create(sizeof(long), 1));
    auto sender = [&] {
      long value = 0;
      CHECK_EQ(janus_channel_send(channel, &value), JANUS_E_NO_CAP);
      CHECK_EQ(janus_channel_recv(channel, &value), JANUS_E_NO_CAP);
    };
    Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, cage_budget(0));
    cage.go(sender);
    CHECK_EQ(cage.end(), 0);
    long value = 0;
    CHECK_EQ(janus_channel_try_recv(channel, &value), JANUS_E_WOULD_BLOCK);
    janus_channel_release(channel);
  });
}

TEST(channels, a_crowd_in_a_cage_sends_and_receives_as_often_as_the_cage_may) {
  for (const unsigned workers : kWorlds) {
    run_both_ways(with_workers(workers), [] {
      static constexpr std::uint16_t kMay = 60'000;
      std::atomic<std::uint32_t> done{0};
      auto one = [&] {
        janus_channel* const channel = janus_channel_create(sizeof(long), 1);
        std::uint32_t mine = 0;
        long value = 0;
        while ((mine % 2 == 0 ? janus_channel_send(channel, &value) : janus_channel_recv(channel, &value)) == 0) ++mine;
        done.fetch_add(mine);
        janus_channel_release(channel);
      };
      Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_DENY, cage_budget(kMay));
      for (int i = 0; i < 4; ++i) cage.go(one);
      CHECK_EQ(cage.end(), 0);
      CHECK_EQ(done.load(), kMay);
    });
  }
}

// Each wait gives back the rest of the slice.
TEST(channels, two_in_a_cage_that_wait_for_each_other_pay_for_their_calls_alone) {
  static constexpr std::uint32_t kCount = 500;
  for (const unsigned workers : kWorlds) {
    const auto body = [] {
      auto both = [] {
        const janus_budget before = janus_budget_get_current();
        janus_channel* pair[] = {janus_channel_create(sizeof(long), 0), janus_channel_create(sizeof(long), 0)};
        Scope scope;
        scope.go(echo, pair);
        CHECK_EQ(round_trips(pair, kCount), static_cast<long>(kCount));
        CHECK_EQ(janus_channel_close(pair[0]), 0);
        CHECK_EQ(scope.end(), 0);
        for (janus_channel* channel : pair) janus_channel_release(channel);
        const janus_budget after = janus_budget_get_current();
        CHECK_EQ(before.channel_ops - after.channel_ops, 4 * kCount + 1);  // the echo's last receive finds it closed
        CHECK_GE(before.ops - after.ops, 4 * kCount + 1);
        CHECK_LE(before.ops - after.ops, 4 * kCount + 20);
      };
      Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_FAIL, cage_budget(10'000));
      cage.go(both);
      CHECK_EQ(cage.end(), 0);
    };
    run_both_ways(with_workers(workers), body);
    run_in(deterministic(workers, workers), body);
  }
}

// The task is told to end while it waits, after it was served. Its next send sees that and sends nothing.
TEST(channels, the_next_call_of_a_task_in_a_cage_sees_a_cancel) {
  enum class Told { kCage, kAbove, kWithOwnBudget, kAlone };
  for (const Told told : {Told::kCage, Told::kAbove, Told::kWithOwnBudget, Told::kAlone}) {
    for (const bool some_were_cancelled_before : {false, true}) {
      run_both_ways(with_workers(1), [=] {
        if (some_were_cancelled_before) {
          Scope other(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, cage_budget(1));
          other.cancel();
          CHECK_EQ(other.end(), JANUS_CANCELLED);
        }
        janus_channel* const signal = janus_channel_create(sizeof(long), 0);
        janus_channel* const channel = janus_channel_create(sizeof(long), 1);
        int answer = 1;
        long value = 0;
        auto task = [&] {
          warm(channel);
          CHECK_EQ(janus_channel_recv(signal, &value), 0);
          answer = janus_channel_send(channel, &value);
        };
        auto opener = [&] {
          Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, cage_budget(1000));
          cage.go(task);
          return cage.end();
        };
        const bool has_cage = told == Told::kCage || told == Told::kAlone;
        Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, has_cage ? cage_budget(1000) : janus_budget{});
        const janus_task first = told == Told::kAbove           ? scope.go(opener)
                                 : told == Told::kWithOwnBudget ? scope.go(task, 0, cage_budget(1000))
                                                                : scope.go(task);
        CHECK(eventually([&] { return janus_channel_try_send(signal, &value) == 0; }));
        CHECK_EQ(told == Told::kAlone ? janus_task_cancel(first) : scope.cancel(), 0);
        (void)scope.end();
        CHECK_EQ(answer, JANUS_CANCELLED);
        CHECK_EQ(janus_channel_try_recv(channel, &value), JANUS_E_WOULD_BLOCK);
        janus_channel_release(signal);
        janus_channel_release(channel);
      });
    }
  }
}

// A cancel elsewhere, while the task waits: its next call has to walk up to the root, and so begins on the general path.
TEST(channels, a_call_in_a_cage_after_a_cancel_elsewhere_is_charged_once) {
  run_both_ways(with_workers(1), [] {
    janus_channel* const signal = janus_channel_create(sizeof(long), 0);
    janus_channel* const channel = janus_channel_create(sizeof(long), 1);
    long value = 0;
    auto child = [&] {
      warm(channel);
      for (int i = 0; i < 10; ++i) {
        const std::uint32_t before = janus_budget_get_current().channel_ops;
        CHECK_EQ(janus_channel_recv(signal, &value), 0);
        CHECK_EQ(i % 2 == 0 ? janus_channel_send(channel, &value) : janus_channel_recv(channel, &value), 0);
        CHECK_EQ(before - janus_budget_get_current().channel_ops, 2u);
      }
    };
    Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_FAIL, cage_budget(1000));
    const janus_task task = cage.go(child);
    for (int i = 0; i < 10; ++i) {
      CHECK(eventually([&] { return janus_task_state(task) == JANUS_TASK_BLOCKED; }));
      Scope other(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, cage_budget(1));
      CHECK_EQ(other.cancel(), 0);
      CHECK_EQ(other.end(), JANUS_CANCELLED);
      CHECK_EQ(janus_channel_send(signal, &value), 0);
    }
    CHECK_EQ(cage.end(), 0);
    janus_channel_release(signal);
    janus_channel_release(channel);
  });
}

// --- Threads outside ---

namespace {

struct Outsiders {
  std::atomic<janus_channel*> channel{nullptr};
  std::atomic<long> sent{0}, received{0};
  std::atomic<bool> is_over{false};
};

// A thread outside tasks that sends and receives all the time. Each call takes the lock away from its owner.
void meddle(Outsiders& outsiders) {
  while (outsiders.channel.load() == nullptr) __builtin_ia32_pause();
  for (long i = 1; !outsiders.is_over.load(); ++i) {
    long value = i;
    if (janus_channel_try_send(outsiders.channel, &value) == 0) outsiders.sent.fetch_add(value);
    value = 0;
    if (i % 2 == 0 && janus_channel_try_recv(outsiders.channel, &value) == 0) outsiders.received.fetch_add(value);
    for (int nap = 0; nap < 2000; ++nap) __builtin_ia32_pause();
  }
}

struct Load {
  Outsiders* outsiders;
  long first, count;
};

std::int64_t produce(void* arg) {
  const Load load = *static_cast<Load*>(arg);
  for (long i = load.first; i < load.first + load.count; ++i) {
    if (janus_channel_send(load.outsiders->channel, &i) != 0) return -5;
    load.outsiders->sent.fetch_add(i);
    if (i % 1000 == 0) janus_yield();
  }
  return 0;
}

std::int64_t consume(void* arg) {
  auto& outsiders = *static_cast<Outsiders*>(arg);
  long value = 0;
  while (janus_channel_recv(outsiders.channel, &value) == 0) outsiders.received.fetch_add(value);
  return 0;
}

}  // namespace

TEST(channels, threads_outside_meet_tasks_and_nothing_is_lost_or_doubled) {
  const long count = scaled(50000, 3000);
  for (const unsigned workers : kWorlds) {
    for (const std::size_t capacity : {0, 3}) {
      Outsiders outsiders;
      Load loads[2] = {{&outsiders, 1, count}, {&outsiders, 1'000'000, count}};
      janus_rt_config config = with_workers(workers);
      janus_rt* const rt = janus_rt_create(&config);
      REQUIRE(rt != nullptr);
      ThreadGroup threads;
      auto thread = [&] { meddle(outsiders); };
      threads.start(thread);
      threads.start(thread);
      auto root = [&] {
        outsiders.channel = janus_channel_create(sizeof(long), capacity);
        Scope readers, writers;
        for (int i = 0; i < 2; ++i) readers.go(consume, &outsiders);
        for (Load& load : loads) writers.go(produce, &load);
        CHECK_EQ(writers.end(), 0);
        outsiders.is_over.store(true);
        threads.join();
        CHECK_EQ(janus_channel_close(outsiders.channel), 0);
        CHECK_EQ(readers.end(), 0);
        janus_channel_release(outsiders.channel);
      };
      CHECK_EQ(janus_rt_run(rt, call_closure<decltype(root)>, &root), 0);
      janus_rt_destroy(rt);
      CHECK_EQ(outsiders.sent.load(), outsiders.received.load());
    }
  }
}

// --- Tasks of other runtimes ---

TEST(channels, tasks_of_two_runtimes_talk_over_the_channels_of_one) {
  const long count = scaled(5000, 500);
  for (const unsigned workers : {1u, 2u}) {
    const janus_rt_config config = with_workers(workers), other = with_workers(3);
    janus_rt* const home = janus_rt_create(&config);
    janus_rt* const abroad = janus_rt_create(&other);
    REQUIRE(home != nullptr && abroad != nullptr);
    janus_channel* pair[2] = {};
    std::atomic<bool> is_ready{false};
    std::int64_t answer = 1;
    auto echo_abroad = [&]() -> std::int64_t {
      long value = 0;
      while (janus_channel_recv(pair[0], &value) == 0) {
        if (stats_of().workers != 3) return -6;  // true if the task is still on a worker of its own runtime
        if (janus_channel_send(pair[1], &value) != 0 || stats_of().workers != 3) return -7;
      }
      return 0;
    };
    auto far = [&] { answer = janus_rt_run(abroad, call_closure<decltype(echo_abroad)>, &echo_abroad); };
    auto thread = [&] {
      while (!is_ready.load()) __builtin_ia32_pause();
      far();
    };
    ThreadGroup threads;
    threads.start(thread);
    auto root = [&] {
      for (janus_channel*& channel : pair) channel = janus_channel_create(sizeof(long), 0);
      {  // enough round trips that a worker of this runtime comes to own the locks
        Scope scope;
        scope.go(echo, pair);
        CHECK_EQ(round_trips(pair, 200), 200);
        is_ready.store(true);
        CHECK_EQ(round_trips(pair, count), count);  // the local or the remote echo answers
        CHECK_EQ(janus_channel_close(pair[0]), 0);
        CHECK_EQ(scope.end(), 0);
      }
    };
    CHECK_EQ(janus_rt_run(home, call_closure<decltype(root)>, &root), 0);
    threads.join();
    CHECK_EQ(answer, 0);
    auto release = [&] {
      for (janus_channel* channel : pair) janus_channel_release(channel);
    };
    janus_rt_run(home, call_closure<decltype(release)>, &release);
    janus_rt_destroy(abroad);
    janus_rt_destroy(home);
  }
}

TEST(channels, a_task_of_another_runtime_sends_many) {
  const long count = scaled(20000, 2000);
  for (const std::size_t capacity : {0, 16}) {
    const janus_rt_config config = with_workers(2), other = with_workers(3);
    janus_rt* const home = janus_rt_create(&config);
    janus_rt* const abroad = janus_rt_create(&other);
    REQUIRE(home != nullptr && abroad != nullptr);
    janus_channel* channel = nullptr;
    std::atomic<bool> is_ready{false};
    std::int64_t answer = 1;
    auto send_all = [&]() -> std::int64_t {
      long values[10];
      for (long next = 0; next < count;) {
        for (long i = 0; i < 10; ++i) values[i] = next + i;
        const int sent = janus_channel_send_many(channel, values, 10);
        if (sent <= 0) return -6;
        if (stats_of().workers != 3) return -7;
        next += sent;
      }
      return janus_channel_close(channel);
    };
    auto far = [&] {
      while (!is_ready.load()) __builtin_ia32_pause();
      answer = janus_rt_run(abroad, call_closure<decltype(send_all)>, &send_all);
    };
    ThreadGroup threads;
    threads.start(far);
    auto root = [&] {
      channel = janus_channel_create(sizeof(long), capacity);
      is_ready.store(true);
      long values[7], next = 1;
      int got;
      // A wait before the other runtime has come would be a deadlock of this one.
      while (janus_channel_try_recv(channel, values) != 0) janus_yield();
      CHECK_EQ(values[0], 0);
      while ((got = janus_channel_recv_many(channel, values, 7)) > 0) {
        for (int i = 0; i < got; ++i) {
          if (!CHECK_EQ(values[i], next)) return;
          ++next;
        }
      }
      CHECK_EQ(got, JANUS_E_CLOSED);
      CHECK_GE(next, count);
      janus_channel_release(channel);
    };
    CHECK_EQ(janus_rt_run(home, call_closure<decltype(root)>, &root), 0);
    threads.join();
    CHECK_EQ(answer, 0);
    janus_rt_destroy(abroad);
    janus_rt_destroy(home);
  }
}

TEST(channels, a_cancel_reaches_a_task_that_waits_at_a_channel_of_another_runtime) {
  janus_rt_config config = with_workers(2);
  janus_rt* const home = janus_rt_create(&config);
  janus_rt* const abroad = janus_rt_create(&config);
  REQUIRE(home != nullptr && abroad != nullptr);
  janus_channel* channel = nullptr;
  auto make = [&] { channel = janus_channel_create(sizeof(long), 0); };
  janus_rt_run(home, call_closure<decltype(make)>, &make);
  auto root = [&]() -> std::int64_t {
    for (int round = 0; round < 50; ++round) {
      Scope scope;
      std::atomic<int> cancelled{0};
      auto waiter = [&]() -> std::int64_t {
        long value = 0;
        const int status = janus_channel_recv(channel, &value);
        cancelled.fetch_add(status == JANUS_CANCELLED);
        return status;
      };
      janus_task tasks[4];
      for (janus_task& task : tasks) task = scope.go(waiter);
      if (round % 2 == 0) CHECK(eventually([&] { return janus_task_state(tasks[3]) == JANUS_TASK_BLOCKED; }));
      scope.cancel();
      CHECK_EQ(scope.end(), JANUS_CANCELLED);
      if (round % 2 == 0) CHECK_GE(cancelled.load(), 1);
    }
    long value = 0;
    return janus_channel_try_send(channel, &value);  // the queue of waiters is empty
  };
  CHECK_EQ(janus_rt_run(abroad, call_closure<decltype(root)>, &root), JANUS_E_WOULD_BLOCK);
  auto release = [&] { janus_channel_release(channel); };
  janus_rt_run(home, call_closure<decltype(release)>, &release);
  janus_rt_destroy(abroad);
  janus_rt_destroy(home);
}

// --- Cancels ---

// Tasks send and receive while some of them are cancelled, from whichever worker the root runs on. Each message that
// was received was sent, and each that its sender believes sent was received.
TEST(channels, a_cancel_comes_before_a_hand_over_or_not_at_all) {
  for (const unsigned workers : kWorlds) {
    for (int round = 0; round < scaled(21, kIsWatched ? 7 : 3); ++round) {
      std::atomic<long> sent{0}, received{0};
      const auto body = [&] {
        janus_channel* const channel = janus_channel_create(sizeof(long), static_cast<std::size_t>(round % 3));
        auto sender = [&]() -> std::int64_t {
          for (long i = 1;; ++i) {
            const int status = janus_channel_send(channel, &i);
            if (status != 0) return status == JANUS_E_CLOSED ? 0 : status;
            sent.fetch_add(i);
          }
        };
        auto receiver = [&]() -> std::int64_t {
          for (;;) {
            long value = 0;
            const int status = janus_channel_recv(channel, &value);
            if (status != 0) return status == JANUS_E_CLOSED ? 0 : status;
            received.fetch_add(value);
          }
        };
        constexpr int kPairs = 4;
        Scope told(JANUS_ON_ERROR_COLLECT), readers(JANUS_ON_ERROR_COLLECT), writers(JANUS_ON_ERROR_COLLECT);
        janus_task tasks[2 * kPairs];
        for (int i = 0; i < kPairs; ++i) {
          tasks[2 * i] = told.go(sender);
          tasks[2 * i + 1] = told.go(receiver);
          readers.go(receiver);
          writers.go(sender);
        }
        for (int i = 0; i < 20 * (round % 7); ++i) janus_yield();
        for (int i = 0; i < kPairs; ++i) {  // some one by one, the rest with their nursery
          janus_task_cancel(tasks[i]);
          janus_yield();
        }
        told.cancel();
        CHECK_EQ(told.end(), JANUS_CANCELLED);
        CHECK_EQ(writers.cancel(), 0);
        CHECK_EQ(writers.end(), JANUS_CANCELLED);
        CHECK_EQ(janus_channel_close(channel), 0);  // the readers first receive what is buffered
        CHECK_EQ(readers.end(), 0);
        janus_channel_release(channel);
      };
      run_both_ways(with_workers(workers), body);
      if (round < 20) run_in(deterministic(workers, static_cast<std::uint64_t>(round)), body);
      CHECK_EQ(sent.load(), received.load());
    }
  }
}

// A cancelled waiter cancels the nurseries that it has opened, whose members may wait at the same channel.
TEST(channels, a_cancel_passes_from_one_waiter_to_the_next_at_the_same_channel) {
  for (const unsigned workers : kWorlds) {
    const auto body = [&] {
      janus_channel* const channel = janus_channel_create(sizeof(long), 0);
      struct Level {
        janus_channel* channel;
        int depth;
        static std::int64_t wait(void* arg) {
          const Level me = *static_cast<Level*>(arg);
          Level below = {me.channel, me.depth - 1};
          long value = 0;
          if (me.depth == 0) return janus_channel_recv(me.channel, &value);
          Scope scope;
          scope.go(wait, &below);
          scope.go(wait, &below);
          if (me.depth % 2 == 0) janus_yield();
          const int status = janus_channel_recv(me.channel, &value);
          CHECK_EQ(scope.end(), JANUS_CANCELLED);
          return status;
        }
      } top = {channel, 4};
      for (int round = 0; round < scaled(50, 10); ++round) {
        Scope scope;
        const janus_task first = scope.go(Level::wait, &top);
        if (round % 2 == 0) CHECK(eventually([&] { return janus_task_state(first) == JANUS_TASK_BLOCKED; }));
        if (round % 3 == 0) janus_task_cancel(first);
        scope.cancel();
        CHECK_EQ(scope.end(), JANUS_CANCELLED);
      }
      long value = 0;
      CHECK_EQ(janus_channel_try_send(channel, &value), JANUS_E_WOULD_BLOCK);
      janus_channel_release(channel);
    };
    run_both_ways(with_workers(workers), body);
    run_in(deterministic(workers, workers), body);
  }
}

// A cancel has already queued the waiter when a partner serves it: the partner must not queue it a second time.
static void serve_one_that_was_woken_to_look(bool it_sends) {
  janus_channel* const channel = janus_channel_create(sizeof(long), 0);
  janus_channel* const other = janus_channel_create(sizeof(long), 1);
  janus_channel* warm[] = {channel, janus_channel_create(sizeof(long), 0)};
  Scope first;
  first.go(echo, warm);
  CHECK_EQ(round_trips(warm, 100), 100);  // from here on the worker owns the lock of `channel`
  long value = -1;
  CHECK_EQ(janus_channel_close(warm[1]), 0);
  CHECK_EQ(janus_channel_send(channel, &value), 0);  // ends the echo
  CHECK_EQ(first.end(), -5);
  int answers = 0;
  long sent = 42, got = 0;
  auto waiter = [&] {
    const int answer = it_sends ? janus_channel_send(channel, &sent) : janus_channel_recv(channel, &got);
    ++answers;
    return answer;
  };
  Scope scope;
  scope.go(waiter);
  janus_yield();  // now the waiter waits
  scope.cancel();
  for (value = 1; value <= 3; ++value) {  // the waiter does not run meanwhile
    CHECK_EQ(janus_channel_send(other, &value), 0);
    CHECK_EQ(janus_channel_recv(other, &value), 0);
  }
  CHECK_EQ(it_sends ? janus_channel_recv(channel, &got) : janus_channel_send(channel, &sent), 0);
  janus_yield();
  CHECK_EQ(got, 42);
  CHECK_EQ(scope.end(), JANUS_CANCELLED);
  CHECK_EQ(answers, 1);
  janus_channel_release(channel);
  janus_channel_release(other);
  janus_channel_release(warm[1]);
}

TEST(channels, a_waiter_that_was_woken_to_look_is_served_where_it_is) {
  for (int round = 0; round < scaled(100, 20); ++round) {
    run_both_ways(with_workers(1), [&] {
      serve_one_that_was_woken_to_look(false);
      serve_one_that_was_woken_to_look(true);
    });
  }
}

// A cancel may come after a task's last check for cancels and before the task is findable as a waiter. Neither side may
// miss the other.
TEST(channels, a_cancel_in_the_moment_of_going_to_wait_is_not_missed) {
  run_both_ways(with_workers(2), [] {
    janus_channel* const channel = janus_channel_create(sizeof(long), 0);
    Dice dice(1);
    for (int round = 0; round < scaled(10000, kIsWatched ? 2000 : 300); ++round) {
      std::atomic<bool> is_there{false};
      auto waiter = [&] {
        long value = 0;
        is_there.store(true);
        return static_cast<std::int64_t>(janus_channel_recv(channel, &value));
      };
      Scope scope;
      const janus_task task = scope.go(waiter);
      for (unsigned spin = 0; spin < 20000 && !is_there.load(); ++spin) __builtin_ia32_pause();
      for (unsigned spin = dice.below(12); spin != 0; --spin) __builtin_ia32_pause();
      CHECK_EQ(janus_task_cancel(task), 0);
      CHECK_EQ(scope.end(), 0);  // a task that was cancelled by its handle does not make its nursery fail
    }
    janus_channel_release(channel);
  });
}

// A cancelled task neither sends nor receives any more, though a partner waits, and pays for the failed call.
TEST(channels, a_cancelled_task_does_not_meet_a_waiting_partner) {
  run_both_ways(with_workers(1), [&] {
    janus_channel* const channel = janus_channel_create(sizeof(long), 0);
    janus_channel* warm[] = {channel, janus_channel_create(sizeof(long), 0)};
    Scope first;
    first.go(echo, warm);
    CHECK_EQ(round_trips(warm, 200), 200);
    long got = -1;
    Scope scope(JANUS_ON_ERROR_COLLECT);
    auto stubborn = [&]() -> std::int64_t {
      while (janus_yield() == 0) {
      }
      long value = 7;  // the echo waits for a value
      CHECK_EQ(janus_channel_send(channel, &value), JANUS_CANCELLED);
      return JANUS_CANCELLED;
    };
    scope.go(stubborn);
    janus_yield();
    scope.cancel();
    CHECK_EQ(scope.end(), JANUS_CANCELLED);
    // The task alone is cancelled, by its handle; then a sibling finds that no message was passed.
    bool is_told = false, has_looked = false;
    auto alone = [&]() -> std::int64_t {
      while (!has_looked) janus_yield();
      long value = 8;
      CHECK_EQ(janus_channel_send(channel, &value), JANUS_CANCELLED);
      return JANUS_CANCELLED;
    };
    auto sibling = [&] {
      while (!is_told) janus_yield();
      long value = 0;
      CHECK_EQ(janus_channel_try_recv(warm[1], &value), JANUS_E_WOULD_BLOCK);
      has_looked = true;
    };
    Scope both(JANUS_ON_ERROR_COLLECT);
    const janus_task told = both.go(alone);
    both.go(sibling);
    janus_yield();
    CHECK_EQ(janus_task_cancel(told), 0);
    is_told = true;
    CHECK_EQ(both.end(), 0);
    CHECK_EQ(janus_channel_try_recv(warm[1], &got), JANUS_E_WOULD_BLOCK);
    CHECK_EQ(janus_channel_close(channel), 0);
    CHECK_EQ(first.end(), 0);
    for (janus_channel* each : warm) janus_channel_release(each);
  });
}

}  // namespace janus::test
