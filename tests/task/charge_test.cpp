// SPDX-License-Identifier: Apache-2.0
// charge_test.cpp — accounting of what tasks spend: ops exactly, recharges in order of request, records and tables
// while they live, task-local keys.
#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "rt/sched/scheduler.h"
#include "rt/task/account/exhaustion.h"
#include "rt/task/record/nursery.h"
#include "tests/task/bad_memory.h"

using namespace janus::test;

extern "C" std::size_t janus_write_floating(char* text, std::uint64_t bits, char conversion, int precision,
                                            bool keeps_point, std::size_t* zeros_at, std::size_t* zeros);

namespace {

janus_budget some(std::uint32_t ops, std::size_t memory = 4 << 20) {
  janus_budget budget = JANUS_BUDGET_ALL;
  budget.ops = ops;
  budget.memory = memory;
  return budget;
}

// A task that makes one random call in each step. Sums up the calls' prices according to docs/budgets.md.
struct Mix {
  Dice dice;
  unsigned workers = 1;
  std::uint32_t spent = 0;   // on completed calls
  std::uint32_t wanted = 0;  // `spent`, and the price of the call that was begun
  janus_channel* channel = nullptr;

  std::uint8_t bytes[3200] = {};

  static constexpr std::uint32_t kDearest = 1 + 8 + 3200 / 32;

  void step() {
    janus_stats stats;
    const std::uint64_t choice = dice.below(12);
    const std::size_t size = dice.below(sizeof bytes);
    const std::uint32_t prices[] = {1 + 8 + static_cast<std::uint32_t>(size / 32), 1 + 16, 1 + 4 + 4 * workers, 1 + 8};
    wanted = spent + (choice < 4 ? prices[choice] : 1);
    switch (choice) {
      case 0:
        janus_entropy(bytes, size);
        break;
      case 1:
        janus_free(janus_alloc(4 << 20));
        break;
      case 2:
        stats.size = sizeof stats;
        janus_rt_stats(nullptr, &stats);
        break;
      case 3:
        janus_write(1, bytes, 0);
        break;
      case 4:
        janus_free(janus_alloc(dice.below(2000)));
        break;
      case 5:
        janus_channel_try_send(channel, bytes);
        break;
      case 6:
        janus_channel_try_recv(channel, bytes);
        break;
      case 7:
        janus_task_set_name("somebody");
        break;
      case 8:
        janus_unpark(janus_task_self());
        break;
      case 9:
        janus_budget_get_current();
        break;
      case 10:
        janus_yield_slow();  // though no yield is due
        break;
      default:
        janus_yield_check(1);
        break;
    }
    spent = wanted;
  }

  // The task must have ended when what was left of `ops` was not enough for its next call.
  void check_spent(std::uint32_t ops) const {
    CHECK_LE(spent, ops);
    CHECK_GT(wanted, ops);
    CHECK_GT(wanted, spent);
  }
};

TEST(charge, a_task_spends_what_it_was_given_and_no_op_more) {
  for (unsigned seed = 0; seed < static_cast<unsigned>(scaled(20, 6)); ++seed) {
    const unsigned workers = 1 + seed % 3;
    run_both_ways(workers, [&] {
      const std::uint32_t ops = 500 + 997 * seed;
      Mix mix{Dice(seed), workers};
      mix.channel = janus_channel_create(8, 4);
      Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, some(ops, 64 << 20));
      auto child = [&] {
        for (;;) mix.step();
        return 0;
      };
      scope.go(child);
      CHECK_EQ(scope.end(), JANUS_BUDGET_EXCEEDED);
      mix.check_spent(ops);
      janus_channel_release(mix.channel);
    });
  }
}

// A long call is charged as a whole before or after it, so that the check for attention is not made in the middle of
// it.
TEST(charge, a_long_operation_is_between_checks_and_sees_what_wants_attention_all_the_same) {
  run_in(with_workers(1), [] {
    janus::Scheduler& scheduler = *janus::current_worker().scheduler;
    janus_nursery_options options = {};
    options.flags = JANUS_NURSERY_RECLAIM;
    options.budget = some(1'000'000);
    janus_nursery* const leaves_blocks = janus_nursery_open(nullptr, &options);
    auto leaves_one = [] { return janus_alloc(100) != nullptr ? 0 : -1; };
    CHECK_NE(janus_nursery_spawn_in(leaves_blocks, call_closure<decltype(leaves_one)>, &leaves_one, nullptr).raw, 0u);
    CHECK_EQ(janus_nursery_await(leaves_blocks, nullptr), 0);
    void* const large = janus_alloc(8 << 20);
    const auto is_seen_by = [&](auto operation) {
      CHECK_EQ(janus_yield(), 0);  // a new slice, which is enough for the calls below
      scheduler.request_attention();
      operation();
      return !scheduler.wants_attention();
    };
    CHECK(!is_seen_by([] { CHECK(janus_now_ns() != 0); }));
    CHECK(is_seen_by([&] { janus_free(large); }));
    CHECK(is_seen_by([&] { CHECK_EQ(janus_nursery_destroy(leaves_blocks), 0); }));
  });
}

// The hottest calls end slices like any other call. The call that ends a slice costs no more than usual.
TEST(charge, a_call_that_ends_a_slice_is_charged_once) {
  run_both_ways(1, [] {
    constexpr std::uint32_t kPairs = 10'000;  // a slice has some 1,000 ops
    Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_FAIL, some(1'000'000));
    auto child = [] {
      const std::uint32_t before = janus_budget_get_current().ops;
      for (std::uint32_t pair = 0; pair < kPairs; ++pair) {
        CHECK(janus_nursery_create() != nullptr);
        CHECK_EQ(janus_nursery_await_all(), 0);
      }
      CHECK_EQ(before - janus_budget_get_current().ops, 2 * kPairs + 1);
    };
    cage.go(child);
    CHECK_EQ(cage.end(), 0);
  });
}

