// SPDX-License-Identifier: Apache-2.0
// janus_shield: what calls answer in it, whom a cancel reaches meanwhile, and from which grace all of it is paid.
#include "tests/api/world.h"

namespace janus::test {

namespace {

constexpr std::uint32_t kGrace = 3000;
constexpr std::int64_t kInterval = 1024;  // the ops of a slice

janus_rt_config with_grace(unsigned workers) {
  janus_rt_config config = with_workers(workers);
  config.cancel_grace_ops = kGrace;
  return config;
}

template <class Closure>
std::int64_t shield(Closure& closure) {
  return janus_shield(call_closure<Closure>, &closure);
}

// In a shield of a cancelled task, whose grace a loop of yields would use up.
template <class Condition>
void sleep_until(Condition condition) {
  while (!condition()) CHECK_EQ(janus_sleep_ns(100'000), 0);
}

// Runs `body` in a task that was cancelled, and returns how it ended.
template <class Body>
janus_result in_cancelled_task(Body body) {
  auto task = [&]() -> std::int64_t {
    while (janus_yield() == 0) {
    }
    return body();
  };
  Scope scope(JANUS_ON_ERROR_COLLECT);
  const janus_task handle = scope.go(task);
  CHECK(eventually([&] { return janus_task_state(handle) != JANUS_TASK_CREATED; }));
  CHECK_EQ(janus_task_cancel(handle), 0);
  janus_result result = {};
  scope.await();
  CHECK_EQ(janus_task_result(handle, &result), 0);
  scope.end();
  return result;
}

TEST(shield, calls_answer_as_in_a_task_that_was_not_cancelled) {
  on_any_workers([] {
    const janus_result result = in_cancelled_task([]() -> std::int64_t {
      auto clean_up = []() -> std::int64_t {
        CHECK_EQ(janus_cancelled(), 0);
        CHECK_EQ(janus_yield(), 0);
        CHECK_EQ(janus_yield_slow(), 0);
        CHECK_EQ(janus_sleep_ns(1000), 0);
        janus_channel* const channel = janus_channel_create(sizeof(std::uint64_t), 0);
        auto send = [&]() -> std::int64_t {
          std::uint64_t word = 7;
          CHECK_EQ(janus_cancelled(), 0);
          CHECK_EQ(janus_sleep_ns(1000), 0);
          return janus_channel_send(channel, &word);
        };
        Scope scope;
        const janus_task sender = scope.go(send);
        std::uint64_t word = 0;
        CHECK_EQ(janus_channel_recv(channel, &word), 0);
        CHECK_EQ(word, 7u);
        CHECK_EQ(janus_task_join(sender, nullptr), 0);
        CHECK_EQ(scope.end(), 0);
        std::atomic<int> ran{0};
        CHECK_EQ(janus_fork_join(count_up, &ran, count_up, &ran, nullptr), 0);
        CHECK(janus_nursery_create() != nullptr);
        CHECK_EQ(janus_nursery_spawn(count_up, &ran), 0);
        CHECK_EQ(janus_nursery_await_all(), 0);
        CHECK_EQ(ran.load(), 3);
        janus_channel_release(channel);
        return 42;
      };
      CHECK_EQ(janus_cancelled(), 1);
      CHECK_EQ(shield(clean_up), 42);
      CHECK_EQ(janus_cancelled(), 1);
      CHECK_EQ(janus_sleep_ns(1), JANUS_CANCELLED);
      Scope after;  // it is cancelled, as the task is
      CHECK_EQ(spawn(after.get(), return_zero).raw, 0u);
      CHECK_EQ(after.end(), JANUS_CANCELLED);
      return JANUS_CANCELLED;
    });
    CHECK_EQ(result.kind, JANUS_KIND_CANCELLED);
    CHECK_EQ(result.cause, JANUS_CAUSE_ASKED);
  });
}

TEST(shield, what_is_no_function_is_refused) {
  run_in(with_workers(1), [] { CHECK_EQ(janus_shield(nullptr, nullptr), JANUS_E_INVALID); });
}

TEST(shield, a_second_one_within_it_is_the_same) {
  run_in(with_workers(1), [] {
    in_cancelled_task([]() -> std::int64_t {
      auto outer = []() -> std::int64_t {
        auto inner = [] { return janus_sleep_ns(1); };
        CHECK_EQ(shield(inner), 0);
        CHECK_EQ(janus_sleep_ns(1), 0);  // the first one goes on
        return 0;
      };
      CHECK_EQ(shield(outer), 0);
      CHECK_EQ(janus_sleep_ns(1), JANUS_CANCELLED);
      return 0;
    });
  });
}

// Cancels wake it to look, and it goes on waiting: each way to wait, and a cancel of the task and of its nursery.
TEST(shield, a_wait_outlasts_the_cancels_that_come_meanwhile) {
  on_any_workers([] {
    enum { kPark, kReceive, kJoin, kAwait, kNext, kSleep, kWays };
    for (int way = 0; way < kWays; ++way) {
      std::atomic<bool> may_end{false};
      std::atomic<int> waits{0};
      janus_channel* const channel = janus_channel_create(1, 0);
      Scope others;
      auto other = [&] { sleep_until([&] { return may_end.load(); }); };
      const janus_task to_join = others.go(other);
      auto wait = [&]() -> std::int64_t {
        char byte;
        waits.store(1);
        if (way == kPark) return janus_park(-1);
        if (way == kReceive) return janus_channel_recv(channel, &byte);
        if (way == kJoin) return janus_task_join(to_join, nullptr);
        if (way == kSleep) return other(), 0;
        Scope scope;
        scope.go(other);
        const int told = way == kNext ? janus_nursery_next(scope.get(), nullptr, 0) : 0;
        return told != 0 ? told : scope.end();
      };
      auto task = [&]() -> std::int64_t {
        CHECK_EQ(shield(wait), 0);
        CHECK_EQ(janus_cancelled(), 1);
        return JANUS_CANCELLED;
      };
      Scope scope(JANUS_ON_ERROR_COLLECT);
      const janus_task handle = scope.go(task);
      CHECK(eventually([&] { return waits.load() == 1; }));
      for (int i = 0; i < 5; ++i) janus_yield();
      janus_task_cancel(handle);
      for (int i = 0; i < 5; ++i) janus_yield();
      scope.cancel();
      for (int i = 0; i < 20; ++i) janus_yield();
      CHECK_LT(janus_task_state(handle), JANUS_TASK_COMPLETED);
      may_end.store(true);
      janus_unpark(handle);
      if (way == kReceive) CHECK_EQ(janus_channel_send(channel, "x"), 0);
      CHECK_EQ(scope.end(), JANUS_CANCELLED);
      CHECK_EQ(others.end(), 0);
      janus_channel_release(channel);
    }
  });
}

// The nurseries of its owner that are older than the shield are cancelled, however many there are and whether the owner
// has ever left its worker.
TEST(shield, older_nurseries_of_the_task_get_the_cancel_at_once) {
  on_any_workers([] {
    constexpr int kNurseries = 100;  // more than a cancel marks itself
    std::atomic<bool> waits{false};
    auto task = [&]() -> std::int64_t {
      janus_nursery* nurseries[kNurseries];
      for (janus_nursery*& each : nurseries) {
        each = open_nursery();
        spawn(each, park_until_cancelled);
      }
      auto await = [&] {
        waits.store(true);
        // With a time, since else it would run the children on its own stack.
        const std::uint64_t late = janus_now_ns() + 3'600'000'000'000;
        for (janus_nursery* each : nurseries) {
          CHECK_EQ(janus_nursery_await_until(each, nullptr, late), JANUS_CANCELLED);
          CHECK_EQ(janus_nursery_destroy(each), 0);
        }
        CHECK_EQ(janus_sleep_ns(1), 0);
      };
      return shield(await);
    };
    Scope scope(JANUS_ON_ERROR_COLLECT);
    const janus_task handle = scope.go(task);
    CHECK(eventually([&] { return waits.load(); }));
    for (int i = 0; i < 3; ++i) janus_yield();
    janus_task_cancel(handle);
    CHECK_EQ(scope.end(), 0);
  });
}

// What waits in a nursery that was opened in the shield goes on until the shield ends, and is cancelled then.
TEST(shield, a_nursery_left_open_there_is_cancelled_when_it_ends) {
  on_any_workers([] {
    std::atomic<int> waiting{0}, ended{0}, seen{0};
    std::atomic<bool> may_end{false};
    janus_nursery* left_open = nullptr;
    auto child = [&]() -> std::int64_t {
      // Once before it sees the cancel, and then as one that has seen it.
      for (int i = 0; i < 4; ++i) CHECK_EQ(janus_yield_slow(), 0);
      waiting.fetch_add(1);
      const int answer = janus_park(-1);
      if (answer == JANUS_CANCELLED && janus_cancelled() == 1) seen.fetch_add(1);
      ended.fetch_add(1);
      return answer;
    };
    auto open = [&] {
      left_open = open_nursery();
      for (int i = 0; i < 3; ++i) spawn(left_open, call_closure<decltype(child)>, &child);
      sleep_until([&] { return may_end.load(); });
      for (int i = 0; i < 3; ++i) spawn(left_open, call_closure<decltype(child)>, &child);  // these start cancelled
      sleep_until([&] { return waiting.load() == 6; });
      CHECK_EQ(ended.load(), 0);
    };
    auto task = [&]() -> std::int64_t {
      CHECK_EQ(shield(open), 0);
      CHECK_EQ(spawn(left_open, return_zero).raw, 0u);
      CHECK_EQ(end(left_open), JANUS_CANCELLED);
      return JANUS_CANCELLED;
    };
    Scope scope(JANUS_ON_ERROR_COLLECT);
    const janus_task handle = scope.go(task);
    CHECK(eventually([&] { return waiting.load() == 3; }));
    janus_task_cancel(handle);
    for (int i = 0; i < 5; ++i) janus_yield();
    may_end.store(true);
    CHECK_EQ(scope.end(), 0);  // the task alone was cancelled
    CHECK_EQ(seen.load(), 6);
  });
}

TEST(shield, a_nursery_left_open_there_without_a_cancel_is_as_any_other) {
  on_any_workers([] {
    std::atomic<int> ran{0};
    auto task = [&]() -> std::int64_t {
      janus_nursery* nursery = nullptr;
      auto open = [&] {
        nursery = open_nursery();
        spawn(nursery, park_until_cancelled);
      };
      CHECK_EQ(shield(open), 0);
      CHECK_NE(spawn(nursery, count_up, &ran).raw, 0u);
      CHECK_EQ(end(nursery), JANUS_CANCELLED);  // once the task is cancelled
      return JANUS_CANCELLED;
    };
    Scope scope(JANUS_ON_ERROR_COLLECT);
    const janus_task handle = scope.go(task);
    CHECK(eventually([&] { return ran.load() == 1; }));
    for (int i = 0; i < 50; ++i) janus_yield();
    janus_task_cancel(handle);
    CHECK_EQ(scope.end(), 0);  // the task alone was cancelled
  });
}

TEST(shield, a_cancel_of_what_is_below_it_works) {
  on_any_workers([] {
    in_cancelled_task([]() -> std::int64_t {
      auto clean_up = [] {
        Scope scope(JANUS_ON_ERROR_COLLECT);
        const janus_task one = scope.go(park_until_cancelled, nullptr);
        auto outlasts = [] { return janus_park(-1); };
        auto shields = [&] { return shield(outlasts); };
        const janus_task other = scope.go(shields);
        for (int i = 0; i < 5; ++i) janus_yield();
        janus_task_cancel(one);
        std::int64_t value = 0;
        CHECK_EQ(janus_task_join(one, &value), 0);
        CHECK_EQ(value, JANUS_CANCELLED);
        CHECK_EQ(janus_nursery_state(scope.get()), JANUS_NURSERY_OPEN);  // the end of a cancelled child cancels nobody
        CHECK_NE(spawn(scope.get(), return_zero).raw, 0u);
        scope.cancel();
        for (int i = 0; i < 20; ++i) janus_yield();
        CHECK_LT(janus_task_state(other), JANUS_TASK_COMPLETED);
        janus_unpark(other);
        CHECK_EQ(scope.end(), JANUS_CANCELLED);
        CHECK_EQ(janus_sleep_ns(1), 0);
      };
      return shield(clean_up);
    });
  });
}

TEST(shield, deadlines_go_on) {
  run_in(with_workers(2), [] {
    in_cancelled_task([]() -> std::int64_t {
      auto clean_up = [] {
        janus_channel* const channel = janus_channel_create(1, 1);
        char byte;
        CHECK_EQ(janus_channel_recv_until(channel, &byte, janus_now_ns() + 100'000), JANUS_E_TIMEOUT);
        CHECK_EQ(janus_park(100'000), JANUS_E_TIMEOUT);
        CHECK_EQ(janus_sleep_ns(1000), 0);
        janus_nursery_options options = {};
        options.deadline_ns = janus_now_ns() + 1'000'000;
        janus_nursery* const nursery = janus_nursery_open(nullptr, &options);
        spawn(nursery, park_until_cancelled);
        janus_result result = {};
        CHECK_EQ(end(nursery, &result), JANUS_CANCELLED);
        CHECK_EQ(result.cause, JANUS_CAUSE_DEADLINE);
        janus_channel_release(channel);
      };
      return shield(clean_up);
    });
  });
}

TEST(shield, a_panic_in_it_ends_the_task_and_what_it_has_opened) {
  on_any_workers([] {
    const janus_result result = in_cancelled_task([]() -> std::int64_t {
      auto clean_up = [] {
        spawn(open_nursery(), park_until_cancelled);
        janus_task_panic("on purpose");
      };
      return shield(clean_up);
    });
    CHECK_EQ(result.kind, JANUS_KIND_PANIC);
  });
}

// A half that ends by force ends the shields that have begun in it, and no other.
TEST(shield, a_half_that_panics_ends_its_own_shields_alone) {
  on_any_workers([] {
    static auto panics = [](void*) -> std::int64_t {
      spawn(open_nursery(), park_until_cancelled);
      janus_task_panic("on purpose");
    };
    static auto shields_and_panics = [](void*) -> std::int64_t { return janus_shield(panics, nullptr); };
    in_cancelled_task([]() -> std::int64_t {
      auto clean_up = [] {
        janus_result results[2];
        CHECK_EQ(janus_fork_join(panics, nullptr, return_zero, nullptr, results), JANUS_PANIC);
        CHECK_EQ(janus_sleep_ns(1), 0);
        CHECK_EQ(janus_fork_join(shields_and_panics, nullptr, return_zero, nullptr, results), JANUS_PANIC);
        CHECK_EQ(janus_sleep_ns(1), 0);
        CHECK_EQ(results[1].kind, JANUS_KIND_SUCCESS);
      };
      CHECK_EQ(shield(clean_up), 0);
      CHECK_EQ(janus_sleep_ns(1), JANUS_CANCELLED);
      return 0;
    });
    auto task = []() -> std::int64_t {
      janus_result results[2];
      CHECK_EQ(janus_fork_join(shields_and_panics, nullptr, return_zero, nullptr, results), JANUS_PANIC);
      while (janus_yield() == 0) {
      }
      CHECK_EQ(janus_sleep_ns(1), JANUS_CANCELLED);
      return 0;
    };
    Scope scope;
    const janus_task handle = scope.go(task);
    CHECK(eventually([&] { return janus_task_state(handle) != JANUS_TASK_CREATED; }));
    janus_task_cancel(handle);
    CHECK_EQ(scope.end(), 0);
  });
}

// --- The grace -------------------------------------------------------------------------------------------------------

std::atomic<std::int64_t> spent;

std::int64_t spend_for_ever(void*) {
  for (;;) {
    janus_yield_check(1);
    spent.fetch_add(1, std::memory_order_relaxed);
  }
}
std::int64_t spend_in_shield(void*) {
  return janus_shield(spend_for_ever, nullptr);
}

TEST(shield, a_task_spends_no_more_than_its_grace_in_it) {
  for (unsigned workers : {1u, 2u})
    run_in(with_grace(workers), [] {
      spent.store(0);
      const janus_result result = in_cancelled_task([] { return spend_in_shield(nullptr); });
      CHECK_EQ(result.kind, JANUS_KIND_PANIC);
      CHECK_EQ(result.cause, JANUS_CAUSE_GRACE_OVER);
      CHECK_LE(spent.load(), kGrace);
    });
}

// Nor if the cancel comes while it is in the shield: from its next check on.
TEST(shield, a_cancel_that_comes_in_it_begins_the_grace) {
  for (unsigned workers : {1u, 2u})
    run_in(with_grace(workers), [] {
      spent.store(0);
      Scope scope(JANUS_ON_ERROR_COLLECT);
      const janus_task handle = scope.go(spend_in_shield, nullptr);
      CHECK(eventually([] { return spent.load() > 3000; }));
      janus_task_cancel(handle);
      const std::int64_t before = spent.load();
      CHECK_EQ(scope.end(), JANUS_PANIC);
      CHECK_LE(spent.load() - before, kGrace + kInterval);
    });
}

// Each task spawns others below a shield of its own, or without one, and spends something; each op that it pays is
// counted. Before they are cancelled, they may spend what they like.
struct Hydra {
  static std::atomic<std::uint32_t> seeds;
  static std::atomic<std::int64_t> born;

  static std::int64_t run(void* rest) {
    Dice dice(seeds.fetch_add(1));
    born.fetch_add(1);
    const auto left = reinterpret_cast<std::intptr_t>(rest);
    for (int i = 0; i < 3; ++i) {
      Nested nested = {&dice, left};
      if (dice.below(2) == 0)
        janus_shield(Nested::grow, &nested);
      else
        Nested::grow(&nested);
    }
    return 0;
  }

 private:
  struct Nested {
    Dice* dice;
    std::intptr_t left;
    static std::int64_t grow(void* arg) {
      Nested& self = *static_cast<Nested*>(arg);
      janus_nursery* const nursery = open_nursery(JANUS_ON_ERROR_COLLECT);
      count();
      for (int i = 0; nursery != nullptr && self.left > 0 && i < 3; ++i) {
        spawn(nursery, run, as_arg(self.left - 1), JANUS_SPAWN_DETACHED);
        count();
      }
      for (unsigned i = self.dice->below(100); i != 0; --i) {
        janus_yield_check(1);
        count();
      }
      if (self.dice->below(2) == 0) return 0;  // leaves it open
      janus_nursery_await(nursery, nullptr);
      janus_nursery_destroy(nursery);
      return 0;
    }
    static void count() { spent.fetch_add(1, std::memory_order_relaxed); }
  };
};
std::atomic<std::uint32_t> Hydra::seeds{0};
std::atomic<std::int64_t> Hydra::born{0};

TEST(shield, all_that_is_below_it_spends_the_grace_of_its_task) {
  for (unsigned seed = 0; seed < static_cast<unsigned>(scaled(10, 3)); ++seed) {
    const unsigned workers = 1 + seed % 3;
    run_in(with_grace(workers), [&] {
      spent.store(0);
      Hydra::seeds.store(1000 * seed);
      Hydra::born.store(0);
      in_cancelled_task([] { return janus_shield(Hydra::run, as_arg(1000)); });
      CHECK_LE(spent.load(), kGrace + workers * kInterval);
      CHECK_GT(Hydra::born.load(), 1);
    });
  }
}

// Who waits for ops in a shield waits for them no longer once it is cancelled: it has its grace.
TEST(shield, a_dry_cage_is_over_after_its_grace) {
  for (unsigned workers : {1u, 2u})
    run_in(with_grace(workers), [] {
      spent.store(0);
      constexpr std::uint32_t kOps = 5000;
      Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(kOps));
      const janus_task handle = cage.go(spend_in_shield, nullptr);
      CHECK(eventually([&] { return janus_task_state(handle) == JANUS_TASK_BUDGET_EXHAUSTED; }));
      cage.cancel();
      janus_result result = {};
      CHECK_EQ(cage.end(&result), JANUS_PANIC);
      CHECK_EQ(result.cause, JANUS_CAUSE_GRACE_OVER);
      CHECK_GT(spent.load(), kOps);
      CHECK_LE(spent.load(), kOps + kGrace);
    });
}

// A cage has its ops and one grace, as without shields.
TEST(shield, a_cage_spends_at_most_its_ops_and_one_grace) {
  for (unsigned seed = 0; seed < static_cast<unsigned>(scaled(10, 3)); ++seed) {
    const std::uint32_t ops = 2000 + 700 * seed;
    run_in(with_grace(1 + seed % 3), [&] {
      spent.store(0);
      Hydra::seeds.store(1000 * seed);
      Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, budget_of(ops, 32 << 20));
      for (int i = 0; i < 2; ++i) cage.go(Hydra::run, as_arg(1000), JANUS_SPAWN_RUN_CANCELLED);
      for (unsigned i = 0; i < seed; ++i) janus_yield();
      cage.cancel();
      cage.end();
    });
    CHECK_LE(spent.load(), ops + kGrace);
  }
}

}  // namespace

}  // namespace janus::test
