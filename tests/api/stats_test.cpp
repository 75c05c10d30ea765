// SPDX-License-Identifier: Apache-2.0
// stats_test.cpp — janus_rt_stats counts each event exactly once, for known numbers of events.
#include "tests/api/world.h"

namespace janus::test {

namespace {

template <class Body>
void everywhere(Body body) {
  for (unsigned workers : {1u, 2u, 4u}) run_in(with_workers(workers), body);
  for (std::uint64_t seed = 0; seed < 3; ++seed) run_in(deterministic(2, seed), body);
}

std::int64_t panics(void*) {
  janus_task_panic("as ordered");
  return 0;
}
std::int64_t runs_dry(void*) {
  for (;;) janus_yield_check(1);
}

// The changes of the counters of the calling task's runtime during `happens`.
template <class Happens>
janus_stats counted(Happens happens) {
  janus_stats before = stats_of();
  happens();
  janus_stats after = stats_of();
  auto* const was = reinterpret_cast<std::uint64_t*>(&before);
  auto* const is = reinterpret_cast<std::uint64_t*>(&after);
  for (std::size_t i = 0; i < sizeof after / sizeof *is; ++i) is[i] -= was[i];
  return after;
}

}  // namespace

TEST(stats, ends_of_tasks_are_told_apart) {
  everywhere([] {
    const janus_stats stats = counted([] {
      Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL);
      for (int i = 0; i < 7; ++i) scope.go(return_zero, nullptr);
      for (int i = 0; i < 5; ++i) scope.go(return_arg, as_arg(-5));
      for (int i = 0; i < 3; ++i) scope.go(panics, nullptr);
      janus_budget few = JANUS_BUDGET_ALL;
      few.ops = 2000;
      for (int i = 0; i < 2; ++i) scope.go(runs_dry, nullptr, 0, few);
      CHECK_EQ(scope.end(), JANUS_PANIC);
      Scope cancelled(JANUS_ON_ERROR_COLLECT);
      for (int i = 0; i < 4; ++i) cancelled.go(park_until_cancelled, nullptr);
      CHECK_EQ(stats_of().tasks_live, 5u);  // the children and the root
      CHECK_GE(stats_of().nurseries_live, 1u);
      cancelled.cancel();
      CHECK_EQ(cancelled.end(), JANUS_CANCELLED);
    });
    CHECK_EQ(stats.tasks_spawned, 21u);
    CHECK_EQ(stats.tasks_completed, 7u);
    CHECK_EQ(stats.tasks_failed, 5u + 2u);
    CHECK_EQ(stats.tasks_panicked, 3u);
    CHECK_EQ(stats.tasks_cancelled, 4u);
    CHECK_EQ(stats.tasks_live, 0u);
    CHECK_EQ(stats.budget_exhaustions, 2u);
    CHECK_EQ(stats.cancel_requests, 1u);
    CHECK_EQ(stats.nurseries_opened, 2u);
    CHECK_EQ(stats.nurseries_live, 0u);
    CHECK_EQ(stats.spawns_failed, 0u);
  });
}

TEST(stats, a_task_cancelled_before_its_start_counts_as_cancelled) {
  for (const janus_rt_config& config : {with_workers(1), deterministic(1, 3)}) {
    run_in(config, [] {
      std::atomic<int> ran{0};
      const janus_stats stats = counted([&] {
        Scope scope(JANUS_ON_ERROR_COLLECT);
        scope.go(return_zero, nullptr);
        for (int i = 0; i < 3; ++i) CHECK_EQ(janus_task_cancel(scope.go(count_up, &ran)), 0);
        CHECK_EQ(scope.end(), 0);  // the children have ended without failures
        Scope cancelled;
        for (int i = 0; i < 4; ++i) cancelled.go(count_up, &ran);
        cancelled.cancel();
        CHECK_EQ(cancelled.end(), JANUS_CANCELLED);
      });
      CHECK_EQ(ran.load(), 0);
      CHECK_EQ(stats.tasks_spawned, 8u);
      CHECK_EQ(stats.tasks_completed, 1u);
      CHECK_EQ(stats.tasks_cancelled, 7u);
      CHECK_EQ(stats.tasks_live, 0u);
    });
  }
}