// More children than a worker has cached records, on the fast path of spawn.
TEST(charge, many_children_at_once_cost_an_op_each) {
  run_both_ways(1, [] {
    constexpr std::uint32_t kChildren = 500;
    Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_FAIL, some(1'000'000, 64 << 20));
    std::atomic<int> ran{0};
    auto child = [&] {
      const std::uint32_t before = janus_budget_get_current().ops;
      CHECK(janus_nursery_create() != nullptr);
      for (std::uint32_t i = 0; i < kChildren; ++i) CHECK_EQ(janus_nursery_spawn(count_up, &ran), 0);
      CHECK_EQ(janus_nursery_await_all(), 0);
      CHECK_EQ(before - janus_budget_get_current().ops, kChildren + 3);
    };
    cage.go(child);
    CHECK_EQ(cage.end(), 0);
    CHECK_EQ(ran.load(), kChildren);
    CHECK(janus_nursery_create() != nullptr);  // outside the cage, where records cost nothing
    for (std::uint32_t i = 0; i < kChildren; ++i) CHECK_EQ(janus_nursery_spawn(count_up, &ran), 0);
    CHECK_EQ(janus_nursery_await_all(), 0);
    CHECK_EQ(ran.load(), 2 * kChildren);
  });
}

TEST(charge, a_crowd_on_one_account_spends_what_it_was_given_together) {
  for (unsigned workers : {1u, 2u, 4u}) {
    run_in(with_workers(workers), [workers] {
      constexpr std::uint32_t kOps = 50'000;
      std::vector<Mix> mixes;
      for (unsigned i = 0; i < 8; ++i) mixes.push_back(Mix{Dice(i), workers});
      janus_channel* const channel = janus_channel_create(8, 4);
      Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, some(kOps, 64 << 20));
      for (Mix& mix : mixes) {
        mix.channel = channel;
        scope.go(
            [](void* arg) -> std::int64_t {
              for (;;) static_cast<Mix*>(arg)->step();
              return 0;
            },
            &mix);
      }
      CHECK_EQ(scope.end(), JANUS_BUDGET_EXCEEDED);
      std::uint32_t spent = 0;
      for (const Mix& mix : mixes) spent += mix.spent;
      CHECK_LE(spent, kOps);
      // A task that finds the account dry leaves less in it than the price of its next call.
      CHECK_GT(spent, kOps - 8 * Mix::kDearest);
      janus_channel_release(channel);
    });
  }
}

// Ops are drawn in slices of some thousands. Every kind of wait gives back the rest of the task's slice.
TEST(charge, a_task_that_waits_keeps_what_it_has_not_spent) {
  for (unsigned workers : {1u, 2u}) {
    run_in(with_workers(workers), [] {
      constexpr std::uint32_t kRounds = 50, kMaxEach = 40;
      Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_FAIL, some(10'000'000));
      janus_channel* const channel = janus_channel_create(sizeof(int), 0);
      auto yields = [] {
        janus_yield();
        return 7;
      };
      auto sends = [&] {
        int value = 0;
        while (janus_channel_send(channel, &value) == 0) ++value;
        return 0;
      };
      std::atomic<std::uint64_t> parked{0};
      std::atomic<bool> is_over{false};
      auto parks = [&] {
        parked.store(janus_task_self().raw);
        return janus_park(-1);
      };
      auto unparks = [&] {
        for (; !is_over.load(); janus_yield()) janus_unpark({parked.exchange(0)});
        return 0;
      };
      const auto spent_by = [](auto wait) {
        const std::uint32_t before = janus_budget_get_current().ops;
        for (std::uint32_t round = 0; round < kRounds; ++round) wait();
        return before - janus_budget_get_current().ops;
      };
      auto child = [&] {
        Scope partners;
        CHECK_LE(spent_by([] { janus_yield(); }), kMaxEach * kRounds);
        CHECK_LE(spent_by(parks), kMaxEach * kRounds);
        CHECK_LE(spent_by([&] {
                   std::int64_t value = 0;
                   CHECK_EQ(janus_task_join(partners.go(yields), &value), 0);
                   CHECK_EQ(value, 7);
                 }),
                 kMaxEach * kRounds);
        CHECK_LE(spent_by([&] {
                   Scope scope;
                   scope.go(parks);
                   CHECK_EQ(scope.end(), 0);
                 }),
                 kMaxEach * kRounds);
        partners.go(sends);
        CHECK_LE(spent_by([&] {
                   int value = 0;
                   CHECK_EQ(janus_channel_recv(channel, &value), 0);
                 }),
                 kMaxEach * kRounds);
        janus_channel_close(channel);
        return partners.end();
      };
      Scope outside;
      outside.go(unparks);
      cage.go(child);
      CHECK_EQ(cage.end(), 0);
      is_over.store(true);
      CHECK_EQ(outside.end(), 0);
      janus_channel_release(channel);
    });
  }
}

TEST(charge, a_cancelled_task_has_its_grace_and_no_more) {
  janus_rt_config config = with_workers(1);
  config.cancel_grace_ops = 3000;
  run_in(config, [] {
    Mix mix{Dice(9)};
    mix.channel = janus_channel_create(8, 4);
    Scope scope(JANUS_ON_ERROR_COLLECT);
    auto child = [&] {
      while (janus_yield() == 0) {
      }
      for (;;) mix.step();
      return 0;
    };
    scope.go(child);
    janus_yield();
    scope.cancel();
    CHECK_EQ(scope.end(), JANUS_PANIC);
    mix.check_spent(3000);
    janus_channel_release(mix.channel);
  });
}

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
    if (dice.below(2) == 0) options.budget = some(static_cast<std::uint32_t>(dice.below(300)), 1 << 20);
    janus_nursery* const nursery = janus_nursery_open(nullptr, &options);
    count(0);
    if (nursery == nullptr) return;
    janus_spawn_options stubborn = {};
    stubborn.flags = JANUS_SPAWN_DETACHED | JANUS_SPAWN_RUN_CANCELLED;
    for (std::uint64_t children = dice.below(4); children != 0; --children) {
      stubborn.budget = dice.below(3) == 0 ? some(static_cast<std::uint32_t>(dice.below(100)), 65536) : janus_budget{};
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

}  // namespace

