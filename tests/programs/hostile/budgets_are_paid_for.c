// SPDX-License-Identifier: Apache-2.0
// A nursery with a budget of its own has an account, and a record on each worker. A cage opens such nurseries until its
// memory is used up: it gets as many as it can pay for; and when it has ended, all memory is returned.
#include "hostile.h"

enum { kMemory = 1 << 20, kMax = kMemory / 64, kPerWorker = 128, kAccount = 320 };

static long opened;

static janus_nursery* open_one(uint32_t on_error) {
  const janus_budget one_op = {1, 0, 0, 0, 0};
  return open_nursery(on_error, JANUS_ON_EXHAUSTION_SUSPEND, one_op);
}

static int64_t open_many(void* unused) {
  (void)unused;
  for (opened = 0; opened < kMax && open_one(JANUS_ON_ERROR_COLLECT) != NULL; ++opened) {
  }
  CHECK_EQ(janus_last_error(), JANUS_E_BUDGET);
  // Closes none of them: they end with the task.
  return 0;
}

// Tasks with budgets of their own cost as much.
static int64_t wait_for_ever(void* unused) {
  (void)unused;
  return janus_park(-1);
}

static int64_t spawn_many(void* unused) {
  (void)unused;
  const janus_budget one_op = {1, 0, 0, 0, 0};
  janus_spawn_options options;
  memset(&options, 0, sizeof options);
  options.budget = one_op;
  options.stack_size = 8192;
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  for (opened = 0; opened < kMax && janus_nursery_spawn_in(nursery, wait_for_ever, NULL, &options).raw != 0;) ++opened;
  CHECK_EQ(janus_last_error(), JANUS_E_BUDGET);
  janus_nursery_cancel(nursery);
  return 0;
}

static long most_in_a_cage(janus_task_fn fn) {
  const janus_budget budget = {100000000, kMemory, 65534, 65534, 0};
  janus_nursery* cage = open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, budget);
  CHECK(spawn_roomy(cage, fn, NULL).raw != 0);
  CHECK_EQ(close_cage(cage), 0);
  return opened;
}

static int64_t spend(void* unused) {
  (void)unused;
  for (int left = 600; left > 0; --left) janus_yield_check(1);
  return 0;
}

// A cage is exhausted, and recharged only after another cage, which its opener awaits: until then all tasks wait.
static void recharge_what_is_awaited_later(void) {
  const janus_budget little = {100, kMemory, 10, 10, 0}, more = {.ops = 2000};
  janus_nursery* later = open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, little);
  janus_nursery* sooner = open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, little);
  CHECK(spawn(later, spend, NULL).raw != 0);
  CHECK(spawn(sooner, spend, NULL).raw != 0);
  CHECK_EQ(close_cage(sooner), JANUS_BUDGET_EXCEEDED);
  CHECK_EQ(janus_nursery_recharge(later, more), 0);
  CHECK_EQ(close_cage(later), 0);
}

int main(void) {
  const long workers = (long)read_accounts().stats.workers;
  const long at_least = kAccount + kPerWorker * workers;
  // The first round makes records that later rounds reuse.
  most_in_a_cage(open_many);
  const accounts before = read_accounts();
  for (int round = 0; round < 10; ++round) {
    CHECK_THAT(most_in_a_cage(open_many), opened > 100 && opened <= kMemory / at_least);
    CHECK_THAT(most_in_a_cage(spawn_many), opened > 10 && opened <= kMemory / at_least);
  }
  for (int round = 0; round < 20; ++round) recharge_what_is_awaited_later();
  CHECK_NOTHING_LOST(before, 20);
  janus_print(1, "figure: budgets that 1 MiB pays for: %ld\n", most_in_a_cage(open_many));
  return end();
}
