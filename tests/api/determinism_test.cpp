// SPDX-License-Identifier: Apache-2.0
// determinism_test.cpp — the same program, seed and number of workers give exactly the same order of events.
#include "tests/api/world.h"

namespace janus::test {

namespace {

// Makes events of all kinds: spawns, yields, messages, cancels, inline and stolen children.
std::int64_t busy_program() {
  janus_channel* const channel = janus_channel_create(8, 3);
  Scope scope(JANUS_ON_ERROR_COLLECT);
  auto producer = [&] {
    for (std::uint64_t i = 0; i < 30; ++i) {
      if (janus_channel_send(channel, &i) != 0) break;
    }
    return 0;
  };
  auto consumer = [&] {
    std::uint64_t value = 0;
    for (int i = 0; i < 20; ++i) {
      if (janus_channel_recv(channel, &value) != 0) break;
      if (value % 3 == 0) janus_yield();
    }
    return 0;
  };
  auto parent = [&] {
    Scope inner;
    janus_task last = {};
    for (int i = 0; i < 5; ++i) last = inner.go(yield_until_cancelled, nullptr);
    auto spin = [] {
      for (int i = 0; i < 5000; ++i) {
        if (janus_yield_check(1) < 0) return JANUS_CANCELLED;
      }
      return 0;
    };
    inner.go(spin);
    janus_yield();
    janus_task_cancel(last);
    inner.cancel();
    return inner.end() == JANUS_CANCELLED ? 0 : -9;
  };
  for (int i = 0; i < 2; ++i) scope.go(producer);
  for (int i = 0; i < 3; ++i) scope.go(consumer);
  for (int i = 0; i < 6; ++i) scope.go(parent);
  const long status = scope.end();
  janus_channel_release(channel);
  return status;
}

std::uint64_t hash_of(unsigned workers, std::uint64_t seed) {
  janus_stats stats = {};
  CHECK_EQ(run_in(deterministic(workers, seed), busy_program, &stats), 0);
  return stats.order_hash;
}

}  // namespace

TEST(determinism, one_seed_gives_one_order) {
  for (unsigned workers : {1u, 2u, 4u, 8u, 256u}) {
    for (std::uint64_t seed : {0u, 1u, 42u}) {
      const std::uint64_t first = hash_of(workers, seed);
      CHECK_NE(first, 0u);
      for (int i = 1; i < scaled(workers == 256 ? 3 : 20, 2); ++i) CHECK_EQ(hash_of(workers, seed), first);
    }
  }
}

// The same order in all environments: tests/kernel_free/same_notes.py compares this test's notes.
TEST(determinism, the_order_that_all_worlds_have) {
  note("order of 1 worker", hash_of(1, 7));
  note("order of 2 workers", hash_of(2, 7));
  note("order of 4 workers", hash_of(4, 7));
  note("order of 4 workers from another seed", hash_of(4, 8));
  note("order of 64 workers", hash_of(64, 7));
}

TEST(determinism, a_thousand_runs_of_one_seed_are_alike) {
  const std::uint64_t seed = environment_number("JANUS_TEST_SEED", 42);
  const std::uint64_t first = hash_of(4, seed);
  for (int i = 1; i < scaled(1000, 10); ++i) CHECK_EQ(hash_of(4, seed), first);
}

TEST(determinism, different_seeds_give_different_orders) {
  for (unsigned workers : {2u, 4u, 8u}) {
    std::uint64_t seen[20];
    unsigned same = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      seen[seed] = hash_of(workers, seed);
      for (std::uint64_t i = 0; i < seed; ++i) same += seen[i] == seen[seed];
    }
    CHECK_EQ(same, 0u);
  }
}

TEST(determinism, the_number_of_workers_is_part_of_the_program) {
  CHECK_NE(hash_of(2, 7), hash_of(3, 7));
}

TEST(determinism, without_deterministic_mode_there_is_no_hash) {
  janus_stats stats = {};
  run_in(with_workers(2), busy_program, &stats);
  CHECK_EQ(stats.order_hash, 0u);
}

TEST(determinism, logical_workers_do_steal) {
  janus_stats stats = {};
  run_in(deterministic(4, 3), busy_program, &stats);
  CHECK_GT(stats.steals, 0u);
}

// Any other worker may step at a spawn, so tests find errors that occur only if the child runs before its spawner goes
// on.
TEST(determinism, a_child_may_be_quicker_than_its_spawner) {
  int quicker = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed)
    quicker += static_cast<int>(run_in(deterministic(2, seed), [] {
      std::atomic<int> ran{0};
      Scope scope;
      for (int i = 0; i < 3; ++i) scope.go(count_up, &ran);
      const int ran_meanwhile = ran.load();
      CHECK_EQ(scope.end(), 0);
      return ran_meanwhile != 0 ? 1 : 0;
    }));
  CHECK_GT(quicker, 0);
  CHECK_LT(quicker, 60);
}

// The secret bits of handles come from the seed; without a seed they differ from run to run.
TEST(determinism, handles_come_from_the_seed) {
  const auto handle_in = [](const janus_rt_config& config) {
    std::uint64_t handle = 0;
    run_in(config, [&] {
      Scope scope;
      handle = scope.go(return_zero, nullptr).raw;
      CHECK_EQ(scope.end(), 0);
    });
    return handle;
  };
  const std::uint64_t handle = handle_in(deterministic(2, 5));
  CHECK_EQ(handle_in(deterministic(2, 5)), handle);
  CHECK_NE(handle_in(deterministic(2, 6)), handle);
  CHECK_NE(handle_in(with_workers(2)), handle_in(with_workers(2)));
}

TEST(determinism, entropy_and_time_come_from_the_seed) {
  std::uint64_t drawn[2] = {}, time[2] = {};
  for (int i = 0; i < 2; ++i) {
    run_in(deterministic(4, 5), [&] {
      CHECK_EQ(janus_entropy(&drawn[i], sizeof drawn[i]), 0);
      busy_program();
      time[i] = janus_now_ns();
    });
  }
  CHECK_EQ(drawn[0], drawn[1]);
  CHECK_EQ(time[0], time[1]);
}

}  // namespace janus::test
