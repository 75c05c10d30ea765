// SPDX-License-Identifier: Apache-2.0
// The priority of janus_spawn_options: parts of a worker's time by weight, whatever a task waits for and whoever wakes it.
#include <janus/sync.h>

#include "tests/api/world.h"
#include "tests/harness/thread_group.h"

namespace janus::test {

namespace {

janus_task spawn_with(janus_nursery* nursery, std::uint32_t priority, janus_task_fn fn, void* arg,
                      janus_budget budget = {}) {
  janus_spawn_options options = {};
  options.priority = priority;
  options.budget = budget;
  const janus_task task = janus_nursery_spawn_in(nursery, fn, arg, &options);
  CHECK(task.raw != 0);
  return task;
}
template <class Closure>
janus_task spawn_with(const Scope& scope, std::uint32_t priority, Closure& closure, janus_budget budget = {}) {
  return spawn_with(scope.get(), priority, call_closure<Closure>, &closure, budget);
}

constexpr std::uint32_t kPriorities[] = {JANUS_PRIORITY_NORMAL, JANUS_PRIORITY_HIGH, JANUS_PRIORITY_LOW};

// Spinners that count their ops until all of them together have spent a number of them.
class Race {
 public:
  explicit Race(std::int64_t most) : most_(most) {}

  struct Spinner {
    Race* race;
    std::int64_t ops = 0;
    std::int64_t longest = 0;  // the most ops of others between two ops of this one
    std::int64_t operator()() {
      for (std::int64_t last = race->spent_; race->spent_ < race->most_; last = ++race->spent_, ++ops) {
        if (race->spent_ - last > longest) longest = race->spent_ - last;
        if (janus_yield_check(1) < 0) return JANUS_CANCELLED;
      }
      return 0;
    }
  };
  Spinner spinner() { return {this}; }

 private:
  std::int64_t spent_ = 0, most_;  // of one worker's tasks
};

// Between a half and twice what is expected: what a turn costs beyond its ops, and the last round, are not exact.
void check_about(std::int64_t seen, std::int64_t expected) {
  CHECK_GE(seen, expected / 2);
  CHECK_LE(seen, expected * 2);
}

}  // namespace

TEST(priority, shares_of_a_worker_are_64_to_8_to_1) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    run_in(deterministic(1, seed), [] {
      constexpr std::int64_t kRound = 73 * 1024;
      const std::int64_t rounds = scaled(40, 10);
      Race race(rounds * kRound);
      Race::Spinner normal = race.spinner(), high = race.spinner(), low = race.spinner();
      Scope scope;
      spawn_with(scope, JANUS_PRIORITY_LOW, low);
      spawn_with(scope, JANUS_PRIORITY_NORMAL, normal);
      spawn_with(scope, JANUS_PRIORITY_HIGH, high);
      CHECK_EQ(scope.end(), 0);
      check_about(high.ops, rounds * 64 * 1024);
      check_about(normal.ops, rounds * 8 * 1024);
      check_about(low.ops, rounds * 1024);
      // By construction: a turn of its own costs one of low priority as much as 64 of high priority and 8 others.
      CHECK_LE(low.longest, 2 * kRound);
      CHECK_LE(normal.longest, 2 * 10 * 1024);
    });
  }
}

TEST(priority, many_of_high_priority_share_what_one_has) {
  run_in(deterministic(1, 1), [] {
    constexpr int kMany = 50;
    const std::int64_t rounds = scaled(20, 10);
    Race race(rounds * 72 * 1024);
    Race::Spinner normal = race.spinner(), high[kMany];
    Scope scope;
    for (auto& each : high) {
      each = race.spinner();
      spawn_with(scope, JANUS_PRIORITY_HIGH, each);
    }
    scope.go(normal);
    CHECK_EQ(scope.end(), 0);
    check_about(normal.ops, rounds * 8 * 1024);
    for (const auto& each : high) CHECK_GE(each.ops, 1024);
  });
}

// A neighbour outside has a half of the worker, whatever priorities there are in the cage, and inside they have their parts.
TEST(priority, in_a_cage_it_takes_from_the_cage_alone) {
  run_in(deterministic(1, 1), [] {
    constexpr int kMany = 100;
    const std::int64_t rounds = scaled(40, 20);
    Race race(2 * rounds * 72 * 1024);
    Race::Spinner outside = race.spinner(), normal = race.spinner(), high[kMany];
    Scope scope;
    {
      Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(UINT32_MAX, 16 << 20));
      scope.go(outside);
      cage.go(normal);
      for (auto& each : high) {
        each = race.spinner();
        spawn_with(cage, JANUS_PRIORITY_HIGH, each);
      }
      CHECK_EQ(cage.end(), 0);
    }
    CHECK_EQ(scope.end(), 0);
    check_about(outside.ops, rounds * 72 * 1024);
    check_about(normal.ops, rounds * 8 * 1024);
  });
}

