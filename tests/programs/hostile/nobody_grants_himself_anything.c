// SPDX-License-Identifier: Apache-2.0
// A caged task recharges its own nursery and nurseries below and above it, back and forth, frees blocks that others
// leaked, and closes cages in debt: the sum of all amounts does not grow.
#include "hostile.h"

enum { kMemory = 1 << 20, kOps = 1000000 };

static janus_nursery* cage;
static void* leaked[64];

static int64_t leak_one(void* where) {
  *(void**)where = janus_alloc(10000);
  return 0;
}

static int64_t nothing(void* unused) {
  (void)unused;
  return 0;
}

// Recharges its own nursery from itself, and nurseries in circles.
static int64_t recharge_oneself(void* unused) {
  (void)unused;
  const janus_budget before = janus_budget_get_current();
  for (int i = 0; i < 100; ++i) {
    const janus_budget amount = {100, 1000, 1, 1, 0};
    janus_nursery_recharge(cage, amount);
    janus_budget_grant64(cage, JANUS_COMPONENT_OPS, 1000);
    janus_budget_grant64(cage, JANUS_COMPONENT_MEMORY, UINT64_MAX);
    janus_budget_recharge(JANUS_BUDGET_ALL);
    janus_nursery* below = open_nursery(0, JANUS_ON_EXHAUSTION_DENY, amount);
    if (below == NULL) continue;
    janus_nursery_recharge(below, amount);
    janus_budget_grant64(below, JANUS_COMPONENT_MEMORY, 5000);
    janus_budget_grant64(below, JANUS_COMPONENT_SYSCALLS, 5);
    janus_nursery_cancel(below);
    janus_nursery_await(below, NULL);
    janus_nursery_destroy(below);
  }
  const janus_budget after = janus_budget_get_current();
  CHECK_THAT(after.ops, after.ops <= before.ops);
  CHECK_THAT(after.memory, after.memory <= before.memory);
  CHECK_THAT(after.spawn_count, after.spawn_count <= before.spawn_count);
  CHECK_THAT(after.channel_ops, after.channel_ops <= before.channel_ops);
  CHECK_EQ(after.syscalls, 0);
  return 0;
}

// Frees blocks of ended cages in a cage that may have the same index: the credit goes to their parent.
static int64_t free_what_others_leaked(void* unused) {
  (void)unused;
  const size_t before = janus_budget_get_current().memory;
  for (int i = 0; i < 64; ++i) janus_free(leaked[i]);
  const size_t after = janus_budget_get_current().memory;
  CHECK_THAT(after, after <= before);
  return 0;
}

static int64_t attack(void* unused) {
  (void)unused;
  const janus_budget budget = {kOps, kMemory, 1000, 1000, 0};
  cage = open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, budget);
  CHECK(spawn_roomy(cage, recharge_oneself, NULL).raw != 0);
  CHECK_EQ(close_cage(cage), 0);
  for (int i = 0; i < 64; ++i) CHECK_EQ(run_in_cage(budget, leak_one, &leaked[i]), 0);
  CHECK_EQ(run_in_cage(budget, free_what_others_leaked, NULL), 0);
  CHECK_EQ(run_in_cage(budget, nothing, NULL), 0);
  return 0;
}

int main(void) {
  attack(NULL);
  const accounts before = read_accounts();
  for (int i = 0; i < 20; ++i) CHECK_EQ(beside_a_neighbour(30, attack, NULL), 0);
  CHECK_NOTHING_LOST(before, 20 * 100);
  return end();
}