TEST(stats, without_pinning_no_worker_is_pinned) {
  for (unsigned workers : {1u, 2u, 4u}) {
    janus_stats stats = {};
    run_in(
        with_workers(workers), [] { CHECK_EQ(stats_of().workers_pinned, 0u); }, &stats);
    CHECK_EQ(stats.workers_pinned, 0u);
  }
}

TEST(stats, each_call_is_counted_once) {
  everywhere([] {
    janus_channel* const channel = janus_channel_create(sizeof(int), 8);
    const janus_stats stats = counted([&] {
      int value = 0;
      for (int i = 0; i < 5; ++i) CHECK_EQ(janus_channel_send(channel, &value), 0);
      for (int i = 0; i < 3; ++i) CHECK_EQ(janus_channel_try_recv(channel, &value), 0);
      for (int i = 0; i < 4; ++i) {
        CHECK_EQ(janus_yield(), 0);
        janus_budget_get_current();  // separates the yields by an operation
      }
      constexpr long kGetPid = 39;
      for (int i = 0; i < 6; ++i) CHECK_NE(janus_syscall(kGetPid), 0);  // without a kernel an error, which counts
      Scope closed;
      CHECK_EQ(janus_nursery_close(closed.get()), 0);
      CHECK_EQ(closed.go(return_zero, nullptr).raw, 0u);
      CHECK_EQ(closed.end(), 0);
      CHECK(janus_nursery_create() != nullptr);
      CHECK_EQ(janus_nursery_spawn(nullptr, nullptr), -1);
      CHECK_EQ(janus_nursery_await_all(), 0);
    });
    CHECK_EQ(stats.channel_ops, 8u);
    CHECK_EQ(stats.yields, 4u);
    CHECK_EQ(stats.yields_charged, 0u);
    CHECK_EQ(stats.syscalls, 6u);
    CHECK_EQ(stats.spawns_failed, 2u);
    CHECK_EQ(stats.nurseries_opened, 2u);
    CHECK_EQ(stats.nurseries_live, 0u);
    CHECK_EQ(stats.tasks_spawned, 0u);
    CHECK_EQ(counted([] {
               for (int i = 0; i < 10; ++i) janus_yield();
             }).yields_charged,
             9u);
    janus_channel_release(channel);
  });
}

// The second worker goes to sleep without work, and is woken for tasks that the first does not get to, unless there is no
// CPU for it.
TEST(stats, workers_that_sleep_and_are_woken_are_counted) {
  static platform::Cpus cpus;
  platform::cpus(cpus);
  if (cpus.allowed < 2) SKIP("no CPU for a second worker");
  janus_stats stats = {};
  run_in(
      with_workers(2),
      [] {
        const std::uint64_t began = platform::now_ns(), patience = began + 60'000'000'000, wakes = stats_of().wakes;
        const auto spin_until = [&](auto condition) {
          while (!condition() && platform::now_ns() < patience) __builtin_ia32_pause();
        };
        while (stats_of().wakes == wakes && platform::now_ns() < patience) {
          const std::uint64_t rested = platform::now_ns() + (platform::now_ns() - began) / 2;
          spin_until([&] { return platform::now_ns() >= rested; });
          std::atomic<int> count{0};
          Scope scope;
          scope.go(count_up, &count);
          spin_until([&] { return count.load() != 0; });
          CHECK_EQ(scope.end(), 0);
        }
        CHECK_GT(stats_of().wakes, wakes);
        return 0;
      },
      &stats);
  CHECK_GE(stats.parks, stats.wakes);
}

