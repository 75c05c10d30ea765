// SPDX-License-Identifier: Apache-2.0
// Budgets through rt.h: what is granted, what is charged, what happens on exhaustion, and that no budget arises from
// nothing.
#include "tests/api/in_task.h"

namespace {

using namespace janus::test;

constexpr janus_budget kAll = JANUS_BUDGET_ALL_INIT;

janus_budget with_ops(std::uint32_t ops) {
  janus_budget budget = kAll;
  budget.ops = ops;
  return budget;
}

std::int64_t loop_for_ever(void* iterations) {
  for (;;) {
    const int status = janus_yield_check(1);
    if (status < 0) return status;
    if (iterations) static_cast<std::atomic<std::int64_t>*>(iterations)->fetch_add(1, std::memory_order_relaxed);
  }
}

TASK_TEST(budget, a_loop_beyond_its_ops_ends_as_budget_exceeded) {
  std::atomic<std::int64_t> iterations = 0;
  janus_nursery* nursery = open_nursery(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_FAIL, with_ops(100000));
  spawn(nursery, loop_for_ever, &iterations);
  janus_result result = {};
  CHECK_EQ(end(nursery, &result), JANUS_BUDGET_EXCEEDED);
  CHECK_EQ(result.kind, JANUS_KIND_BUDGET_EXCEEDED);
  CHECK_LE(iterations.load(), 100000);
  CHECK_GT(iterations.load(), 90000);
}

TASK_TEST(budget, a_limited_child_does_not_stop_its_sibling) {
  std::atomic<std::int64_t> free_iterations = 0;
  janus_nursery* limited = open_nursery(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_FAIL, with_ops(50000));
  janus_nursery* unlimited = open_nursery();
  spawn(unlimited, loop_for_ever, &free_iterations);
  spawn(limited, loop_for_ever);
  CHECK_EQ(end(limited), JANUS_BUDGET_EXCEEDED);
  const std::int64_t then = free_iterations.load();
  CHECK(eventually([&] { return free_iterations.load() > then + 100000; }));
  janus_nursery_cancel(unlimited);
  CHECK_EQ(end(unlimited), JANUS_CANCELLED);
}

TASK_TEST(budget, an_exhausted_task_waits_and_goes_on_when_recharged) {
  std::atomic<std::int64_t> iterations = 0;
  janus_nursery* nursery = open_nursery(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, with_ops(20000));
  const janus_task task = spawn(nursery, loop_for_ever, &iterations);
  for (int round = 1; round <= 3; ++round) {
    CHECK(eventually([&] { return janus_task_state(task) == JANUS_TASK_BUDGET_EXHAUSTED; }));
    CHECK_LE(iterations.load(), 20000 * round);
    CHECK_GT(iterations.load(), 20000 * round - 5000);
    janus_budget more = {};
    more.ops = 20000;
    CHECK_EQ(janus_nursery_recharge(nursery, more), 0);
  }
  janus_nursery_cancel(nursery);
  CHECK_EQ(end(nursery), JANUS_CANCELLED);
}

TASK_TEST(budget, cancellation_ends_an_exhausted_task) {
  janus_nursery* nursery = open_nursery(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, with_ops(5000));
  const janus_task task = spawn(nursery, loop_for_ever);
  CHECK(eventually([&] { return janus_task_state(task) == JANUS_TASK_BUDGET_EXHAUSTED; }));
  janus_nursery_cancel(nursery);
  CHECK_EQ(end(nursery), JANUS_CANCELLED);
}

std::int64_t spawn_hundreds(void* spawned) {
  janus_nursery* nursery = open_nursery();
  for (int i = 0; i < 500; ++i) {
    if (spawn(nursery, return_zero).raw == 0) {
      CHECK_EQ(janus_last_error(), JANUS_E_BUDGET);
      break;
    }
    static_cast<std::atomic<int>*>(spawned)->fetch_add(1);
  }
  return end(nursery);
}

TASK_TEST(budget, spawns_beyond_the_grant_are_denied) {
  std::atomic<int> spawned = 0;
  janus_budget budget = kAll;
  budget.spawn_count = 101;  // 100, and one for the spawner itself
  janus_nursery* nursery = open_nursery(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_DENY, budget);
  spawn(nursery, spawn_hundreds, &spawned);
  CHECK_EQ(end(nursery), 0);
  CHECK_EQ(spawned.load(), 100);
}

std::int64_t allocate_megabytes(void* allocated) {
  std::int64_t refused = 0;
  void* blocks[64];
  for (void*& block : blocks) {
    block = janus_alloc(1 << 20);
    if (block)
      static_cast<std::atomic<int>*>(allocated)->fetch_add(1);
    else
      refused += janus_last_error() == JANUS_E_BUDGET;
  }
  for (void* block : blocks) janus_free(block);
  return refused > 0 ? 0 : -5;
}

TASK_TEST(budget, memory_beyond_the_grant_is_denied_and_comes_back_when_freed) {
  std::atomic<int> allocated = 0;
  janus_budget budget = kAll;
  budget.memory = 10 << 20;
  janus_nursery* nursery = open_nursery(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_DENY, budget);
  for (int round = 0; round < 3; ++round) {
    allocated = 0;
    const janus_task task = spawn(nursery, allocate_megabytes, &allocated);
    std::int64_t value = -1;
    CHECK_EQ(janus_task_join(task, &value), 0);
    CHECK_EQ(value, 0);
    CHECK_GE(allocated.load(), 8);
    CHECK_LE(allocated.load(), 10);
  }
  CHECK_EQ(end(nursery), 0);
}

std::int64_t use_what_was_not_granted(void* channel) {
  const int value = 1;
  if (janus_channel_try_send(static_cast<janus_channel*>(channel), &value) != JANUS_E_NO_CAP) return -5;
  if (janus_syscall(39) != JANUS_E_NO_CAP) return -6;  // getpid
  return 0;
}

TASK_TEST(budget, a_component_that_was_not_granted_is_a_missing_right_not_exhaustion) {
  janus_channel* channel = janus_channel_create(sizeof(int), 4);
  janus_budget budget = kAll;
  budget.channel_ops = budget.syscalls = 0;
  janus_nursery* nursery = open_nursery(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_DENY, budget);
  spawn(nursery, use_what_was_not_granted, channel);
  CHECK_EQ(end(nursery), 0);
  janus_channel_release(channel);
}

std::int64_t call_the_system(void* calls) {
  while (janus_syscall(39) != JANUS_E_BUDGET)  // without a kernel another error
    if (static_cast<std::atomic<int>*>(calls)->fetch_add(1) > 100) return -5;
  return 0;
}

TASK_TEST(budget, system_calls_are_counted) {
  std::atomic<int> calls = 0;
  janus_budget budget = kAll;
  budget.syscalls = 7;
  janus_nursery* nursery = open_nursery(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_DENY, budget);
  spawn(nursery, call_the_system, &calls);
  CHECK_EQ(end(nursery), 0);
  CHECK_EQ(calls.load(), 7);
}

std::int64_t read_own(void* out) {
  *static_cast<janus_budget*>(out) = janus_budget_get_current();
  return 0;
}

TASK_TEST(budget, a_task_reads_what_it_has_left) {
  janus_budget budget = {30000, 1 << 20, 5, 6, 7};
  janus_budget seen = {};
  janus_nursery* nursery = open_nursery();
  janus_spawn_options options = {};
  options.budget = budget;
  const janus_task task = janus_nursery_spawn_in(nursery, read_own, &seen, &options);
  REQUIRE(task.raw != 0);
  CHECK_EQ(end(nursery), 0);
  CHECK_LE(seen.ops, 30000u);
  CHECK_GT(seen.ops, 29000u);
  CHECK_LE(seen.memory, 1u << 20);
  CHECK_GT(seen.memory, 1u << 19);
  CHECK_EQ(seen.spawn_count, 5u);
  CHECK_EQ(seen.channel_ops, 6u);
  CHECK_EQ(seen.syscalls, 7u);
}

std::int64_t ask_for_too_much(void*) {
  // The task has 1,000 ops, so a nursery with 10 million is refused.
  janus_nursery* nursery = open_nursery(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_FAIL, with_ops(10000000));
  if (!nursery) return janus_last_error() == JANUS_E_BUDGET ? 0 : -5;
  std::atomic<std::int64_t> iterations = 0;
  spawn(nursery, loop_for_ever, &iterations);
  const long status = janus_nursery_await(nursery, nullptr);
  janus_nursery_destroy(nursery);
  return status == JANUS_BUDGET_EXCEEDED && iterations.load() <= 1000 ? 0 : -6;
}

TASK_TEST(budget, nothing_is_minted_by_asking) {
  janus_nursery* nursery = open_nursery();
  janus_spawn_options options = {};
  options.budget = with_ops(1000);
  janus_nursery_spawn_in(nursery, ask_for_too_much, nullptr, &options);
  CHECK_EQ(end(nursery), 0);
}

std::int64_t spend_in_turns(void* iterations) {
  janus_nursery* nursery = open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL);
  for (int i = 0; i < 8; ++i) spawn(nursery, loop_for_ever, iterations);
  return end(nursery);
}

