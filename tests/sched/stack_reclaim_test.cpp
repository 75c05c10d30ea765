// SPDX-License-Identifier: Apache-2.0
// stack_reclaim_test.cpp — when idle stacks go back to the machine, by a clock of the test's own.
#include "rt/sched/event_sources.h"
#include "tests/harness/test.h"

namespace janus::test {

namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr unsigned kStacks = 3000;

// A worker that sleeps for `asleep_ms` at a time and is then woken, as by a request that comes in now and then.
struct Sleeper {
  StackReclaim reclaim;
  std::uint64_t now_ns = 5000 * kMs;

  void sleep(Worker& worker, std::uint64_t asleep_ms) {
    const std::uint64_t until = reclaim.next_deadline(worker, now_ns);
    const std::uint64_t woken = now_ns + asleep_ms * kMs;
    now_ns = until < woken ? until : woken;
    if (until != platform::kForever) reclaim.poll(worker, now_ns);
    if (now_ns < woken) now_ns = woken;
  }
};

void burst(StackPool& pool) {
  static Stack* stacks[kStacks];
  for (Stack*& stack : stacks) stack = pool.take(nullptr, 0);
  for (Stack* const stack : stacks) pool.give(nullptr, stack);
}

}  // namespace

TEST(stack_reclaim, a_worker_that_is_often_woken_gives_back_the_stacks_of_a_burst) {
  static Worker worker;
  for (const std::uint64_t asleep_ms : {1u, 300u, 999u, 5000u}) {
    StackPool pool;
    REQUIRE(pool.init());
    Sleeper sleeper;
    sleeper.reclaim.init(&pool);
    burst(pool);
    const std::uint64_t until = sleeper.now_ns + 3000 * kMs;
    while (sleeper.now_ns < until) sleeper.sleep(worker, asleep_ms);
    if (asleep_ms == 5000) sleeper.sleep(worker, asleep_ms);  // a long sleep looks once, at its deadline
    CHECK(!pool.has_excess());
    CHECK_LE(pool.stacks_cached(), 1024u);
    CHECK_EQ(sleeper.reclaim.next_deadline(worker, sleeper.now_ns),
             platform::kForever);  // nobody is woken for it again
    pool.destroy();
  }
}

TEST(stack_reclaim, stacks_that_are_wanted_each_second_stay_warm) {
  static Worker worker;
  StackPool pool;
  REQUIRE(pool.init());
  Sleeper sleeper;
  sleeper.reclaim.init(&pool);
  for (int round = 0; round < 40; ++round) {
    burst(pool);
    CHECK_GE(pool.stacks_cached(), std::size_t{kStacks});
    sleeper.sleep(worker, 300);
    CHECK_GE(pool.stacks_cached(), std::size_t{kStacks});
  }
  pool.destroy();
}

}  // namespace janus::test