TEST(stats, tasks_from_outside_go_through_the_injector) {
  const janus_rt_config config = with_workers(1);
  janus_rt* const rt = janus_rt_create(&config);
  const std::uint64_t before = stats_of(rt).injected;
  janus_nursery* const nursery = janus_nursery_open(rt, nullptr);
  for (int i = 0; i < 10; ++i) CHECK_NE(janus_nursery_spawn_in(nursery, return_zero, nullptr, nullptr).raw, 0u);
  CHECK_EQ(janus_nursery_await(nursery, nullptr), 0);
  CHECK_EQ(janus_nursery_destroy(nursery), 0);
  CHECK_EQ(stats_of(rt).injected - before, 10u);
  CHECK_EQ(stats_of(rt).tasks_inline, 0u);
  janus_rt_destroy(rt);
}

// Also in deterministic mode, so that the same program needs no more stacks there.
TEST(stats, children_that_run_while_their_parent_waits_are_inline) {
  for (const janus_rt_config& config : {with_workers(1), deterministic(1, 1), deterministic(1, 2)})
    run_in(config, [] {
      const janus_stats stats = counted([] {
        Scope scope;
        for (int i = 0; i < 10; ++i) scope.go(return_zero, nullptr);
        CHECK_EQ(scope.end(), 0);
      });
      CHECK_EQ(stats.tasks_inline, 10u);
      CHECK_EQ(stats.tasks_completed, 10u);
    });
}

TEST(stats, children_that_fail_while_their_parent_waits_are_inline_too) {
  for (const janus_rt_config& config : {with_workers(1), deterministic(1, 1)})
    run_in(config, [] {
      const janus_stats stats = counted([] {
        for (int i = 0; i < 10; ++i) {
          Scope scope;
          scope.go([](void*) -> std::int64_t { return -7; }, nullptr);
          CHECK_EQ(scope.end(), -7);
        }
      });
      CHECK_EQ(stats.tasks_inline, 10u);
      CHECK_EQ(stats.tasks_failed, 10u);
    });
}

TEST(stats, the_settings_in_force_are_printed) {
  janus_rt_config config = deterministic(3, 77);
  config.yield_interval = 555;
  janus_stats stats = {};
  run_in(
      config, [] { return 0; }, &stats);
  CHECK_EQ(stats.workers, 3u);
  CHECK_EQ(stats.workers_pinned, 0u);
  CHECK_EQ(stats.seed, 77u);
  CHECK_EQ(stats.yield_interval, 555u);
  CHECK_NE(stats.order_hash, 0u);
  const std::uint64_t began = platform::now_ns();
  run_in(
      with_workers(2), [] { return 0; }, &stats);
  CHECK_EQ(stats.workers, 2u);
  CHECK_EQ(stats.seed, 0u);
  CHECK_EQ(stats.order_hash, 0u);
  CHECK_GT(stats.uptime_ns, 0u);
  CHECK_LE(stats.uptime_ns, platform::now_ns() - began);
  CHECK_GE(stats.bytes_limit, stats.bytes_peak);
}

TEST(stats, the_peak_of_stacks_is_that_of_a_burst_which_is_over) {
  constexpr int kTasks = 500;
  janus_stats stats = {};
  const long result = run_in(
      with_workers(1),
      [] {
        Scope scope;
        for (int i = 0; i < kTasks; ++i) scope.go(park_until_cancelled, nullptr);
        CHECK(eventually([&] { return stats_of().stacks_in_use >= kTasks; }));
        scope.cancel();
        return scope.end();
      },
      &stats);
  CHECK_EQ(result, JANUS_CANCELLED);
  CHECK_LE(stats.stacks_in_use, 2u);
  CHECK_GE(stats.stacks_peak, std::uint64_t{kTasks});
  CHECK_LE(stats.stacks_peak, std::uint64_t{kTasks + 200});  // with what a worker's cache holds
}

}  // namespace janus::test
