// SPDX-License-Identifier: Apache-2.0
// charge_test.cpp — what tasks spend of their ops, to the op; slices, and the work of ending waits for a budget.
#include "rt/sched/scheduler.h"
#include "rt/task/account/exhaustion.h"
#include "rt/task/record/nursery.h"
#include "tests/task/bad_memory.h"

using namespace janus::test;

namespace {

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
      Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, budget_of(ops, 64 << 20));
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
TEST(charge, a_long_operation_between_checks_still_serves_attention) {
  run_in(with_workers(1), [] {
    janus::Scheduler& scheduler = *janus::current_worker().scheduler;
    janus_nursery_options options = {};
    options.flags = JANUS_NURSERY_RECLAIM;
    options.budget = budget_of(1'000'000);
    janus_nursery* const leaves_blocks = janus_nursery_open(nullptr, &options);
    auto leaves_some = [] {  // more than its end frees in one part
      for (int i = 0; i < 100; ++i) CHECK(janus_alloc(8192) != nullptr);
      return 0;
    };
    CHECK_NE(janus_nursery_spawn_in(leaves_blocks, call_closure<decltype(leaves_some)>, &leaves_some, nullptr).raw, 0u);
    CHECK_EQ(janus_nursery_await(leaves_blocks, nullptr), 0);
    void* const large = janus_alloc(8 << 20);
    const auto is_seen_by = [&](auto operation) {
      CHECK_EQ(janus_yield(), 0);  // a new slice, which is enough for the calls below
      scheduler.idle_workers().request_attention();
      operation();
      return !scheduler.idle_workers().attention().has_event();
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
    Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_FAIL, budget_of(1'000'000));
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
    Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_FAIL, budget_of(1'000'000, 64 << 20));
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

// --- Memory ---

static std::size_t memory_left() {
  return janus_budget_get_current().memory;
}

TEST(charge, a_block_costs_its_cage_an_op_and_its_size_until_it_is_freed) {
  run_both_ways(1, [] {
    constexpr std::uint32_t kBlocks = 300;
    static void* blocks[kBlocks];
    auto child = [] {
      for (const std::size_t bytes : {std::size_t{16}, std::size_t{64}, std::size_t{1024}, std::size_t{2048}}) {
        for (int round = 0; round < 3; ++round) {
          const janus_budget before = janus_budget_get_current();
          for (void*& block : blocks) block = janus_alloc(bytes);
          const janus_budget between = janus_budget_get_current();
          for (void* const block : blocks) janus_free(block);
          const janus_budget after = janus_budget_get_current();
          CHECK_EQ(before.memory - between.memory, bytes * kBlocks);
          CHECK_EQ(after.memory, before.memory);
          CHECK_EQ(before.ops - between.ops, kBlocks + 1);  // and the look at the budget
          CHECK_EQ(between.ops - after.ops, 1u);
        }
      }
    };
    Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_FAIL, budget_of(1'000'000));
    cage.go(child);
    CHECK_EQ(cage.end(), 0);
  });
}

TEST(charge, a_block_is_credited_to_the_account_that_paid_whoever_frees_it) {
  run_both_ways(1, [] {
    void* outer_block = nullptr;
    void* inner_block = nullptr;
    void* const root_block = janus_alloc(64);
    const auto run = [](Scope& scope, auto body) {
      std::int64_t value = 1;
      CHECK_EQ(janus_task_join(scope.go(body), &value), 0);
      CHECK_EQ(value, 0);
    };
    auto outer = [&] {
      const std::size_t without_cage = memory_left();
      {
        Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_FAIL, budget_of(100'000, 1 << 20));
        std::size_t left = 0, inner_left = 0;
        run(cage, [&] { inner_left = memory_left(); });
        left = memory_left();
        outer_block = janus_alloc(64);
        CHECK_EQ(left - memory_left(), 64u);
        run(cage, [&] {
          CHECK_EQ(memory_left(), inner_left);
          inner_block = janus_alloc(64);
          CHECK_EQ(inner_left - memory_left(), 64u);
          janus_free(outer_block);
          janus_free(root_block);
          CHECK_EQ(inner_left - memory_left(), 64u);
        });
        CHECK_EQ(memory_left(), left);
        janus_free(inner_block);
        CHECK_EQ(memory_left(), left);
        run(cage, [&] {
          CHECK_EQ(memory_left(), inner_left);
          inner_block = janus_alloc(64);  // outlives its cage
        });
        CHECK_EQ(cage.end(), 0);
      }
      CHECK_LT(memory_left(), without_cage);
      janus_free(inner_block);
      CHECK_EQ(memory_left(), without_cage);
    };
    Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_FAIL, budget_of(1'000'000));
    cage.go(outer);
    CHECK_EQ(cage.end(), 0);
  });
}

TEST(charge, a_cage_has_as_many_blocks_as_it_can_pay_for) {
  run_both_ways(1, [] {
    for (const std::uint32_t policy : {JANUS_ON_EXHAUSTION_DENY, JANUS_ON_EXHAUSTION_FAIL}) {
      static void* blocks[10'000];
      std::size_t count = 0, may = 0;
      auto child = [&] {
        may = memory_left() / 64;
        for (void*& block : blocks) {
          if ((block = janus_alloc(64)) == nullptr) break;
          ++count;
        }
        CHECK_EQ(janus_last_error(), JANUS_E_BUDGET);
        CHECK_LT(memory_left(), 64u);
        janus_free(blocks[0]);
        CHECK((blocks[0] = janus_alloc(64)) != nullptr);
        CHECK(janus_alloc(64) == nullptr);
      };
      Scope cage(JANUS_ON_ERROR_CANCEL, policy, budget_of(1'000'000, 400'000));
      cage.go(child);
      CHECK_EQ(cage.await(), policy == JANUS_ON_EXHAUSTION_FAIL ? JANUS_BUDGET_EXCEEDED : 0);
      CHECK_EQ(count, may);
      for (std::size_t i = 0; i < count; ++i) janus_free(blocks[i]);
      CHECK_EQ(janus_nursery_destroy(cage.get()), 0);
    }
  });
}

TEST(charge, a_crowd_that_frees_the_blocks_of_others_leaves_its_cage_what_it_had) {
  for (unsigned workers : kWorkerCounts) {
    run_both_ways(workers, [] {
      static std::atomic<void*> places[16];
      auto child = [](void* seed) -> std::int64_t {
        Dice dice(reinterpret_cast<std::uintptr_t>(seed));
        for (int i = scaled(20'000, 2000); i != 0; --i) {
          void* const block = janus_alloc(1 + dice.below(300));
          CHECK(block != nullptr);
          janus_free(places[dice.below(16)].exchange(block));
        }
        return 0;
      };
      auto opener = [&] {
        const std::size_t before = memory_left();
        Scope crowd;
        for (std::int64_t i = 0; i < 4; ++i) crowd.go(child, as_arg(i));
        CHECK_EQ(crowd.end(), 0);
        for (auto& place : places) janus_free(place.exchange(nullptr));
        CHECK_EQ(memory_left(), before);
      };
      Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_FAIL, budget_of(10'000'000, 64 << 20));
      cage.go(opener);
      CHECK_EQ(cage.end(), 0);
    });
  }
}

// --- Crowds, waits and ends ---

TEST(charge, a_crowd_on_one_account_spends_what_it_was_given_together) {
  for (unsigned workers : {1u, 2u, 4u}) {
    run_in(with_workers(workers), [workers] {
      constexpr std::uint32_t kOps = 50'000;
      static Mix mixes[8];
      for (unsigned i = 0; i < 8; ++i) mixes[i] = {Dice(i), workers};
      janus_channel* const channel = janus_channel_create(8, 4);
      Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, budget_of(kOps, 64 << 20));
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
      Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_FAIL, budget_of(10'000'000));
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
               budget_of(static_cast<std::uint32_t>(40 * pairs), 256 << 20));
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

TEST(charge, the_work_of_ending_waits_is_linear_in_their_number) {
  const std::uint64_t once = waits_walked_by_pairs(200), twice = waits_walked_by_pairs(400);
  note("waits walked by 200 pairs", once);
  note("waits walked by 400 pairs", twice);
  CHECK_GT(once, 200u);
  CHECK_LE(2 * twice, 5 * once);
}

}  // namespace