TEST(priority, a_child_has_that_of_its_own_spawn) {
  run_in(deterministic(1, 1), [] {
    const std::int64_t most = scaled(200, 100) * 1024;
    Race race(most);
    Race::Spinner normal = race.spinner(), child = race.spinner();
    auto parent = [&] {
      CHECK(janus_nursery_create() != nullptr);
      CHECK_EQ(janus_nursery_spawn(call_closure<Race::Spinner>, &child), 0);
      return janus_nursery_await_all();
    };
    Scope scope;
    spawn_with(scope, JANUS_PRIORITY_HIGH, parent);
    scope.go(normal);
    CHECK_EQ(scope.end(), 0);
    check_about(child.ops, most / 2);
    check_about(normal.ops, most / 2);
  });
}

TEST(priority, what_is_ready_is_not_hidden_behind_what_was_spawned_later) {
  run_in(with_workers(1), [] {
    constexpr int kMany = 3000;
    std::atomic<int> ran{0}, position{-1};
    auto normal = [&] { ran.fetch_add(1); };
    auto high = [&] { position.store(ran.load()); };
    Scope scope;
    for (int i = 0; i < kMany / 2; ++i) scope.go(normal);
    spawn_with(scope, JANUS_PRIORITY_HIGH, high);
    for (int i = 0; i < kMany / 2; ++i) scope.go(normal);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(ran.load(), kMany);
    CHECK_LE(position.load(), 200);  // one turn of the others may come first, which is 61 dispatches at most
  });
}

// On every worker spinners of high and normal priority, until those of low priority are done.
TEST(priority, low_makes_progress_whatever_else_is_ready) {
  on_any_workers([] {
    constexpr int kEach = 8;
    const int steps = scaled(200, 20);
    std::atomic<int> left{kEach};
    auto spin = [&] {
      while (left.load() != 0) {
        if (janus_yield_check(1) < 0) return JANUS_CANCELLED;
      }
      return 0;
    };
    auto step = [&] {
      for (int i = 0; i < steps; ++i) CHECK_EQ(janus_yield(), 0);
      left.fetch_sub(1);
    };
    Scope scope;
    for (int i = 0; i < kEach; ++i) {
      spawn_with(scope, JANUS_PRIORITY_LOW, step);
      spawn_with(scope, JANUS_PRIORITY_HIGH, spin);
      scope.go(spin);
    }
    CHECK_EQ(scope.end(), 0);
  });
}

