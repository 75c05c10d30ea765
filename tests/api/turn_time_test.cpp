// SPDX-License-Identifier: Apache-2.0
// turn_time_test.cpp — groups share the time for which their worker's thread runs, whatever else the machine runs. The
// clock is the test's, and so is the time in which the machine takes the CPU from the thread. docs/decisions/0241
#include "tests/api/world.h"
#include "tests/fake_platform/fake_platform.h"

namespace janus::test {

namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kUnit = 10'000;  // ns of work: what a task does between two checks
constexpr std::uint64_t kTotal = 100 * kMs;

// The time that each of both has run.
struct Times {
  std::uint64_t neighbour = 0, cage = 0;
  [[nodiscard]] bool are_over() const { return neighbour + cage >= kTotal; }
  [[nodiscard]] bool are_alike() const { return neighbour * 4 >= cage * 3 && cage * 4 >= neighbour * 3; }
};

// Runs on the CPU for `ns`, then ends the slice. False: the task was told to end.
bool work(std::uint64_t& ran, std::uint64_t ns) {
  fake_platform::advance_ns(ns);
  ran += ns;
  return janus_yield_check(2000) >= 0;
}

// Runs a neighbour beside a cage of `tasks` on one worker until they have run for kTotal. Each step is one turn, unless
// its group goes on.
template <class Neighbour, class Caged>
Times run_beside_a_cage(Neighbour neighbours_step, Caged caged_step, int tasks = 2) {
  Times times;
  run_in(with_workers(1), [&] {
    auto neighbour = [&] {
      while (!times.are_over() && neighbours_step(times)) continue;
    };
    auto caged = [&] {
      while (!times.are_over() && caged_step(times)) continue;
    };
    auto cage = [&] {
      Scope crew(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(UINT32_MAX));
      for (int i = 0; i < tasks; ++i) crew.go(caged);
      return crew.end();
    };
    Scope scope;
    scope.go(cage);
    scope.go(neighbour);
    CHECK_EQ(scope.end(), 0);
  });
  return times;
}

bool compute(Times& times) {
  return work(times.neighbour, kUnit);
}

}  // namespace

// While the neighbour runs, the cage's task is all that waits, or one of those that do.
TEST(turn_time, a_cage_has_half_whether_one_task_is_in_it_or_several) {
  for (const int tasks : {1, 2, 10}) {
    fake_platform::reset();
    const Times times = run_beside_a_cage(
        compute, [](Times& all) { return work(all.cage, kUnit); }, tasks);
    CHECK(times.are_alike());
  }
}

// A kernel preempts a thread at some of its system calls, and so perhaps in the turns of one group only.
TEST(turn_time, a_group_does_not_pay_for_the_time_of_other_processes) {
  for (const std::uint64_t takes : {kMs / 5, kMs, 3 * kMs, 30 * kMs}) {
    fake_platform::reset();
    std::uint64_t goes_on_until = 0;
    const Times times = run_beside_a_cage(
        [&](Times& all) {
          if (all.neighbour + all.cage >= goes_on_until) {
            fake_platform::preempt_ns(takes);
            goes_on_until = all.neighbour + all.cage + kMs;
          }
          return work(all.neighbour, kUnit);
        },
        [](Times& all) { return work(all.cage, kUnit); });
    CHECK(times.are_alike());
  }
}

TEST(turn_time, a_preempted_turn_that_runs_for_long_counts_as_long) {
  fake_platform::reset();
  const Times times = run_beside_a_cage(compute, [](Times& all) {
    fake_platform::preempt_ns(20 * kMs);
    return work(all.cage, 10 * kMs);
  });
  CHECK(times.are_alike());
}

// The worker does not know in which of the turns since its last question the thread has waited.
TEST(turn_time, waits_in_short_turns_are_deducted_from_a_long_one_down_to_100_us) {
  fake_platform::reset();
  std::uint64_t short_turns = 0, long_turns = 0;
  run_beside_a_cage(
      [&](Times& all) {
        ++short_turns;
        fake_platform::preempt_ns(80'000);
        return work(all.neighbour, kUnit);
      },
      [&](Times& all) {
        ++long_turns;
        return work(all.cage, 120'000);
      });
  CHECK_GE(short_turns * 90 * 10, long_turns * 100 * 9);
  CHECK_LE(short_turns * 90 * 9, long_turns * 120 * 10);
}

// All tasks of the worker wait with the one that calls the kernel.
TEST(turn_time, a_group_pays_for_calls_that_block) {
  fake_platform::reset();
  fake_platform::preempt_ns(kMs);  // before the first turn, so that no later one pays less for it
  std::uint64_t blocked = 0;
  const Times times = run_beside_a_cage(compute, [&](Times& all) {
    fake_platform::block_ns(kMs);
    blocked += kMs;
    return work(all.cage, kUnit);
  });
  CHECK_GE(times.neighbour * 4, blocked * 3);
  CHECK_LE(times.neighbour * 3, blocked * 4);
}

TEST(turn_time, where_the_time_of_the_thread_is_unknown_a_turn_counts_as_2_ms_at_most) {
  fake_platform::reset();
  fake_platform::hide_thread_ns();
  std::uint64_t turns = 0;
  const Times times = run_beside_a_cage(compute, [&](Times& all) {
    ++turns;
    return work(all.cage, 10 * kMs);
  });
  CHECK_GE(times.neighbour, (turns - 1) * kMs * 3 / 2);
  CHECK_LE(times.neighbour, (turns + 1) * kMs * 5 / 2);
}

TEST(turn_time, a_long_turn_after_a_sleep_counts_as_long) {
  fake_platform::reset();
  const janus_rt_config config = with_workers(1);
  janus_rt* const rt = janus_rt_create(&config);
  REQUIRE(rt != nullptr);
  constexpr std::uint64_t kLong = 10 * kMs, kEnough = 9 * kMs;
  Times times;
  std::atomic<int> parked{0};
  std::uint64_t beside = 0;  // what the cage runs while the neighbour makes up for the long turn
  auto neighbour = [&] {
    parked.fetch_add(1);
    if (janus_park(-1) < 0) return;
    while (times.neighbour < kEnough && compute(times)) continue;
    beside = times.cage - kLong;
  };
  janus_nursery* const nursery = janus_nursery_open(rt, nullptr);
  const janus_task first = spawn(nursery, call_closure<decltype(neighbour)>, &neighbour);
  auto caged = [&] {
    parked.fetch_add(1);
    if (janus_park(-1) < 0) return;
    CHECK_EQ(janus_unpark(first), 0);
    bool goes_on = work(times.cage, kLong);
    while (goes_on && times.neighbour < kEnough) goes_on = work(times.cage, kUnit);
  };
  const janus_task second = spawn(nursery, call_closure<decltype(caged)>, &caged, 0, budget_of(UINT32_MAX));
  while (parked.load() < 2) __builtin_ia32_pause();
  const std::uint64_t before = fake_platform::waits();
  while (fake_platform::waits() == before) __builtin_ia32_pause();  // until the worker sleeps
  CHECK_EQ(janus_unpark(second), 0);
  CHECK_EQ(janus_nursery_await(nursery, nullptr), 0);
  CHECK_LE(beside, kMs);
  CHECK_EQ(janus_nursery_destroy(nursery), 0);
  janus_rt_destroy(rt);
}

}  // namespace janus::test
