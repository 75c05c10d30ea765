// SPDX-License-Identifier: Apache-2.0
// The ops that a cancelled task may still spend: it alone, its cage, a cage that is dry.
#include "tests/api/world.h"

namespace janus::test {

namespace {

constexpr std::uint32_t kGrace = 3000;

janus_rt_config with_grace(unsigned workers) {
  janus_rt_config config = with_workers(workers);
  config.cancel_grace_ops = kGrace;
  return config;
}

// Spends ops and counts them, in a tree of tasks: children that run although they were cancelled, some with their own
// budgets, nurseries of which some are cages, and cancels of tasks and nurseries.
struct Launderer {
  static std::atomic<std::uint64_t> done;
  static std::atomic<std::uint32_t> seeds;

  static std::int64_t run(void*) {
    Dice dice(seeds.fetch_add(1));
    for (;;) {
      switch (dice.below(6)) {
        case 0:
          nest(dice);
          break;
        case 1:
          count(janus_yield_slow());
          break;
        default:
          for (std::uint64_t i = dice.below(200); i != 0; --i) count(janus_yield_check(1));
      }
    }
  }

 private:
  // Counts a call that returned: its op was paid, since otherwise the task would have ended in the call.
  static void count(std::int64_t) { done.fetch_add(1, std::memory_order_relaxed); }

  static void nest(Dice& dice) {
    janus_nursery_options options = {};
    options.on_error = JANUS_ON_ERROR_COLLECT;
    options.on_exhaustion = JANUS_ON_EXHAUSTION_FAIL;
    if (dice.below(2) == 0) options.budget = budget_of(static_cast<std::uint32_t>(dice.below(300)), 1 << 20);
    janus_nursery* const nursery = janus_nursery_open(nullptr, &options);
    count(0);
    if (nursery == nullptr) return;
    janus_spawn_options stubborn = {};
    stubborn.flags = JANUS_SPAWN_DETACHED | JANUS_SPAWN_RUN_CANCELLED;
    for (std::uint64_t children = dice.below(4); children != 0; --children) {
      stubborn.budget =
          dice.below(3) == 0 ? budget_of(static_cast<std::uint32_t>(dice.below(100)), 65536) : janus_budget{};
      janus_nursery_spawn_in(nursery, run, nullptr, &stubborn);
      count(0);
    }
    janus_nursery_cancel(nursery);
    count(0);
    janus_nursery_await(nursery, nullptr);
    count(0);
    janus_nursery_destroy(nursery);
    count(0);
  }
};
std::atomic<std::uint64_t> Launderer::done{0};
std::atomic<std::uint32_t> Launderer::seeds{0};

TEST(grace, a_cage_spends_at_most_its_ops_and_one_grace_whatever_it_cancels) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    Launderer::done.store(0);
    Launderer::seeds.store(1000 * seed);
    const std::uint32_t ops = 1000 + 700 * seed;
    run_in(with_grace(1 + seed % 3), [&] {
      Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, budget_of(ops, 32 << 20));
      for (int i = 0; i < 2; ++i) cage.go(Launderer::run, nullptr, JANUS_SPAWN_RUN_CANCELLED);
      if (seed % 2 == 0) {
        // Half of the cages are also cancelled from outside, sooner or later.
        for (unsigned i = 0; i < seed; ++i) janus_yield();
        cage.cancel();
      }
      CHECK_LT(cage.end(), 0);
    });
    CHECK_LE(Launderer::done.load(), ops + kGrace);
  }
}

// Cancelled tasks use what is left of the cage's budget. When nothing is left, one grace is lent to all of them
// together.
TEST(grace, a_dry_cage_has_one_grace_and_pays_it_back_when_it_is_recharged) {
  run_in(with_grace(1), [] {
    std::uint32_t done = 0;
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(10'000));
    // After its cancel it spends all the ops that it gets.
    auto greedy = [&] {
      while (janus_yield_check(1) == 0) {
      }
      for (;; ++done) janus_yield_check(1);
      return 0;
    };
    auto cancels_one = [&] {
      Scope inner(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND);
      const janus_task task = inner.go(greedy);
      for (int i = 0; i < 3; ++i) janus_yield();
      janus_task_cancel(task);
      CHECK_EQ(inner.end(), JANUS_PANIC);
      return 0;
    };
    // While the cage has ops, the cancelled task's grace comes out of them.
    CHECK_EQ(janus_task_join(cage.go(cancels_one), nullptr), 0);
    auto read_rest = [] { return static_cast<std::int64_t>(janus_budget_get_current().ops); };
    const janus_task reader = cage.go(read_rest);
    std::int64_t rest = 0;
    CHECK_EQ(janus_task_join(reader, &rest), 0);
    CHECK_EQ(done, kGrace);
    CHECK_LT(rest, 10'000 - std::int64_t{kGrace});
    // The cage is dry, and two tasks wait.
    const janus_task waiters[] = {cage.go(greedy), cage.go(greedy)};
    for (const janus_task waiter : waiters)
      CHECK(eventually([&] { return janus_task_state(waiter) == JANUS_TASK_BUDGET_EXHAUSTED; }));
    done = 0;
    CHECK_EQ(janus_task_cancel(waiters[0]), 0);
    CHECK_EQ(janus_task_join(waiters[0], nullptr), 0);
    CHECK_EQ(done, kGrace);
    CHECK_EQ(janus_task_cancel(waiters[1]), 0);
    CHECK_EQ(janus_task_join(waiters[1], nullptr), 0);
    CHECK_EQ(done, kGrace);
    // The recharge first pays back the loan; the rest is available to the next task.
    janus_budget more = {};
    more.ops = kGrace + 500;
    CHECK_EQ(janus_nursery_recharge(cage.get(), more), 0);
    CHECK_EQ(janus_task_join(cage.go(read_rest), &rest), 0);
    CHECK_LT(rest, 500);
    CHECK_GE(rest, 490);
    CHECK_LT(cage.end(), 0);
  });
}

TEST(grace, a_cancelled_task_sees_what_its_account_has) {
  run_in(with_workers(1), [] {
    for (const bool is_caged : {false, true}) {
      Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, is_caged ? budget_of(500) : janus_budget{});
      auto child = [&] {
        CHECK_EQ(janus_cancelled(), 1);
        const std::uint32_t left = janus_budget_get_current().ops;
        CHECK_EQ(left, is_caged ? 499u : ~0u);
        return 0;
      };
      scope.go(child, JANUS_SPAWN_RUN_CANCELLED);
      scope.cancel();
      scope.end();
    }
  });
}

}  // namespace

}  // namespace janus::test