// Tasks of each priority, outside and in a cage, that wait in each way for tasks of each other one.
TEST(priority, any_wait_ends_for_any_priority) {
  on_any_workers([] {
    const std::uint64_t rounds = static_cast<std::uint64_t>(scaled(100, 20));
    janus_mutex mutex = {};
    std::uint64_t counted = 0;
    constexpr unsigned kPairs = 9;
    struct Pair {
      janus_channel *there, *back;
      std::uint64_t rounds;
      janus_mutex* mutex;
      std::uint64_t* counted;
    };
    Pair pairs[kPairs];
    const auto ask = [](void* arg) -> std::int64_t {
      const Pair& pair = *static_cast<Pair*>(arg);
      std::uint64_t sum = 0;
      for (std::uint64_t i = 0; i < pair.rounds; ++i) {
        std::uint64_t word = i;
        CHECK_EQ(janus_channel_send(pair.there, &word), 0);
        janus_select_case got = {pair.back, &word, JANUS_RECV, 0};
        if (i % 3 == 0)
          CHECK_EQ(janus_select(&got, 1, -1), 0);
        else
          CHECK_EQ(janus_channel_recv(pair.back, &word), 0);
        sum += word;
        CHECK_EQ(janus_mutex_lock(pair.mutex), 0);
        ++*pair.counted;
        if (i % 5 == 0) CHECK_EQ(janus_yield(), 0);
        CHECK_EQ(janus_mutex_unlock(pair.mutex), 0);
        if (i % 20 == 0) CHECK_EQ(janus_sleep_ns(1000), 0);
        if (i % 10 != 0) continue;
        const auto add = [](void* to) -> std::int64_t {
          *static_cast<std::uint64_t*>(to) += 1;
          return janus_yield();
        };
        std::uint64_t parts[2] = {};
        CHECK_EQ(janus_fork_join(add, &parts[0], add, &parts[1], nullptr), 0);
        CHECK(janus_nursery_create() != nullptr);
        for (auto& part : parts) CHECK_EQ(janus_nursery_spawn(add, &part), 0);
        CHECK_EQ(janus_nursery_await_all(), 0);
        CHECK_EQ(parts[0] + parts[1], 4u);
      }
      CHECK_EQ(janus_channel_close(pair.there), 0);
      return static_cast<std::int64_t>(sum);
    };
    const auto answer = [](void* arg) -> std::int64_t {
      const Pair& pair = *static_cast<Pair*>(arg);
      std::uint64_t word = 0;
      while (janus_channel_recv(pair.there, &word) == 0) {
        ++word;
        CHECK_EQ(janus_channel_send(pair.back, &word), 0);
      }
      return 0;
    };
    Scope outside, cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(UINT32_MAX, 16 << 20));
    janus_task asking[kPairs];
    for (unsigned i = 0; i < kPairs; ++i) {
      pairs[i] = {janus_channel_create(8, i % 2), janus_channel_create(8, 0), rounds, &mutex, &counted};
      spawn_with(i % 2 == 0 ? cage.get() : outside.get(), kPriorities[i / 3], answer, &pairs[i]);
      asking[i] = spawn_with(i % 4 == 0 ? cage.get() : outside.get(), kPriorities[i % 3], ask, &pairs[i]);
    }
    for (const janus_task task : asking) {
      std::int64_t sum = 0;
      CHECK_EQ(janus_task_join(task, &sum), 0);
      CHECK_EQ(sum, static_cast<std::int64_t>(rounds * (rounds + 1) / 2));
    }
    CHECK_EQ(cage.end(), 0);
    CHECK_EQ(outside.end(), 0);
    CHECK_EQ(counted, kPairs * rounds);
    for (const Pair& pair : pairs) {
      janus_channel_release(pair.there);
      janus_channel_release(pair.back);
    }
  });
}

TEST(priority, a_thread_outside_may_give_each) {
  const janus_rt_config config = with_workers(2);
  janus_rt* const rt = janus_rt_create(&config);
  REQUIRE(rt != nullptr);
  janus_nursery* const nursery = janus_nursery_open(rt, nullptr);
  REQUIRE(nursery != nullptr);
  std::atomic<int> ran{0};
  auto body = [&] {
    CHECK_EQ(janus_yield(), 0);
    ran.fetch_add(1);
  };
  for (int i = 0; i < 300; ++i) spawn_with(nursery, kPriorities[i % 3], call_closure<decltype(body)>, &body);
  CHECK_EQ(end(nursery), 0);
  CHECK_EQ(ran.load(), 300);
  janus_rt_destroy(rt);
}

TEST(priority, pinned_tasks_have_theirs) {
  on_any_workers([] {
    const int steps = scaled(100, 20);
    std::atomic<int> left{6};
    auto pinned = [&] {
      CHECK_EQ(janus_task_pin(), 0);
      for (int i = 0; i < steps; ++i) {
        CHECK_EQ(janus_yield(), 0);
        if (i % 10 == 0) CHECK_EQ(janus_sleep_ns(1000), 0);
      }
      left.fetch_sub(1);
    };
    auto spin = [&] {
      while (left.load() != 0) {
        if (janus_yield_check(1) < 0) return JANUS_CANCELLED;
      }
      return 0;
    };
    Scope scope;
    for (int i = 0; i < 6; ++i) {
      spawn_with(scope, kPriorities[i % 3], pinned);
      spawn_with(scope, kPriorities[i % 3], spin);
    }
    CHECK_EQ(scope.end(), 0);
  });
}

TEST(priority, behind_a_gate_and_cancelled_they_end) {
  on_any_workers([] {
    janus_nursery_options options = {};
    options.size = sizeof options;
    options.max_running = 2;
    std::atomic<int> ran{0};
    auto short_one = [&] { ran.fetch_add(1); };
    janus_nursery* const gated = janus_nursery_open(nullptr, &options);
    REQUIRE(gated != nullptr);
    for (int i = 0; i < 30; ++i) spawn_with(gated, kPriorities[i % 3], call_closure<decltype(short_one)>, &short_one);
    CHECK_EQ(end(gated), 0);
    CHECK_EQ(ran.load(), 30);
    auto wait = [&] {
      janus_park(-1);
      return janus_cancelled() ? JANUS_CANCELLED : 0;
    };
    Scope scope(JANUS_ON_ERROR_COLLECT);
    for (const std::uint32_t priority : kPriorities) spawn_with(scope, priority, wait);
    CHECK_EQ(janus_yield(), 0);
    CHECK_EQ(scope.cancel(), 0);
    scope.end();
  });
}