TEST(charge, a_cage_spends_its_ops_and_one_grace_whatever_it_cancels) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    Launderer::done.store(0);
    Launderer::seeds.store(1000 * seed);
    const std::uint32_t ops = 1000 + 700 * seed;
    run_in(with_grace(1 + seed % 3), [&] {
      Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, some(ops, 32 << 20));
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
TEST(charge, a_dry_cage_has_one_grace_and_pays_it_back_when_it_is_recharged) {
  run_in(with_grace(1), [] {
    std::uint32_t done = 0;
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, some(10'000));
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

TEST(charge, a_cancelled_task_sees_what_its_account_has) {
  run_in(with_workers(1), [] {
    for (const bool is_caged : {false, true}) {
      Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, is_caged ? some(500) : janus_budget{});
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

// The number of a neighbour's turns while a task does `deed`, whose work cannot be charged in parts.
template <class Deed>
int turns_during(Deed deed) {
  int turns = 0;
  run_in(deterministic(1, 1), [&] {
    bool is_over = false, is_under_way = false;
    auto neighbour = [&] {
      while (!is_over) {
        turns += is_under_way ? 1 : 0;
        janus_yield();
      }
      return 0;
    };
    auto task = [&] {
      deed(is_under_way);
      is_over = true;
      return 0;
    };
    Scope scope(JANUS_ON_ERROR_COLLECT);
    scope.go(neighbour);
    scope.go(task);
    CHECK_EQ(scope.end(), 0);
  });
  return turns;
}

TEST(charge, freeing_a_large_block_gives_way) {
  const int turns = turns_during([](bool& is_under_way) {
    void* const block = janus_alloc(64 << 20);
    is_under_way = true;
    janus_free(block);
    is_under_way = false;
  });
  CHECK_GE(turns, 30);
}

TEST(charge, moving_a_large_block_gives_way_while_the_old_one_is_freed) {
  const int turns = turns_during([](bool& is_under_way) {
    void* const block = janus_alloc(64 << 20);
    is_under_way = true;
    void* const smaller = janus_realloc(block, 4 << 20);
    is_under_way = false;
    janus_free(smaller);
  });
  CHECK_GE(turns, 30 + 64);
}

TEST(charge, releasing_a_large_channel_gives_way) {
  const int turns = turns_during([](bool& is_under_way) {
    janus_channel* const channel = janus_channel_create(1 << 20, 64);
    is_under_way = true;
    janus_channel_release(channel);
    is_under_way = false;
  });
  CHECK_GE(turns, 30);
}

TEST(charge, ending_what_was_left_open_gives_way) {
  const int turns = turns_during([](bool& is_under_way) {
    auto leaves = [&] {
      for (int i = 0; i < 5000; ++i) janus_nursery_open(nullptr, nullptr);
      is_under_way = true;
      return 0;
    };
    Scope scope(JANUS_ON_ERROR_COLLECT);
    scope.go(leaves);
    scope.end();
    is_under_way = false;
  });
  CHECK_GE(turns, 5000 / 256 - 1);
}

TEST(charge, forgetting_the_records_of_ended_tasks_gives_way) {
  const int turns = turns_during([](bool& is_under_way) {
    janus_nursery* const nursery = janus_nursery_open(nullptr, nullptr);
    for (int i = 0; i < 5000; ++i) janus_nursery_spawn_in(nursery, return_zero, nullptr, nullptr);
    CHECK_EQ(janus_nursery_await(nursery, nullptr), 0);
    is_under_way = true;
    CHECK_EQ(janus_nursery_destroy(nursery), 0);
    is_under_way = false;
  });
  CHECK_GE(turns, 5000 / 256 - 1);
}

TEST(charge, a_cancel_costs_an_op_for_each_that_it_reaches) {
  run_in(with_workers(1), [] {
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY,
               some(1'000'000, 64 << 20));  // enough memory for all of their stacks, also under a sanitizer
    auto child = [] {
      constexpr std::uint32_t kWaiters = 100;
      std::uint32_t waiting = 0;
      auto waits = [&] {
        ++waiting;
        return janus_park(-1);
      };
      Scope crowd(JANUS_ON_ERROR_COLLECT);
      for (std::uint32_t i = 0; i < kWaiters; ++i) crowd.go(waits);
      while (waiting < kWaiters) janus_yield();
      const std::uint32_t before = janus_budget_get_current().ops;
      crowd.cancel();
      // The last op is for janus_budget_get_current().
      CHECK_EQ(before - janus_budget_get_current().ops, 1 + 8 + kWaiters + 1);
      crowd.end();
      return 0;
    };
    cage.go(child);
    CHECK_EQ(cage.end(), 0);
  });
}

namespace {

// Nests `depth` scopes, each opened by a task of the one outside it, and calls `innermost` in the innermost one.
struct Nest {
  unsigned depth;
  void (*innermost)(janus_nursery* outermost, janus_task first);
  janus_nursery* outermost = nullptr;
  janus_task first = {};

  std::int64_t operator()() {
    if (first.raw == 0) first = janus_task_self();
    if (depth-- == 0) return innermost(outermost, first), 0;
    Scope scope;
    if (outermost == nullptr) outermost = scope.get();
    scope.go(*this);
    return scope.end();
  }
};

void ask_far_above(janus_nursery* outermost, janus_task first) {
  const std::uint32_t before = janus_budget_get_current().ops;
  CHECK_GE(janus_nursery_state(outermost), 0);
  const std::uint32_t asked = janus_budget_get_current().ops;
  CHECK_GE(before - asked, 500u / 2);
  CHECK_EQ(janus_task_join(first, nullptr), JANUS_E_DEADLOCK);
  CHECK_GE(asked - janus_budget_get_current().ops, 500u / 2);
}

}  // namespace

TEST(charge, a_walk_up_the_tree_is_paid_by_the_step) {
  run_in(with_workers(1), [] {
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, some(1'000'000, 64 << 20));
    Nest nest{500, ask_far_above};
    cage.go(nest);
    CHECK_EQ(cage.end(), 0);
  });
}

namespace {

void* g_left = nullptr;

// Opens `depth` cages, one in the other. A task in the innermost one allocates a block and leaves it in g_left.
std::int64_t leave_block(void* depth) {
  const auto rest = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(depth));
  if (rest == 0) return (g_left = janus_alloc(64)) != nullptr ? 0 : -1;
  Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, some(10'000 * rest, rest << 20));
  cage.go(leave_block, as_arg(static_cast<int>(rest - 1)));
  return cage.end();
}

}  // namespace

TEST(charge, freed_memory_passes_through_closed_accounts_for_a_price) {
  run_in(with_workers(1), [] {
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, some(10'000'000, 80 << 20));
    auto child = [] {
      CHECK_EQ(leave_block(as_arg(60)), 0);
      const std::uint32_t before = janus_budget_get_current().ops;
      janus_free(g_left);
      const std::uint32_t spent = before - janus_budget_get_current().ops;
      CHECK_GE(spent, 60u / 2);
      CHECK_LE(spent, 60u / 2 + 1);  // 1 for janus_budget_get_current()
      return 0;
    };
    cage.go(child);
    CHECK_EQ(cage.end(), 0);
  });
}

// Runs `body` in a cage, on one worker, and hands it what tells what a call costs.
template <class Body>
void in_a_cage_that_counts(Body body) {
  run_in(with_workers(1), [&body] {
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, some(1'000'000, 64 << 20));
    auto child = [&body] {
      body([](auto&& call) {
        const std::uint32_t before = janus_budget_get_current().ops;
        call();
        return before - janus_budget_get_current().ops - 1;
      });
      return 0;
    };
    cage.go(child);
    CHECK_EQ(cage.end(), 0);
  });
}

// Whichever way it is sent or received, and whether somebody takes it or not.
TEST(charge, a_message_is_paid_by_the_4_KiB) {
  static std::uint8_t element[1 << 20];
  in_a_cage_that_counts([](auto cost_of) {
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{4095}, std::size_t{4096}, sizeof element}) {
      const auto price = static_cast<std::uint32_t>(1 + bytes / 4096);
      janus_channel* const channel = janus_channel_create(bytes, 1);
      CHECK_EQ(cost_of([&] { CHECK_EQ(janus_channel_send(channel, element), 0); }), price);
      CHECK_EQ(cost_of([&] { CHECK_EQ(janus_channel_recv(channel, element), 0); }), price);
      CHECK_EQ(cost_of([&] { CHECK_EQ(janus_channel_try_send(channel, element), 0); }), price);
      CHECK_EQ(cost_of([&] { CHECK_EQ(janus_channel_try_send(channel, element), JANUS_E_WOULD_BLOCK); }), price);
      CHECK_EQ(cost_of([&] { CHECK_EQ(janus_channel_try_recv(channel, element), 0); }), price);
      janus_channel_release(channel);
    }
  });
}

TEST(charge, a_large_block_has_its_price_by_whichever_call_it_comes) {
  in_a_cage_that_counts([](auto cost_of) {
    for (const std::size_t bytes : {std::size_t{4096}, std::size_t{2} << 20}) {
      const std::uint32_t price = bytes == 4096 ? 1 : 1 + 16;
      void* blocks[3];
      CHECK_EQ(cost_of([&] { blocks[0] = janus_alloc(bytes); }), price);
      CHECK_EQ(cost_of([&] { blocks[1] = janus_alloc_aligned(4096, bytes); }), price);
      CHECK_EQ(cost_of([&] { blocks[2] = janus_realloc(nullptr, bytes); }), price);
      for (void* const block : blocks) janus_free(block);
      janus_channel* channel = nullptr;
      CHECK_EQ(cost_of([&] { channel = janus_channel_create(bytes / 4, 4); }), price);
      janus_channel_release(channel);
    }
  });
}

// The caller pays, whether it is the C library's printf or a task itself.
TEST(charge, the_digits_of_a_double_are_paid_for_by_the_call_that_writes_them) {
  in_a_cage_that_counts([](auto cost_of) {
    const struct {
      std::uint64_t bits;
      std::uint32_t price;
    } cases[] = {
        {0x4330000000000000, 1}, {0x3ff0000000000000, 1}, {1, 1 + 1075 / 64}, {0x7fefffffffffffff, 1 + 971 / 64}};
    char text[1096];
    std::size_t at = 0, zeros = 0;
    for (const auto& [bits, price] : cases)
      CHECK_EQ(cost_of([&, bits = bits] { janus_write_floating(text, bits, 'g', 6, false, &at, &zeros); }), price);
  });
}

TEST(charge, a_panic_costs_what_its_report_takes) {
  run_in(with_workers(1), [] {
    constexpr std::uint32_t kPanics = 50;
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, some(1'000'000));
    auto child = [] {
      const std::uint32_t before = janus_budget_get_current().ops;
      Scope crowd(JANUS_ON_ERROR_COLLECT);
      auto panics = [] { return janus_task_panic("priced"), 0; };
      for (std::uint32_t i = 0; i < kPanics; ++i) crowd.go(panics);
      CHECK_EQ(crowd.end(), JANUS_PANIC);
      CHECK_GE(before - janus_budget_get_current().ops, 64 * kPanics);
      return 0;
    };
    cage.go(child);
    CHECK_EQ(cage.end(), 0);
  });
}

// A task may print to its standard output and standard error without a capability. All other descriptors, standard
// input too, may lead to files and networks, so writing to them costs a system call of its budget.
TEST(charge, printing_costs_no_system_call_and_writing_to_other_descriptors_does) {
  run_in(with_workers(1), [] {
    janus_budget few = some(100'000);
    few.syscalls = 10;
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, few);
    auto writes = [] {
      const auto cost_of = [](int fd, bool prints) {
        const std::uint32_t before = janus_budget_get_current().syscalls;
        const char* const nothing = "";
        CHECK_EQ(prints ? janus_print(fd, "%s", nothing) : janus_write(fd, nothing, 0), 0);
        return before - janus_budget_get_current().syscalls;
      };
      for (const bool prints : {false, true}) {
        for (const int fd : {1, 2}) CHECK_EQ(cost_of(fd, prints), 0u);
        for (const int fd : {-1, 0, 3}) CHECK_EQ(cost_of(fd, prints), 1u);
      }
      return 0;
    };
    cage.go(writes);
    CHECK_EQ(cage.end(), 0);
  });
}

// 1 op for each 64 bytes that are read. A text of more than 255 bytes is read twice, so it costs twice as much.
TEST(charge, a_text_of_256_bytes_is_the_first_that_is_paid_for_twice) {
  run_in(with_workers(1), [] {
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, some(1'000'000));
    auto prints = [] {
      const auto cost_of = [](int bytes) {
        char text[400] = {};
        for (int i = 0; i < bytes; ++i) text[i] = '$';
        const std::uint32_t before = janus_budget_get_current().ops;
        CHECK_EQ(janus_print(-1, "%s", text), -9);  // the text is read; then the bad descriptor is refused
        return before - janus_budget_get_current().ops;
      };
      const std::uint32_t once = cost_of(255), twice = cost_of(256);
      CHECK_GE(twice, once + 3);
      CHECK_EQ(twice, cost_of(257));
      return 0;
    };
    cage.go(prints);
    CHECK_EQ(cage.end(), 0);
  });
}

