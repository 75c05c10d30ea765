// SPDX-License-Identifier: Apache-2.0
// Tenants: what a nursery with a budget of its own has used, what is taken back, pauses, and keepers.
#include <janus/rt.hpp>

#include "tests/api/world.h"

namespace janus::test {

namespace {

constexpr int kOps = JANUS_COMPONENT_OPS, kMemory = JANUS_COMPONENT_MEMORY, kSpawns = JANUS_COMPONENT_SPAWN_COUNT,
              kChannelOps = JANUS_COMPONENT_CHANNEL_OPS;

janus_usage usage_of(const janus_nursery* nursery) {
  janus_usage usage = {};
  usage.size = sizeof usage;
  CHECK_EQ(janus_nursery_usage(nursery, &usage), 0);
  return usage;
}

// Whether all that came in is spent, left or returned.
bool is_booked(const janus_usage& usage, int component, std::uint64_t came_in) {
  return CHECK_EQ(usage.spent[component] + usage.left[component] + usage.returned[component], came_in);
}

constexpr janus_budget kTenants = {1'000'000, 4 << 20, 100, 50, 0};

bool is_booked_as_opened(const janus_usage& usage) {
  return is_booked(usage, kOps, kTenants.ops) && is_booked(usage, kMemory, kTenants.memory) &&
         is_booked(usage, kSpawns, kTenants.spawn_count) && is_booked(usage, kChannelOps, kTenants.channel_ops);
}

TEST(tenant, usage_counts_to_the_op_and_also_after_the_end) {
  on_any_workers([] {
    std::uint64_t spent[2] = {};
    for (const std::uint32_t extra : {0u, 12'345u}) {
      Scope tenant(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, kTenants);
      janus_channel* const channel = janus_channel_create(1, 20);
      auto work = [&] {
        janus_yield_check(7'000);
        for (std::uint32_t i = 0; i < extra; ++i) janus_yield_check(1);
        for (char i = 0; i < 10; ++i) CHECK_EQ(janus_channel_send(channel, &i), 0);
        return 0;
      };
      for (int i = 0; i < 3; ++i) tenant.go(work);
      while (usage_of(tenant.get()).tasks != 0) {
        CHECK(is_booked_as_opened(usage_of(tenant.get())));
        CHECK_EQ(janus_yield(), 0);
        char got;
        while (janus_channel_try_recv(channel, &got) == 0) {
        }
      }
      CHECK_EQ(tenant.await(), 0);
      const janus_usage usage = usage_of(tenant.get());
      CHECK(is_booked_as_opened(usage));
      CHECK_EQ(usage.spent[kSpawns], 3u);
      CHECK_EQ(usage.spent[kChannelOps], 30u);
      CHECK_EQ(usage.peak[kOps], usage.spent[kOps]);
      CHECK_EQ(usage.tasks, 0u);
      CHECK_EQ(usage.times_dry, 0u);
      spent[extra != 0] = usage.spent[kOps];
      janus_channel_release(channel);
      CHECK_EQ(tenant.end(), 0);
    }
    CHECK_GE(spent[0], 21'000u);
    // A task that waited at the full channel is charged the same, so the loops are all that differs.
    CHECK_EQ(spent[1] - spent[0], 3u * 12'345u);
  });
}

TEST(tenant, a_task_sees_the_rest_of_its_own_slice_as_left) {
  on_any_workers([] {
    Scope tenant(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, kTenants);
    auto look = [&] {
      const std::uint64_t before = usage_of(tenant.get()).spent[kOps];
      janus_yield_check(100);
      const janus_usage after = usage_of(tenant.get());
      CHECK_EQ(after.spent[kOps] - before, 101u);  // and the call
      CHECK_EQ(after.left[kOps], janus_budget_get_current().ops + 1u);
      CHECK_EQ(after.tasks, 1u);
    };
    tenant.go(look);
    CHECK_EQ(tenant.end(), 0);
  });
}

TEST(tenant, memory_has_a_peak_and_a_level) {
  on_any_workers([] {
    constexpr std::size_t kBlock = 100'000;
    Scope tenant(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, kTenants);
    void* kept = nullptr;
    auto allocate = [&] {
      void* blocks[16];
      for (void*& block : blocks) block = janus_alloc(kBlock);
      for (void* block : blocks) janus_free(block);
      // Small blocks, which are at hand on the worker.
      for (void*& block : blocks) block = janus_alloc(64);
      for (void* block : blocks) janus_free(block);
      kept = janus_alloc(kBlock);
      return 0;
    };
    CHECK_EQ(usage_of(tenant.get()).resident_bytes, 0u);
    tenant.go(allocate);
    CHECK_EQ(tenant.await(), 0);
    const janus_usage usage = usage_of(tenant.get());
    CHECK(is_booked_as_opened(usage));
    CHECK_GE(usage.peak[kMemory], 16 * kBlock);
    CHECK_LE(usage.peak[kMemory], kTenants.memory);
    CHECK_GE(usage.resident_bytes, kBlock);
    CHECK_LT(usage.resident_bytes, 2 * kBlock + (64 << 10));
    CHECK_EQ(usage.spent[kMemory], usage.resident_bytes);
    janus_free(kept);
    CHECK_LT(usage_of(tenant.get()).resident_bytes, kBlock);
    CHECK_EQ(usage_of(tenant.get()).peak[kMemory], usage.peak[kMemory]);
    CHECK_EQ(tenant.end(), 0);
  });
}

// The peak of blocks that a worker has at hand is exact, too: a block more is a higher peak.
TEST(tenant, the_peak_of_memory_is_exact) {
  run_in(with_workers(1), [] {
    Scope tenant(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, kTenants);
    auto allocate = [&] {
      constexpr unsigned kMost = 20;
      void* blocks[kMost];
      std::uint64_t peak = 0;
      for (unsigned count = 1; count <= kMost; ++count) {
        for (unsigned i = 0; i < count; ++i) blocks[i] = janus_alloc(1024);
        const std::uint64_t held = usage_of(tenant.get()).resident_bytes;
        for (unsigned i = 0; i < count; ++i) janus_free(blocks[i]);
        CHECK_EQ(usage_of(tenant.get()).peak[kMemory], held);
        CHECK_GE(held, peak + (peak != 0 ? 1024 : 0));
        peak = held;
      }
      return 0;
    };
    tenant.go(allocate);
    CHECK_EQ(tenant.end(), 0);
  });
}

TEST(tenant, what_was_not_there_is_counted) {
  on_any_workers([] {
    Scope tenant(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_DENY, kTenants);
    auto ask = [&] {
      for (int i = 0; i < 3; ++i) CHECK_EQ(janus_alloc(kTenants.memory) == nullptr, true);
      return 0;
    };
    tenant.go(ask);
    CHECK_EQ(tenant.await(), 0);
    CHECK_EQ(usage_of(tenant.get()).times_dry, 3u);
    CHECK_EQ(tenant.end(), 0);

    Scope small(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, {100, 1 << 20, 2, 0, 0});
    CHECK_NE(small.go(return_zero, nullptr).raw, 0u);
    CHECK_NE(small.go(return_zero, nullptr).raw, 0u);
    CHECK_EQ(small.go(return_zero, nullptr).raw, 0u);
    CHECK_EQ(small.await(), 0);
    CHECK_EQ(usage_of(small.get()).times_dry, 1u);
    CHECK_EQ(small.end(), 0);
  });
}

// What comes from far above passes the budgets between: it is theirs when the budget below ends.
TEST(tenant, recharges_come_in_also_past_budgets_between) {
  const janus_rt_config config = with_workers(2);
  janus_rt* const rt = janus_rt_create(&config);
  janus_nursery_options options = {};
  options.budget = kTenants;
  janus_nursery* const outer = janus_nursery_open(rt, &options);
  CHECK(outer != nullptr);
  struct Inner {
    std::atomic<janus_nursery*> nursery{nullptr};
    std::atomic<bool> may_end{false};
    std::int64_t operator()() {
      janus_nursery* const opened =
          open_nursery(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, {1'000, 1 << 20, 5, 0, 0});
      nursery = opened;
      while (!may_end) CHECK_EQ(janus_sleep_ns(100'000), 0);
      return test::end(opened);
    }
  } inner;
  CHECK_NE(spawn(outer, call_closure<Inner>, &inner).raw, 0u);
  std::atomic<std::uint32_t> nobody{0};
  while (inner.nursery == nullptr) platform::wait(nobody, 0, platform::now_ns() + 100'000);
  const janus_budget more = {500, 0, 0, 0, 0};
  CHECK_EQ(janus_nursery_recharge(inner.nursery, more), 0);
  const janus_usage within = usage_of(inner.nursery);
  CHECK(is_booked(within, kOps, 1'500));
  CHECK_EQ(within.left[kOps], 1'500u);
  CHECK(is_booked(usage_of(outer), kOps, kTenants.ops + 500));
  inner.may_end = true;
  CHECK_EQ(janus_nursery_await(outer, nullptr), 0);
  CHECK(is_booked(usage_of(outer), kOps, kTenants.ops + 500));
  CHECK_LT(usage_of(outer).spent[kOps], 500'000u);
  CHECK_EQ(janus_nursery_recharge(outer, more), 0);
  CHECK(is_booked(usage_of(outer), kOps, kTenants.ops + 1'000));
  // A withdrawal goes back to the budget that the nursery came from, which is the runtime's.
  janus_budget amount = {};
  CHECK_EQ(janus_nursery_withdraw(outer, &amount), 0);
  CHECK_EQ(amount.memory, kTenants.memory);
  CHECK_EQ(janus_nursery_destroy(outer), 0);
  janus_rt_destroy(rt);
}

TEST(tenant, usage_needs_a_budget_and_a_place) {
  run_in(with_workers(2), [] {
    Scope plain;
    janus_usage usage = {};
    CHECK_EQ(janus_nursery_usage(plain.get(), &usage), JANUS_E_STATE);
    janus_budget amount = {};
    CHECK_EQ(janus_nursery_withdraw(plain.get(), &amount), JANUS_E_STATE);
    CHECK_EQ(plain.end(), 0);
    CHECK_EQ(janus_nursery_usage(plain.get(), &usage), JANUS_E_STALE);
    CHECK_EQ(janus_nursery_usage(nullptr, &usage), JANUS_E_INVALID);
    Scope tenant(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, kTenants);
    CHECK_EQ(janus_nursery_usage(tenant.get(), nullptr), JANUS_E_INVALID);
    usage.size = sizeof usage - 8;
    CHECK_EQ(janus_nursery_usage(tenant.get(), &usage), JANUS_E_INVALID);
    usage.size = 0;
    CHECK_EQ(janus_nursery_usage(tenant.get(), &usage), 0);
    CHECK_EQ(usage.left[kOps], kTenants.ops);
    CHECK_EQ(usage.price_table, stats_of().price_table);
    CHECK_NE(usage.price_table, 0u);
    CHECK_EQ(tenant.end(), 0);
    // Nothing is counted of what is without limit.
    Scope unlimited(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, JANUS_BUDGET_ALL);
    unlimited.go(return_zero, nullptr);
    CHECK_EQ(unlimited.await(), 0);
    usage = usage_of(unlimited.get());
    CHECK_EQ(usage.left[kOps], UINT64_MAX);
    CHECK_EQ(usage.spent[kOps], 0u);
    amount = {};
    CHECK_EQ(janus_nursery_withdraw(unlimited.get(), &amount), 0);
    CHECK_EQ(amount.ops, 0u);
    CHECK_GT(amount.memory, 0u);
    CHECK_EQ(unlimited.end(), 0);
  });
}

TEST(tenant, a_long_hold_of_a_worker_is_told) {
  run_in(with_workers(1), [] {
    Scope tenant(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, kTenants);
    std::atomic<bool> is_held = false;
    auto hold = [&] {
      const std::uint64_t until = janus_now_ns() + 5'000'000;
      while (janus_now_ns() < until) {
      }
      is_held = true;
      return 0;
    };
    tenant.go(hold);
    CHECK(eventually([&] { return is_held.load(); }));
    CHECK_EQ(tenant.await(), 0);
    // The machine may have given the thread less than it asked for.
    CHECK_GE(usage_of(tenant.get()).longest_hold_ns, 100'000u);
    CHECK_LE(usage_of(tenant.get()).longest_hold_ns, 60'000'000'000u);
    CHECK_EQ(tenant.end(), 0);
  });
}

// --- Taking back ---

TEST(tenant, a_withdrawal_takes_what_is_unspent_and_no_more) {
  on_any_workers([] {
    Scope payer(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, {2'000'000, 16 << 20, 1'000, 500, 0});
    auto body = [&] {
      Scope tenant(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, kTenants);
      const janus_usage above = usage_of(payer.get());
      janus_budget amount = {1'000, 0, 7, 0, 0};
      CHECK_EQ(janus_nursery_withdraw(tenant.get(), &amount), 0);
      CHECK_EQ(amount.ops, 1'000u);
      CHECK_EQ(amount.memory, 0u);
      CHECK_EQ(amount.spawn_count, 7u);
      CHECK(is_booked_as_opened(usage_of(tenant.get())));
      CHECK_EQ(usage_of(tenant.get()).returned[kOps], 1'000u);
      // It is back above, but for the ops of the two calls.
      CHECK_EQ(usage_of(payer.get()).left[kSpawns], above.left[kSpawns] + 7);
      amount = JANUS_BUDGET_ALL;
      CHECK_EQ(janus_nursery_withdraw(tenant.get(), &amount), 0);
      CHECK_EQ(amount.ops, kTenants.ops - 1'000);
      CHECK_EQ(amount.memory, kTenants.memory);
      CHECK_EQ(usage_of(tenant.get()).left[kOps], 0u);
      CHECK_EQ(usage_of(payer.get()).left[kMemory], above.left[kMemory] + kTenants.memory);
      // It can be given again.
      CHECK_EQ(janus_nursery_recharge(tenant.get(), {5'000, 1 << 20, 3, 0, 0}), 0);
      tenant.go(return_zero, nullptr);
      CHECK_EQ(tenant.await(), 0);
      const janus_usage usage = usage_of(tenant.get());
      CHECK(is_booked(usage, kOps, kTenants.ops + 5'000));
      amount = {};  // all of it
      CHECK_EQ(janus_nursery_withdraw(tenant.get(), &amount), 0);
      CHECK_EQ(amount.ops, usage.left[kOps]);
      CHECK_EQ(janus_nursery_withdraw(tenant.get(), nullptr), 0);
      CHECK_EQ(tenant.end(), 0);
    };
    payer.go(body);
    CHECK_EQ(payer.await(), 0);
    const janus_usage usage = usage_of(payer.get());
    CHECK(is_booked(usage, kOps, 2'000'000));
    CHECK_EQ(usage.spent[kSpawns], 2u);
    CHECK_EQ(usage.spent[kMemory], 0u);
    CHECK_EQ(payer.end(), 0);
  });
}

// Tasks of the tenant spend on several workers while it is taken away from them, and given back.
TEST(tenant, withdrawals_in_flight_lose_nothing) {
  on_any_workers([] {
    Scope tenant(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, kTenants);
    auto spend = [] {
      for (int i = 0; i < 30'000; ++i) {
        janus_yield_check(1);
        if (i % 100 == 0) janus_free(janus_alloc(500));
      }
      return 0;
    };
    for (int i = 0; i < 4; ++i) tenant.go(spend);
    std::uint64_t given = kTenants.ops, taken = 0;
    for (int i = 0; usage_of(tenant.get()).tasks != 0; ++i) {
      janus_budget amount = {};
      CHECK_EQ(janus_nursery_withdraw(tenant.get(), &amount), 0);
      taken += amount.ops;
      CHECK_EQ(usage_of(tenant.get()).returned[kOps], taken);
      janus_yield();
      CHECK_EQ(janus_nursery_recharge(tenant.get(), {amount.ops + 2'000, amount.memory, 0, 0, 0}), 0);
      given += amount.ops + 2'000;
      CHECK(is_booked(usage_of(tenant.get()), kOps, given));
      janus_yield();
    }
    CHECK_EQ(tenant.await(), 0);
    const janus_usage usage = usage_of(tenant.get());
    CHECK(is_booked(usage, kOps, given));
    CHECK_GE(usage.spent[kOps], 120'000u);
    CHECK_LE(usage.spent[kOps], 130'000u);
    CHECK_EQ(usage.spent[kMemory], 0u);
    CHECK_EQ(tenant.end(), 0);
  });
}

TEST(tenant, no_task_takes_from_its_own_budget) {
  run_in(with_workers(2), [] {
    Scope tenant(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, kTenants);
    auto try_it = [&] {
      janus_budget amount = {};
      CHECK_EQ(janus_nursery_withdraw(tenant.get(), &amount), JANUS_E_NO_CAP);
      CHECK_EQ(amount.ops, 0u);
    };
    tenant.go(try_it);
    CHECK_EQ(tenant.end(), 0);
  });
}

// --- Pauses ---

// Counts its iterations, and has a check in each.
struct Spinner {
  std::atomic<std::uint64_t> count{0};
  std::atomic<bool> may_end{false};
  std::atomic<std::uint64_t> task{0};
  std::int64_t operator()() {
    task = janus_task_self().raw;
    while (!may_end)
      if (janus_yield_check(1) != 0)
        return JANUS_CANCELLED;
      else
        count.fetch_add(1, std::memory_order_relaxed);
    return 0;
  }
};

// Lets others run for so many rounds, in each of which a task has time for some slices.
void let_pass(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    janus_yield();
    if (i % 8 == 0) janus_sleep_ns(100'000);
  }
}

// Whether it waits for ops, or does so within some time.
bool comes_to_stand(const Spinner& spinner) {
  return eventually([&] { return janus_task_state({spinner.task}) == JANUS_TASK_BUDGET_EXHAUSTED; });
}

bool stands_still(const Spinner& spinner) {
  const std::uint64_t then = spinner.count;
  let_pass(32);
  return CHECK_EQ(spinner.count.load(), then);
}

TEST(tenant, a_pause_stops_all_its_tasks_within_two_slices_whatever_their_budget) {
  struct Kind {
    std::uint32_t policy, ops;
  };
  constexpr std::uint32_t kMany = 1'000'000'000;  // more than are spent here
  constexpr Kind kKinds[] = {{JANUS_ON_EXHAUSTION_SUSPEND, UINT32_MAX},
                             {JANUS_ON_EXHAUSTION_FAIL, 4 * kMany},
                             {JANUS_ON_EXHAUSTION_DENY, UINT32_MAX}};
  for (const Kind& kind : kKinds)
    on_any_workers([&] {
      const std::uint32_t policy = kind.policy, ops = kind.ops;  // copies, which closures may capture
      const std::uint64_t slice = stats_of().yield_interval;
      Scope tenant(JANUS_ON_ERROR_COLLECT, policy, {ops, 16 << 20, 100, 0, 0});
      Spinner plain, own, inner, free;
      auto nest = [&] {
        janus_nursery* const cage = open_nursery(JANUS_ON_ERROR_COLLECT, policy, {kMany, 4 << 20, 10, 0, 0});
        spawn(cage, call_closure<Spinner>, &inner);
        return end(cage);
      };
      tenant.go(plain);
      tenant.go(own, 0, {kMany, 1 << 20, 0, 0, 0});
      tenant.go(nest);
      CHECK(eventually([&] { return plain.count > 1'000 && own.count > 1'000 && inner.count > 1'000; }));
      for (int round = 0; round < 3; ++round) {
        CHECK_EQ(janus_nursery_pause(tenant.get()), 0);
        const std::uint64_t plain_then = plain.count;
        for (const Spinner* each : {&plain, &own, &inner}) CHECK(comes_to_stand(*each));
        CHECK(stands_still(plain));
        CHECK(stands_still(own));
        CHECK(stands_still(inner));
        // What all workers together had in hand, and one slice.
        CHECK_LE(plain.count - plain_then, slice * (stats_of().workers + 1));
        CHECK(is_booked(usage_of(tenant.get()), kMemory, 16 << 20));
        // Tasks that are spawned now begin when it is over; and their budgets are in the pause from the first.
        free.count = 0;
        if (round == 0) {
          CHECK_NE(tenant.go(free, 0, {kMany, 1 << 20, 0, 0, 0}).raw, 0u);
          let_pass(32);
          CHECK_LE(free.count.load(), 1u);
        }
        const std::uint64_t then[] = {plain.count, own.count, inner.count};
        CHECK_EQ(janus_nursery_resume(tenant.get()), 0);
        CHECK(eventually([&] {
          return plain.count > then[0] + 3'000 && own.count > then[1] + 3'000 && inner.count > then[2] + 3'000;
        }));
      }
      CHECK(eventually([&] { return free.count > 3'000; }));
      plain.may_end = own.may_end = inner.may_end = free.may_end = true;
      CHECK_EQ(tenant.await(), 0);
      if (ops != UINT32_MAX) CHECK(is_booked(usage_of(tenant.get()), kOps, ops));
      CHECK_EQ(usage_of(tenant.get()).times_dry, 0u);
      CHECK_EQ(tenant.end(), 0);
    });
}

TEST(tenant, pauses_nest_and_do_not_add_up) {
  on_any_workers([] {
    Scope outer(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, {1'000'000'000, 16 << 20, 100, 0, 0});
    Spinner outside, inside;
    janus_nursery* inner = nullptr;
    std::atomic<int> order{0}, done{0};
    auto keep_inner = [&] {
      inner = open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, {100'000'000, 4 << 20, 10, 0, 0});
      spawn(inner, call_closure<Spinner>, &inside);
      while (order != 3) {
        if (order == 1 && done == 0) {
          CHECK_EQ(janus_nursery_pause(inner), 0);
          CHECK_EQ(janus_nursery_pause(inner), 0);
          done = 1;
        } else if (order == 2 && done == 1) {
          CHECK_EQ(janus_nursery_resume(inner), 0);
          done = 2;
        }
        CHECK_EQ(janus_yield(), 0);
      }
      return end(inner);
    };
    outer.go(outside);
    outer.go(keep_inner);
    CHECK(eventually([&] { return inside.count > 1'000 && outside.count > 1'000; }));
    order = 1;
    CHECK(eventually([&] { return done == 1; }));
    CHECK(comes_to_stand(inside));
    CHECK(stands_still(inside));
    CHECK_EQ(janus_nursery_pause(outer.get()), 0);
    CHECK(comes_to_stand(outside));
    CHECK(stands_still(outside));
    // The end of the outer pause leaves the inner one as it is.
    CHECK_EQ(janus_nursery_resume(outer.get()), 0);
    const std::uint64_t then = outside.count;
    CHECK(eventually([&] { return outside.count > then + 3'000; }));
    CHECK(stands_still(inside));
    order = 2;
    const std::uint64_t inside_then = inside.count;
    CHECK(eventually([&] { return inside.count > inside_then + 3'000; }));
    outside.may_end = inside.may_end = true;
    order = 3;
    CHECK_EQ(outer.end(), 0);
  });
}

TEST(tenant, a_cancel_and_an_end_go_through_a_pause) {
  on_any_workers([] {
    for (const bool is_unlimited : {false, true}) {
      Scope tenant(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND,
                   is_unlimited ? budget_of(UINT32_MAX) : janus_budget{1'000'000, 4 << 20, 10, 0, 0});
      std::atomic<int> cleaned{0};
      auto work = [&] {
        while (janus_yield_check(1) == 0) {
        }
        for (int i = 0; i < 2'000; ++i) janus_yield_check(1);  // its grace is lent
        cleaned.fetch_add(1);
        return JANUS_CANCELLED;
      };
      const janus_task task = tenant.go(work);
      tenant.go(work);
      CHECK(has_started(task));
      CHECK_EQ(janus_nursery_pause(tenant.get()), 0);
      let_pass(32);
      CHECK_EQ(tenant.cancel(), 0);
      CHECK_EQ(tenant.await(), JANUS_CANCELLED);
      CHECK_EQ(cleaned.load() >= 1, true);
      const janus_usage usage = usage_of(tenant.get());
      if (!is_unlimited) CHECK(is_booked(usage, kOps, 1'000'000));
      CHECK_EQ(janus_nursery_destroy(tenant.get()), 0);  // still paused
    }
    // The budgets that come next have their ops.
    Scope next(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, {100'000, 4 << 20, 10, 0, 0});
    auto work = [] {
      for (int i = 0; i < 10'000; ++i) janus_yield_check(1);
    };
    next.go(work);
    CHECK_EQ(next.end(), 0);
  });
}

// What comes in, goes out and is spent in a pause: the books are right, and the tasks have it afterwards.
TEST(tenant, recharges_and_withdrawals_in_a_pause) {
  on_any_workers([] {
    constexpr std::uint32_t kMany = 1'000'000'000;
    Scope tenant(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, {kMany, 4 << 20, 10, 0, 0});
    Spinner spinner;
    tenant.go(spinner);
    CHECK(eventually([&] { return spinner.count > 0; }));
    CHECK_EQ(janus_nursery_pause(tenant.get()), 0);
    CHECK(comes_to_stand(spinner));
    CHECK_EQ(janus_nursery_recharge(tenant.get(), {1'000'000, 0, 0, 0, 0}), 0);
    CHECK(stands_still(spinner));
    CHECK(is_booked(usage_of(tenant.get()), kOps, kMany + 1'000'000));
    const std::uint64_t left = usage_of(tenant.get()).left[kOps];
    janus_budget amount = {600'000, 0, 0, 0, 0};
    CHECK_EQ(janus_nursery_withdraw(tenant.get(), &amount), 0);
    CHECK_EQ(amount.ops, 600'000u);
    amount = {};
    CHECK_EQ(janus_nursery_withdraw(tenant.get(), &amount), 0);
    CHECK_EQ(amount.ops, left - 600'000);
    CHECK_EQ(janus_nursery_recharge(tenant.get(), {100'000, 0, 0, 0, 0}), 0);
    CHECK(stands_still(spinner));
    CHECK(is_booked(usage_of(tenant.get()), kOps, kMany + 1'100'000));
    const std::uint64_t then = spinner.count;
    CHECK_EQ(janus_nursery_resume(tenant.get()), 0);
    // Its policy is what it was: without ops the task ends.
    CHECK_EQ(tenant.await(), JANUS_BUDGET_EXCEEDED);
    CHECK_GT(spinner.count.load(), then + 90'000);
    CHECK(is_booked(usage_of(tenant.get()), kOps, kMany + 1'100'000));
    CHECK_EQ(usage_of(tenant.get()).left[kOps], 0u);
    CHECK_EQ(tenant.end(), JANUS_BUDGET_EXCEEDED);
  });
}

// Tasks that find too little at the end of a pause end as their policy says, although they have waited.
TEST(tenant, who_finds_nothing_after_a_pause_ends_by_its_policy) {
  on_any_workers([] {
    Scope tenant(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, {1'000'000'000, 4 << 20, 10, 0, 0});
    Spinner spinners[3];
    for (Spinner& spinner : spinners) tenant.go(spinner);
    CHECK_EQ(janus_nursery_pause(tenant.get()), 0);
    let_pass(64);
    for (const Spinner& spinner : spinners) CHECK(stands_still(spinner));
    janus_budget amount = {};
    CHECK_EQ(janus_nursery_withdraw(tenant.get(), &amount), 0);
    CHECK_EQ(usage_of(tenant.get()).tasks, 3u);
    CHECK_EQ(janus_nursery_resume(tenant.get()), 0);
    CHECK_EQ(tenant.end(), JANUS_BUDGET_EXCEEDED);
  });
}

// Pauses begin and end while tasks open and close budgets below, on all workers.
TEST(tenant, pauses_beside_budgets_that_come_and_go) {
  on_any_workers([] {
    Scope tenant(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, {UINT32_MAX, 64 << 20, 60'000, 0, 0});
    std::atomic<int> rounds{0};
    auto open_and_end = [&] {
      for (int i = 0; i < 300; ++i) {
        janus_nursery* const cage =
            open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, {50'000, 1 << 20, 5, 0, 0});
        if (!CHECK(cage != nullptr)) return -5L;
        auto work = [] {
          for (int k = 0; k < 3'000; ++k) janus_yield_check(1);
        };
        CHECK_NE(spawn(cage, call_closure<decltype(work)>, &work).raw, 0u);
        CHECK_NE(spawn(cage, call_closure<decltype(work)>, &work, 0, {10'000, 1 << 18, 0, 0, 0}).raw, 0u);
        if (!CHECK_EQ(end(cage), 0)) return -6L;
        rounds.fetch_add(1);
      }
      return 0L;
    };
    for (int i = 0; i < 3; ++i) tenant.go(open_and_end);
    while (usage_of(tenant.get()).tasks != 0) {
      CHECK_EQ(janus_nursery_pause(tenant.get()), 0);
      janus_yield();
      CHECK_EQ(janus_nursery_resume(tenant.get()), 0);
      janus_yield();
    }
    CHECK_EQ(tenant.end(), 0);
    CHECK_EQ(rounds.load(), 900);
  });
}

// --- Keepers ---

janus_channel* keepers_channel(std::size_t capacity) {
  janus_channel* const channel = janus_channel_create(sizeof(janus_keep), capacity);
  CHECK(channel != nullptr);
  return channel;
}

TEST(tenant, the_keeper_is_told_when_little_is_left_and_when_a_task_waits) {
  on_any_workers([] {
    janus_channel* const channel = keepers_channel(8);
    Scope tenant(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, {100'000, 4 << 20, 10, 0, 0});
    const janus_budget low = {30'000, 0, 0, 0, 0};
    CHECK_EQ(janus_nursery_keep(tenant.get(), channel, &low), 0);
    CHECK_EQ(usage_of(tenant.get()).left[kOps], 100'000u);
    std::atomic<std::uint64_t> count{0};
    auto work = [&] {
      while (count < 300'000) {
        janus_yield_check(1);
        count.fetch_add(1, std::memory_order_relaxed);
      }
    };
    tenant.go(work);
    std::uint64_t given = 100'000;
    int warnings = 0;
    while (count < 250'000) {
      janus_keep message = {};
      if (!CHECK_EQ(janus_channel_recv_until(channel, &message, janus_now_ns() + 60'000'000'000), 0)) break;
      CHECK_EQ(message.component, static_cast<std::uint64_t>(kOps));
      if (message.waiting == 0) {
        ++warnings;
        // It is told when the mark is passed, but may run on until the keeper has read it.
        CHECK_LE(message.left, low.ops);
        continue;
      }
      CHECK_EQ(message.waiting, 1u);
      CHECK_EQ(message.left, 0u);
      CHECK_EQ(janus_nursery_recharge(tenant.get(), {100'000, 0, 0, 0, 0}), 0);
      given += 100'000;
    }
    CHECK_GE(warnings, 1);
    CHECK_EQ(tenant.await(), 0);
    CHECK(is_booked(usage_of(tenant.get()), kOps, given));
    CHECK_EQ(tenant.end(), 0);
    janus_channel_release(channel);
  });
}

// Not an op earlier or later: on one worker nobody else spends.
TEST(tenant, the_mark_of_a_keeper_is_exact) {
  run_in(with_workers(1), [] {
    janus_channel* const channel = keepers_channel(8);
    Scope tenant(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, {1'000'000, 4 << 20, 10, 10, 0});
    const janus_budget low = {0, 0, 4, 3, 0};
    CHECK_EQ(janus_nursery_keep(tenant.get(), channel, &low), 0);
    janus_keep message = {};
    for (int i = 0; i < 6; ++i) CHECK_NE(tenant.go(return_zero, nullptr).raw, 0u);
    janus_yield();
    CHECK_EQ(janus_channel_try_recv(channel, &message), JANUS_E_WOULD_BLOCK);  // 4 are left
    CHECK_NE(tenant.go(return_zero, nullptr).raw, 0u);
    CHECK(eventually([&] {
      janus_yield_check(100);
      return janus_channel_try_recv(channel, &message) == 0;
    }));
    CHECK_EQ(message.component, static_cast<std::uint64_t>(kSpawns));
    CHECK_EQ(message.left, 3u);
    CHECK_EQ(message.waiting, 0u);
    // Once until a recharge brings it above the mark.
    CHECK_NE(tenant.go(return_zero, nullptr).raw, 0u);
    let_pass(16);
    CHECK_EQ(janus_channel_try_recv(channel, &message), JANUS_E_WOULD_BLOCK);
    CHECK_EQ(janus_nursery_recharge(tenant.get(), {0, 0, 2, 0, 0}), 0);
    CHECK_NE(tenant.go(return_zero, nullptr).raw, 0u);
    CHECK(eventually([&] {
      janus_yield_check(100);
      return janus_channel_try_recv(channel, &message) == 0;
    }));
    CHECK_EQ(message.left, 3u);
    // Who begins below the mark is told at once.
    const janus_budget higher = {2'000'000, 0, 0, 0, 0};
    CHECK_EQ(janus_nursery_keep(tenant.get(), channel, &higher), 0);
    CHECK_EQ(janus_channel_try_recv(channel, &message), 0);
    CHECK_EQ(message.component, static_cast<std::uint64_t>(kOps));
    CHECK_EQ(tenant.end(), 0);
    janus_channel_release(channel);
  });
}

// A recharge that is too small, a channel without room, many tasks: the keeper hears of it until nobody waits.
TEST(tenant, a_keeper_is_told_again_as_long_as_somebody_waits) {
  for (const std::size_t capacity : {0u, 1u, 4u})
    on_any_workers([capacity] {
      janus_channel* const channel = keepers_channel(capacity);
      Scope tenant(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, {100, 4 << 20, 20, 0, 0});
      CHECK_EQ(janus_nursery_keep(tenant.get(), channel, nullptr), 0);
      std::atomic<int> ended{0};
      auto work = [&] {
        for (int i = 0; i < 5'000; ++i) janus_yield_check(1);
        ended.fetch_add(1);
      };
      constexpr int kTasks = 10;
      for (int i = 0; i < kTasks; ++i) tenant.go(work);
      std::uint64_t given = 100;
      for (Dice dice(1); ended < kTasks;) {
        janus_keep message = {};
        const int answer = janus_channel_recv_until(channel, &message, janus_now_ns() + 100'000'000);
        if (answer == JANUS_E_TIMEOUT && ended < kTasks) {
          if (!CHECK(eventually([&] { return ended == kTasks; }))) break;  // nobody waits, or he would have been told
          continue;
        }
        CHECK_GE(message.waiting, answer == 0 ? 1u : 0u);
        const std::uint32_t more = 1 + dice.below(1'000);
        CHECK_EQ(janus_nursery_recharge(tenant.get(), {more, 0, 0, 0, 0}), 0);
        given += more;
      }
      janus_channel_close(channel);
      CHECK_EQ(tenant.await(), 0);
      CHECK(is_booked(usage_of(tenant.get()), kOps, given));
      CHECK_EQ(tenant.end(), 0);
      janus_channel_release(channel);
    });
}

// Where nobody could recharge, waits end; but not before the keeper is gone.
TEST(tenant, no_wait_is_hopeless_while_its_keeper_lives) {
  on_any_workers([] {
    janus_channel* const channel = keepers_channel(2);
    janus_channel* const go = janus_channel_create(1, 0);
    Scope tenant(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, {1'000, 4 << 20, 20, 0, 0});
    Scope other(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, {1'000, 4 << 20, 20, 0, 0});
    CHECK_EQ(janus_nursery_keep(tenant.get(), channel, nullptr), 0);
    std::atomic<int> kept{0};
    auto spend = [&] {
      for (int i = 0; i < 5'000; ++i) janus_yield_check(1);
      kept.fetch_add(1);
    };
    auto spend_and_tell = [&] {
      for (int i = 0; i < 5'000; ++i) janus_yield_check(1);
    };
    // The keeper waits for the end of the other tenant's task, which is hopeless, and ends. Then it recharges.
    Scope keepers;
    auto keep = [&] {
      janus_keep message = {};
      CHECK_EQ(janus_channel_recv(channel, &message), 0);
      char end_of_other;
      CHECK_EQ(janus_channel_recv(go, &end_of_other), JANUS_E_CLOSED);
      CHECK_EQ(kept.load(), 0);
      return janus_nursery_recharge(tenant.get(), {10'000, 0, 0, 0, 0});
    };
    tenant.go(spend);
    other.go(spend_and_tell);
    keepers.go(keep);
    CHECK_EQ(other.await(), JANUS_BUDGET_EXCEEDED);
    janus_channel_close(go);
    CHECK_EQ(tenant.await(), 0);
    CHECK_EQ(kept.load(), 1);
    CHECK_EQ(keepers.end(), 0);
    CHECK_EQ(tenant.end(), 0);
    CHECK_EQ(other.end(), JANUS_BUDGET_EXCEEDED);
    janus_channel_release(go);
    janus_channel_release(channel);
  });
}

TEST(tenant, a_keeper_whose_channel_is_gone_keeps_nothing) {
  for (const int how : {0, 1, 2, 3})
    on_any_workers([how] {
      janus_channel* const channel = keepers_channel(how == 3 ? 0 : 4);
      Scope tenant(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, {1'000, 4 << 20, 20, 0, 0});
      const janus_budget low = {500, 0, 0, 0, 0};
      CHECK_EQ(janus_nursery_keep(tenant.get(), channel, &low), 0);
      auto spend = [&] {
        for (int i = 0; i < 5'000; ++i) janus_yield_check(1);
      };
      auto close_later = [&] {
        for (int i = 0; i < 20; ++i) janus_yield();
        return janus_channel_close(channel);  // a task waits for room there
      };
      Scope closers;
      if (how == 0) janus_channel_close(channel);
      if (how == 1) janus_channel_release(channel);
      if (how == 2) CHECK_EQ(janus_nursery_keep(tenant.get(), nullptr, nullptr), 0);
      tenant.go(spend);
      if (how == 3) closers.go(close_later);
      CHECK_EQ(tenant.await(), JANUS_BUDGET_EXCEEDED);
      CHECK(is_booked(usage_of(tenant.get()), kOps, 1'000));
      CHECK_EQ(tenant.end(), JANUS_BUDGET_EXCEEDED);
      CHECK_EQ(closers.end(), 0);
      if (how != 1) janus_channel_release(channel);
    });
}

TEST(tenant, a_cancel_ends_a_task_that_tells_its_keeper) {
  on_any_workers([] {
    janus_channel* const channel = keepers_channel(0);
    Scope tenant(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, {1'000, 4 << 20, 20, 0, 0});
    CHECK_EQ(janus_nursery_keep(tenant.get(), channel, nullptr), 0);
    auto spend = [&] {
      for (int i = 0; i < 5'000; ++i) {
        if (janus_yield_check(1) != 0) return JANUS_CANCELLED;
      }
      return 0;
    };
    const janus_task teller = tenant.go(spend);
    CHECK(eventually([&] { return janus_task_state(teller) == JANUS_TASK_BLOCKED; }));
    const janus_task other = tenant.go(spend);
    CHECK(eventually([&] { return janus_task_state(other) == JANUS_TASK_BUDGET_EXHAUSTED; }));
    CHECK_EQ(janus_task_cancel(teller), 0);
    // The other one tells in its place.
    janus_keep message = {};
    CHECK_EQ(janus_channel_recv_until(channel, &message, janus_now_ns() + 60'000'000'000), 0);
    CHECK_GE(message.waiting, 1u);
    tenant.cancel();
    CHECK_EQ(tenant.end(), JANUS_CANCELLED);
    janus_channel_release(channel);
  });
}

TEST(tenant, senseless_keepers_are_refused) {
  run_in(with_workers(2), [] {
    Scope tenant(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, kTenants);
    Scope plain;
    janus_channel* const narrow = janus_channel_create(8, 1);
    janus_channel* const channel = keepers_channel(1);
    CHECK_EQ(janus_nursery_keep(tenant.get(), narrow, nullptr), JANUS_E_INVALID);
    CHECK_EQ(janus_nursery_keep(plain.get(), channel, nullptr), JANUS_E_STATE);
    CHECK_EQ(janus_nursery_pause(plain.get()), JANUS_E_STATE);
    CHECK_EQ(janus_nursery_resume(plain.get()), JANUS_E_STATE);
    CHECK_EQ(janus_nursery_keep(nullptr, channel, nullptr), JANUS_E_INVALID);
    CHECK_EQ(janus_nursery_pause(nullptr), JANUS_E_INVALID);
    auto within = [&] {
      CHECK_EQ(janus_nursery_keep(tenant.get(), channel, nullptr), JANUS_E_NO_CAP);
      CHECK_EQ(janus_nursery_pause(tenant.get()), JANUS_E_NO_CAP);
      CHECK_EQ(janus_nursery_resume(tenant.get()), JANUS_E_NO_CAP);
    };
    tenant.go(within);
    CHECK_EQ(tenant.end(), 0);
    CHECK_EQ(plain.end(), 0);
    CHECK_EQ(janus_nursery_pause(tenant.get()), JANUS_E_STALE);
    janus_channel_release(channel);
    janus_channel_release(narrow);
  });
}

TEST(tenant, in_cxx) {
  run_in(with_workers(2), [] {
    NurseryOptions options;
    options.budget = {100'000, 4 << 20, 10, 0, 0};
    Nursery tenant(options);
    CHECK(tenant.pause().ok());
    const auto task = tenant.spawn([] { return 5; });
    CHECK(tenant.resume().ok());
    CHECK(tenant.await().ok());
    CHECK_EQ(tenant.usage().value().spent[kSpawns], 1u);
    CHECK_EQ(tenant.withdraw({0, 0, 4, 0, 0}).value().spawn_count, 4u);
    CHECK_EQ(tenant.withdraw().value().spawn_count, 5u);
    Nursery plain;
    CHECK_EQ(plain.usage().error().code, JANUS_E_STATE);
    CHECK_EQ(plain.withdraw().error().code, JANUS_E_STATE);
    CHECK_EQ(plain.pause().error().code, JANUS_E_STATE);
  });
}

}  // namespace

}  // namespace janus::test