// ---- Who may --------------------------------------------------------------------------------------------------------

TEST(priority, who_is_confined_without_the_right_has_no_high_one) {
  run_in(with_workers(1), [] {
    const janus_cap root = janus_cap_root(nullptr);
    const janus_cap without = janus_cap_derive(root, JANUS_CAP_SPAWN, {});
    const janus_cap with = janus_cap_derive(root, JANUS_CAP_SPAWN | JANUS_CAP_PRIORITY, {});
    for (const bool has_right : {false, true}) {
      janus_nursery_options options = {};
      options.cap = has_right ? with : without;
      janus_nursery* const confined = janus_nursery_open(nullptr, &options);
      auto tries = [&] {
        Scope own;
        std::atomic<int> ran{0};
        auto body = [&] { ran.fetch_add(1); };
        janus_spawn_options asked = {};
        asked.priority = JANUS_PRIORITY_HIGH;
        const janus_task task = janus_nursery_spawn_in(own.get(), call_closure<decltype(body)>, &body, &asked);
        CHECK_EQ(task.raw != 0, has_right);
        if (!has_right) CHECK_EQ(janus_last_error(), JANUS_E_NO_CAP);
        spawn_with(own, JANUS_PRIORITY_LOW, body);
        CHECK_EQ(own.end(), 0);
        CHECK_EQ(ran.load(), has_right ? 2 : 1);
      };
      CHECK(spawn(confined, call_closure<decltype(tries)>, &tries).raw != 0);
      CHECK_EQ(end(confined), 0);
    }
  });
}

TEST(priority, in_a_cage_the_right_is_implicit) {
  run_in(with_workers(1), [] {
    std::atomic<int> ran{0};
    auto body = [&] { ran.fetch_add(1); };
    auto caged = [&] {
      Scope own;
      for (const std::uint32_t priority : kPriorities) spawn_with(own, priority, body);
      return own.end();
    };
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, budget_of(UINT32_MAX, 16 << 20));
    cage.go(caged);
    spawn_with(cage, JANUS_PRIORITY_HIGH, caged, budget_of(100000));  // a cage of its own
    CHECK_EQ(cage.end(), 0);
    CHECK_EQ(ran.load(), 6);
  });
}

TEST(priority, in_sovereign_nobody_has_it_without_a_token) {
  janus_rt_config config = with_workers(1);
  config.profile = JANUS_PROFILE_SOVEREIGN;
  run_in(config, [] {
    const janus_cap root = janus_cap_root(nullptr);
    janus_nursery_options options = {};
    options.cap = janus_cap_derive(root, JANUS_CAP_SPAWN, {});
    janus_nursery* const plain = janus_nursery_open(nullptr, &options);
    options.cap = root;
    janus_nursery* const all = janus_nursery_open(nullptr, &options);
    std::atomic<int> ran{0};
    auto body = [&] { ran.fetch_add(1); };
    janus_spawn_options asked = {};
    asked.priority = JANUS_PRIORITY_HIGH;
    // The root task itself is confined to no right at all, so it gives none.
    CHECK_EQ(janus_nursery_spawn_in(plain, call_closure<decltype(body)>, &body, &asked).raw, 0u);
    CHECK_EQ(janus_last_error(), JANUS_E_NO_CAP);
    auto gives = [&] {
      Scope own;
      spawn_with(own, JANUS_PRIORITY_HIGH, body);
      return own.end();
    };
    CHECK(spawn(all, call_closure<decltype(gives)>, &gives).raw != 0);
    CHECK_EQ(end(all), 0);
    CHECK_EQ(end(plain), 0);
    CHECK_EQ(ran.load(), 1);
  });
}

TEST(priority, the_order_is_that_of_the_seed) {
  expect_order_by_seed(3, [] {
    Scope scope;
    auto body = [] {
      for (int i = 0; i < 20; ++i) {
        if (janus_yield_check(100) < 0 || janus_yield() < 0) return JANUS_CANCELLED;
      }
      return 0;
    };
    for (int i = 0; i < 12; ++i) spawn_with(scope, kPriorities[i % 3], body);
    CHECK_EQ(scope.end(), 0);
  });
}

}  // namespace janus::test