// The budget that has no system calls left is the nursery's or the task's own.
TEST(charge, a_task_without_system_calls_left_waits_for_them) {
  for (const bool has_own : {false, true}) {
    run_in(with_workers(1), [has_own] {
      constexpr long kGetPid = 39;
      janus_budget few = some(100'000);
      few.syscalls = 3;
      Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, has_own ? some(1'000'000, 32 << 20) : few);
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

TEST(charge, a_recharge_goes_to_those_who_ran_dry_in_that_order) {
  run_in(with_workers(1), [] {
    static std::vector<int>* order;
    std::vector<int> went_on;
    order = &went_on;
    Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, some(1'000'000));
    auto run_dry = [](void* number) -> std::int64_t {
      for (int i = 0; i < 100; ++i) janus_yield_check(1);
      order->push_back(static_cast<int>(reinterpret_cast<std::intptr_t>(number)));
      return 0;
    };
    // Each task has a budget of its own, with fewer ops than it needs.
    std::array<janus_task, 3> tasks;
    for (int i = 0; i < 3; ++i) {
      tasks[static_cast<std::size_t>(i)] = scope.go(run_dry, as_arg(i), 0, some(50, 65536));
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
    CHECK(went_on == std::vector<int>({0, 1, 2}));
  });
}

// The first waiter has a budget of its own and needs more than one recharge. The second draws on the nursery, and
// begins to wait only after the first recharge.
TEST(charge, a_recharge_that_is_too_small_for_the_first_is_kept_from_who_comes_later) {
  run_in(with_workers(1), [] {
    Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, some(200'000, 1 << 20));
    std::array<janus_task, 2> tasks;
    const auto state = [&](std::size_t number) { return janus_task_state(tasks[number]); };
    janus_budget more = {};
    more.ops = 600'000;
    auto owe = [](void* ops) -> std::int64_t { return janus_yield_check(reinterpret_cast<std::intptr_t>(ops)); };
    tasks[0] = scope.go(owe, as_arg(1'000'000), 0, some(1000, 65536));
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
TEST(charge, the_first_waiters_rest_of_a_recharge_goes_to_the_next) {
  run_in(with_workers(1), [] {
    for (const bool is_memory : {false, true}) {
      Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, some(20'000, 1 << 20));
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
        task = is_memory ? scope.go(allocate, nullptr, 0, some(1000, 65536))
                         : scope.go(spend, nullptr, 0, some(5900, 65536));
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
TEST(charge, a_waiter_that_stops_lets_the_next_one_look) {
  run_in(with_workers(1), [] {
    Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, some(1'000'000, 1 << 20));
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
    const janus_task first = scope.go(allocate_much, const_cast<bool*>(&ends), 0, some(100'000, 500'000));
    CHECK(eventually([&] { return janus_task_state(first) == JANUS_TASK_BUDGET_EXHAUSTED; }));
    const janus_task second = scope.go(allocate, nullptr, 0, some(100'000, 65536));
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
TEST(charge, the_rest_of_a_slice_goes_to_a_task_that_ran_dry) {
  run_in(with_workers(3), [] {
    for (int i = 0; i < 20; ++i) {
      Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, some(1500));
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
TEST(charge, a_waiter_for_a_recharge_is_woken_by_credits_of_its_own_budget) {
  run_in(with_workers(4), [] {
    struct Shared {
      janus_task parent = {};
      std::atomic<bool> goes_on{false};
    };
    for (int i = 0; i < 20; ++i) {
      Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, some(20'000));
      auto run_dry = [] { return janus_yield_check(1000); };
      const janus_task other = scope.go(run_dry, 0, some(100, 65536));
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
      const janus_task task = scope.go(parent, &shared, 0, some(1500, 1 << 20));
      CHECK(eventually([&] { return janus_task_state(task) == JANUS_TASK_BUDGET_EXHAUSTED; }));
      shared.goes_on = true;
      CHECK(eventually([&] { return janus_task_state(task) == JANUS_TASK_COMPLETED; }));
      scope.cancel();
      CHECK_EQ(scope.end(), JANUS_CANCELLED);
    }
  });
}

// The first waits for a recharge that never comes. The second waits for ops that the holder gives back.
TEST(charge, no_wait_ends_while_its_budget_is_there) {
  run_in(with_workers(3), [] {
    Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, some(1600));
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
    const janus_task first = scope.go(spend, 0, some(100, 65536));
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
TEST(charge, the_end_of_one_wait_leaves_enough_for_another) {
  run_in(with_workers(2), [] {
    Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, some(1'000'000, 1'000'000));
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
    const std::array<janus_task, 2> tasks = {scope.go(modest), scope.go(greedy, 0, some(10'000, 400'000))};
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
TEST(charge, the_later_half_of_the_waits_ends_and_the_earlier_half_has_what_that_leaves) {
  run_in(with_workers(1), [] {
    auto spend = [] {
      janus_yield_check(1'000'000);
      return 0;
    };
    for (int i = 0; i < 50; ++i) {
      Scope hopeless(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, some(1000, 100'000));
      hopeless.go(spend);
      CHECK_EQ(hopeless.end(), JANUS_BUDGET_EXCEEDED);
    }
    Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, some(1'000'000, 4'000'000));
    int completed = 0;
    auto keep_and_allocate = [&] {
      Scope kept(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, some(1000, 1'000'000));
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
TEST(charge, waits_in_a_cage_that_nobody_awaits_yet_go_on) {
  run_in(with_workers(2), [] {
    auto spend = [] {
      for (int left = 600; left > 0; --left) janus_yield_check(1);
      return 0;
    };
    Scope later(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, some(100));
    Scope sooner(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, some(100));
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

// Many pairs of tasks: the child of each waits for ops, its parent awaits it and then waits for ops itself. Returns how
// many waits the runtime walked, over all times when every task waited.
static std::uint64_t waits_walked_by_pairs(int pairs) {
  static std::uint64_t walked;
  static const janus::BudgetWaits kCounting = {janus::kBudgetWaits.wait, janus::kBudgetWaits.serve_unserved,
                                               [](auto& runtime, auto* worker, auto entered) noexcept {
                                                 walked += runtime.exhausted.load();
                                                 return janus::kBudgetWaits.fail_unrechargeable(runtime, worker,
                                                                                                entered);
                                               }};
  walked = 0;
  run_in(deterministic(1, 1), [pairs] {
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND,
               some(static_cast<std::uint32_t>(40 * pairs), 256 << 20));
    janus::calling_task()->nursery->runtime->budget_waits.store(&kCounting);
    auto leaf = [] {
      while (janus_yield_check(1) == 0) {
      }
      return 0;
    };
    auto parent = [&] {
      Scope scope;
      scope.go(leaf);
      (void)scope.end();
      while (janus_yield_check(100'000) == 0) {
      }
      return 0;
    };
    for (int i = 0; i < pairs; ++i) CHECK_NE(cage.go(parent).raw, 0u);
    CHECK_EQ(cage.end(), JANUS_BUDGET_EXCEEDED);
  });
  return walked;
}

TEST(charge, the_work_of_ending_waits_grows_as_their_number) {
  const std::uint64_t once = waits_walked_by_pairs(200), twice = waits_walked_by_pairs(400);
  note("waits walked by 200 pairs", once);
  note("waits walked by 400 pairs", twice);
  CHECK_GT(once, 200u);
  CHECK_LE(2 * twice, 5 * once);
}

TEST(charge, a_crowd_that_nobody_recharges_has_an_end) {
  run_in(with_workers(2), [] {
    constexpr int kCrowd = 1000;
    Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, some(100'000, 64 << 20));
    auto spend = [] {
      janus_yield_check(1'000'000);
      return 0;
    };
    for (int i = 0; i < kCrowd; ++i) CHECK(scope.go(spend).raw != 0);
    CHECK_EQ(scope.end(), JANUS_BUDGET_EXCEEDED);
  });
}

// Neither another open nursery of the thread nor earlier nurseries that ended with exhausted waits make a difference.
TEST(charge, an_awaited_nursery_of_a_thread_ends_whatever_else_the_thread_has_open) {
  const janus_rt_config config = with_workers(2);
  janus_rt* const rt = janus_rt_create(&config);
  REQUIRE(rt != nullptr);
  janus_nursery_options options = {};
  options.on_error = JANUS_ON_ERROR_COLLECT;
  options.on_exhaustion = JANUS_ON_EXHAUSTION_SUSPEND;
  options.budget = some(1000, 1 << 20);
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
TEST(charge, a_thread_outside_may_recharge_when_all_tasks_wait) {
  const janus_rt_config config = with_workers(2);
  janus_rt* const rt = janus_rt_create(&config);
  REQUIRE(rt != nullptr);
  janus_nursery_options options = {};
  options.on_error = JANUS_ON_ERROR_COLLECT;
  options.on_exhaustion = JANUS_ON_EXHAUSTION_SUSPEND;
  options.budget = some(1000, 1 << 20);
  auto spend = [] {
    for (int left = 5000; left > 0; --left) janus_yield_check(1);
    return 0;
  };
  for (const bool comes : {true, false}) {
    janus_nursery* const nursery = janus_nursery_open(rt, &options);
    const janus_task task = spawn(nursery, call_closure<decltype(spend)>, &spend);
    auto has_run_dry = [&] { return janus_task_state(task) == JANUS_TASK_BUDGET_EXHAUSTED; };
    while (!has_run_dry()) __builtin_ia32_pause();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
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
TEST(charge, memory_for_who_ran_dry_comes_when_recharges_add_up_to_it) {
  run_in(with_workers(1), [] {
    constexpr std::uint64_t kWanted = 300'000;
    Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, some(1'000'000, 1 << 20));
    auto allocate = [] {
      void* const block = janus_alloc(kWanted);
      janus_free(block);
      return block != nullptr ? 0 : -1;
    };
    const janus_task first = scope.go(allocate, 0, some(10'000, 65536));
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
TEST(charge, a_request_that_can_never_be_satisfied_takes_nothing) {
  run_in(with_workers(1), [] {
    constexpr std::uint64_t kMuch = std::uint64_t{1} << 40;
    Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND);
    auto allocate = [] { return janus_alloc(kMuch) == nullptr ? 0 : -1; };
    const janus_task greedy = scope.go(allocate, 0, some(10'000, 65536));
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
TEST(charge, a_recharge_goes_in_that_order_to_all_whatever_they_draw_on) {
  run_in(with_workers(1), [] {
    struct Shared {
      std::vector<int> went_on;
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
        if (me.shared->counts && status == 0) me.shared->went_on.push_back(me.number);
      }
      return status;
    };
    Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, some(5000));
    std::array<Spender, 4> spenders{{{&shared, 0}, {&shared, 1}, {&shared, 2}, {&shared, 3}}};
    std::array<janus_task, 4> tasks;
    for (std::size_t i = 0; i < 4; ++i)
      tasks[i] = scope.go(spend, &spenders[i], 0, i % 2 == 0 ? some(50, 65536) : janus_budget{});
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

TEST(charge, the_root_task_has_the_budget_that_the_settings_give_it) {
  janus_rt_config config = with_workers(1);
  config.root_budget = some(5000, 3'000'000);
  config.root_budget.spawn_count = 7;
  const long result = run_in(config, [] {
    const janus_budget at_first = janus_budget_get_current();
    CHECK_LE(at_first.ops, 5000u);
    CHECK_GT(at_first.ops, 4900u);
    CHECK_LE(at_first.memory, 3'000'000u);
    CHECK_GT(at_first.memory, 1'000'000u);
    CHECK_EQ(at_first.spawn_count, 7u);
    janus_yield_check(100);
    CHECK_LE(janus_budget_get_current().ops, at_first.ops - 100);
    Scope scope;
    for (int i = 0; i < 7; ++i) CHECK_NE(scope.go(return_zero, nullptr).raw, 0u);
    CHECK_EQ(janus_budget_get_current().spawn_count, 0u);
    CHECK_EQ(scope.end(), 0);
    return 3;
  });
  CHECK_EQ(result, 3);
}

TEST(charge, records_and_tables_are_paid_for_while_they_live) {
  run_in(with_workers(1), [] {
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, some(10'000'000, 200'000));
    auto child = [] {
      const std::size_t before = janus_budget_get_current().memory;
      std::vector<janus_nursery*> nurseries;
      while (janus_nursery* const nursery = janus_nursery_open(nullptr, nullptr)) nurseries.push_back(nursery);
      CHECK_EQ(janus_last_error(), JANUS_E_BUDGET);
      CHECK_LE(nurseries.size(), 200'000 / 128);
      for (janus_nursery* nursery : nurseries) {
        CHECK_EQ(janus_nursery_await(nursery, nullptr), 0);
        CHECK_EQ(janus_nursery_destroy(nursery), 0);
      }
      CHECK_EQ(janus_budget_get_current().memory, before);
      std::vector<janus_channel*> channels;
      while (janus_channel* const channel = janus_channel_create(1, 0)) channels.push_back(channel);
      CHECK_EQ(janus_last_error(), JANUS_E_BUDGET);
      CHECK_LE(channels.size(), 200'000 / 128);
      for (janus_channel* channel : channels) janus_channel_release(channel);
      CHECK_EQ(janus_budget_get_current().memory, before);
      return 0;
    };
    cage.go(child);
    CHECK_EQ(cage.end(), 0);
  });
}

TEST(charge, a_spawn_or_a_record_beyond_the_budget_ends_the_task_under_fail_alone) {
  for (const std::uint32_t policy : {JANUS_ON_EXHAUSTION_SUSPEND, JANUS_ON_EXHAUSTION_FAIL, JANUS_ON_EXHAUSTION_DENY}) {
    const long expected = policy == JANUS_ON_EXHAUSTION_FAIL ? JANUS_BUDGET_EXCEEDED : 7;
    run_in(with_workers(1), [&] {
      auto nothing = [] { return 0; };
      auto spawns = [&] {
        Scope scope;
        for (int i = 0; i < 3; ++i) scope.go(nothing);
        CHECK_EQ(janus_last_error(), JANUS_E_BUDGET);
        CHECK_EQ(scope.end(), 0);
        return 7;
      };
      auto opens = [] {
        while (janus_nursery_open(nullptr, nullptr) != nullptr) {
        }
        return 7;
      };
      auto creates = [] {
        while (janus_channel_create(8, 0) != nullptr) {
        }
        return 7;
      };
      // A task that spawns into its own cage does not end when the cage's budget is exhausted.
      auto feeds_a_cage = [&] {
        janus_budget two = some(1000, 200'000);
        two.spawn_count = 2;
        Scope inner(JANUS_ON_ERROR_COLLECT, policy, two);
        for (int i = 0; i < 3; ++i) inner.go(nothing);
        CHECK_EQ(janus_last_error(), JANUS_E_BUDGET);
        CHECK_EQ(inner.end(), 0);
        return 7;
      };
      const auto in_cage = [&](auto& body, long result) {
        janus_budget budget = some(100'000, 1'000'000);
        budget.spawn_count = 3;
        Scope cage(JANUS_ON_ERROR_COLLECT, policy, budget);
        const janus_task task = cage.go(body);
        std::int64_t seen = 0;
        const int joined = janus_task_join(task, &seen);
        CHECK_EQ(joined < 0 ? joined : seen, result);
        (void)cage.end();
      };
      in_cage(spawns, expected);
      in_cage(opens, expected);
      in_cage(creates, expected);
      in_cage(feeds_a_cage, 7);
    });
  }
}

TEST(charge, a_name_is_paid_for_while_its_task_lives_and_done_without_where_nothing_is_left) {
  run_in(with_workers(1), [] {
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, some(10'000'000, 200'000));
    auto names_itself = [] {
      const std::size_t before = janus_budget_get_current().memory;
      CHECK_EQ(janus_task_set_name("one"), 0);
      CHECK_EQ(janus_budget_get_current().memory, before - 32);
      CHECK_EQ(janus_task_set_name("another"), 0);
      CHECK_EQ(janus_budget_get_current().memory, before - 32);
      return 0;
    };
    auto child = [&] {
      const std::size_t before = janus_budget_get_current().memory;
      for (int i = 0; i < 10; ++i) {
        Scope scope;
        scope.go(names_itself);
        CHECK_EQ(scope.end(), 0);
      }
      CHECK_EQ(janus_budget_get_current().memory, before);
      while (janus_alloc(16) != nullptr) {
      }
      CHECK_EQ(janus_task_set_name("nothing"), JANUS_E_BUDGET);
      return 0;
    };
    cage.go(child);
    CHECK_EQ(cage.end(), 0);
  });
}

TEST(locals, keys_are_many_and_a_later_key_is_not_taken_for_an_earlier_one) {
  run_in(with_workers(1), [] {
    std::vector<janus_local_key> keys;
    janus_local_key key = {};
    while (janus_local_new(&key, nullptr) == 0) keys.push_back(key);
    CHECK_GE(keys.size(), 1000u);
    int value = 0;
    CHECK_EQ(janus_local_set(keys.back(), &value), 0);
    CHECK(janus_local_get(keys.back()) == &value);
    CHECK_EQ(janus_local_delete(keys.back()), 0);
    CHECK(janus_local_get(keys.back()) == nullptr);
    CHECK_EQ(janus_local_delete(keys.back()), JANUS_E_INVALID);
    CHECK_EQ(janus_local_new(&key, nullptr), 0);
    CHECK(key.raw != keys.back().raw);
    CHECK(janus_local_get(key) == nullptr);
    keys.back() = key;
    for (const janus_local_key each : keys) CHECK_EQ(janus_local_delete(each), 0);
  });
}

// A cage may take another key while it has less than an eighth of what is left of 512 keys (docs/decisions/0243).
constexpr std::size_t kKeysOfACage = 57;

TEST(locals, the_keys_of_a_budget_end_with_it) {
  run_in(with_workers(1), [] {
    static std::atomic<int> destroyed;
    destroyed.store(0);
    const auto destroy = [](void*) { destroyed.fetch_add(1); };
    const std::size_t before = janus_budget_get_current().memory;
    int value = 0;
    for (const bool is_the_tasks : {false, true}) {
      Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, is_the_tasks ? janus_budget{} : some(1'000'000));
      janus_local_key key = {};
      std::size_t made = 0;
      std::atomic<bool> may_end{false};
      auto child = [&] {
        CHECK_EQ(janus_local_new(&key, destroy), 0);
        CHECK_EQ(janus_local_set(key, &value), 0);
        janus_local_key other = {};
        for (made = 1; janus_local_new(&other, nullptr) == 0;) ++made;
        while (!may_end.load()) janus_yield();
        return 0;
      };
      const janus_task task = cage.go(child, 0, is_the_tasks ? some(1'000'000) : janus_budget{});
      CHECK(eventually([&] { return made >= kKeysOfACage; }));
      // A task outside the cage keeps its value while the key exists; no destructor is called for it.
      CHECK_EQ(janus_local_set(key, &value), 0);
      may_end.store(true);
      CHECK_EQ(janus_task_join(task, nullptr), 0);
      CHECK_EQ(janus_task_release(task), 0);
      CHECK_EQ(cage.end(), 0);
      CHECK_EQ(made, kKeysOfACage);
      CHECK(janus_local_get(key) == nullptr);
      CHECK_EQ(janus_local_set(key, &value), JANUS_E_INVALID);
      CHECK_EQ(destroyed.load(), is_the_tasks ? 2 : 1);
    }
    // All memory has come back, except the root's own table of values.
    CHECK_GE(janus_budget_get_current().memory + 65536, before);
  });
}

TEST(locals, no_key_comes_twice) {
  if (kIsWatched) return;  // it would need four million keys
  run_in(with_workers(1), [] {
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, some(40'000'000));
    auto child = [] {
      janus_local_key first = {}, key = {};
      CHECK_EQ(janus_local_new(&first, nullptr), 0);
      CHECK_EQ(janus_local_delete(first), 0);
      for (int i = 0; i < 4'200'000; ++i) {
        if (!CHECK_EQ(janus_local_new(&key, nullptr), 0) || !CHECK_NE(key.raw, first.raw)) return -1;
        CHECK_EQ(janus_local_delete(key), 0);
      }
      return 0;
    };
    cage.go(child);
    CHECK_EQ(cage.end(), 0);
  });
}

TEST(locals, a_main_that_pays_gets_no_key_when_all_are_taken) {
  static std::vector<janus_local_key> taken;
  run_in(with_workers(1), [] {
    janus_local_key key = {};
    while (janus_local_new(&key, nullptr) == 0) taken.push_back(key);
  });
  CHECK_GE(taken.size(), 1000u);
  janus_rt_config pays = with_workers(1);
  pays.root_budget = some(1'000'000);
  run_in(pays, [] {
    janus_local_key key = {};
    CHECK_EQ(janus_local_new(&key, nullptr), JANUS_E_NO_MEMORY);
  });
  run_in(with_workers(1), [] {
    for (const janus_local_key each : taken) CHECK_EQ(janus_local_delete(each), 0);
  });
}

TEST(locals, a_cage_takes_no_more_than_an_eighth_of_the_keys_that_are_left) {
  run_in(with_workers(1), [] {
    std::vector<janus_local_key> taken;
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, some(1'000'000));
    auto child = [&] {
      janus_local_key key = {};
      while (janus_local_new(&key, nullptr) == 0) taken.push_back(key);
      return 0;
    };
    cage.go(child);
    CHECK_EQ(cage.end(), 0);
    CHECK_EQ(taken.size(), kKeysOfACage);
    janus_local_key mine = {};
    CHECK_EQ(janus_local_new(&mine, nullptr), 0);
    CHECK_EQ(janus_local_delete(mine), 0);
    for (const janus_local_key each : taken) CHECK_EQ(janus_local_delete(each), JANUS_E_INVALID);
  });
}

}  // namespace