TASK_TEST(budget, the_sum_over_a_tree_is_at_most_what_its_root_was_given) {
  std::atomic<std::int64_t> iterations = 0;
  janus_nursery* nursery = open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, with_ops(200000));
  for (int i = 0; i < 4; ++i) spawn(nursery, spend_in_turns, &iterations);
  CHECK_EQ(end(nursery), JANUS_BUDGET_EXCEEDED);
  CHECK_LE(iterations.load(), 200000);
  CHECK_GT(iterations.load(), 100000);
}

std::int64_t yield_for_ever(void*) {
  for (;;)
    if (const int status = janus_yield(); status < 0) return status;
}

TASK_TEST(budget, a_loop_of_yields_does_not_live_for_ever) {
  janus_nursery* nursery = open_nursery(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_FAIL, with_ops(1000));
  spawn(nursery, yield_for_ever);
  CHECK_EQ(end(nursery), JANUS_BUDGET_EXCEEDED);
}

std::int64_t loop_in_the_loop_form(void* iterations) {
  std::uint32_t counter = 0;
  for (;;) {
    if (JANUS_LOOP_CHECK(counter) < 0) return JANUS_CANCELLED;
    static_cast<std::atomic<std::int64_t>*>(iterations)->fetch_add(1, std::memory_order_relaxed);
  }
}

TASK_TEST(budget, the_loop_form_charges_every_iteration) {
  std::atomic<std::int64_t> iterations = 0;
  janus_nursery* nursery = open_nursery(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_FAIL, with_ops(100000));
  spawn(nursery, loop_in_the_loop_form, &iterations);
  CHECK_EQ(end(nursery), JANUS_BUDGET_EXCEEDED);
  CHECK_LE(iterations.load(), 100000 + 1024);
  CHECK_GT(iterations.load(), 90000);
}

// The ops that `body` costs the calling task, which has a finite budget. Reading the budget costs ops, too.
template <class Body>
std::uint32_t price_of(Body body) {
  const std::uint32_t first = janus_budget_get_current().ops;
  const std::uint32_t of_asking = first - janus_budget_get_current().ops;
  const std::uint32_t before = janus_budget_get_current().ops;
  body();
  return before - janus_budget_get_current().ops - of_asking;
}

std::int64_t yield_until_set(void* is_set) {
  while (!*static_cast<std::atomic<bool>*>(is_set)) janus_yield();
  return 0;
}

std::int64_t measure_yields_behind_checks(void* is_over) {
  for (const std::uint32_t ops : {1u, 1024u, 1025u, 5000u}) {  // a slice has 1,024
    const std::uint32_t price = price_of([ops] {
      janus_yield_check(ops);
      janus_yield();
    });
    CHECK_EQ(price, ops);
  }
  *static_cast<std::atomic<bool>*>(is_over) = true;
  return 0;
}

TASK_TEST(budget, a_yield_behind_a_check_is_free_also_where_the_slice_has_ended) {
  std::atomic<bool> is_over = false;
  janus_nursery* nursery = open_nursery(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_FAIL, with_ops(1000000));
  spawn(nursery, yield_until_set, &is_over);
  janus_spawn_options options = {};
  options.budget = with_ops(100000);
  janus_nursery_spawn_in(nursery, measure_yields_behind_checks, &is_over, &options);
  CHECK_EQ(end(nursery), 0);
}

std::int64_t measure_loops(void*) {
  for (const std::uint32_t iterations : {0u, 1u, 100u, 1023u, 1024u, 2500u}) {
    std::uint32_t counter = 0;
    const auto loop = [&] {
      for (std::uint32_t i = 0; i < iterations; ++i) CHECK_EQ(JANUS_LOOP_CHECK(counter), 0);
    };
    CHECK_EQ(price_of(loop), iterations / 1024 * 1024);
    CHECK_EQ(price_of([&] { CHECK_EQ(JANUS_LOOP_END(counter), 0); }), iterations % 1024);
    CHECK_EQ(price_of([&] { CHECK_EQ(JANUS_LOOP_END(counter), 0); }), 0u);  // the second end has nothing left to charge
  }
  return 0;
}

TASK_TEST(budget, the_end_of_a_loop_form_charges_what_its_checks_left) {
  janus_nursery* nursery = open_nursery(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_FAIL, with_ops(1000000));
  spawn(nursery, measure_loops);
  CHECK_EQ(end(nursery), 0);
}

std::int64_t spawn_what_is_refused(void*) {
  const janus_budget before = janus_budget_get_current();
  const std::uint32_t price = price_of([] {
    janus_nursery_create();
    for (int i = 0; i < 50; ++i) CHECK_EQ(janus_nursery_spawn(return_zero, nullptr), -1);
    CHECK_EQ(janus_last_error(), JANUS_E_BUDGET);
    CHECK_EQ(janus_nursery_await_all(), 0);
  });
  CHECK_EQ(price, 50u + 2u);  // create and await_all cost 1 each
  const janus_budget after = janus_budget_get_current();
  CHECK_EQ(after.spawn_count, before.spawn_count);
  CHECK_EQ(after.memory, before.memory);
  return 0;
}

TASK_TEST(budget, a_refused_spawn_costs_its_op_and_nothing_else) {
  janus_budget budget = with_ops(100000);
  budget.spawn_count = 1;  // for the spawner itself
  janus_nursery* nursery = open_nursery(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_DENY, budget);
  spawn(nursery, spawn_what_is_refused);
  CHECK_EQ(end(nursery), 0);
}

}  // namespace
