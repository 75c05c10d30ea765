// SPDX-License-Identifier: Apache-2.0
// 20,000 tasks of one cage are exhausted and wait. A recharge of another cage serves that cage's waiters, and takes no
// longer than before; and an empty recharge of the first cage does not walk all its waiters.
#include "hostile.h"

enum { kCrowd = 20000, kRecharges = 1000, kTries = 9, kMax = 20 };

static janus_task crowd[kCrowd];

static int64_t run_dry(void* unused) {
  (void)unused;
  while (janus_yield_check(1) == 0) {
  }
  return 0;
}

static int64_t spend(void* ops) {
  for (uintptr_t i = 0; i < (uintptr_t)ops; ++i)
    if (janus_yield_check(1) < 0) return -1;
  return 0;
}

static janus_nursery* open_waiting(uint32_t ops) {
  const janus_budget budget = {ops, (size_t)400 << 20, UINT16_MAX, 0, 0};
  return open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget);
}

static void wait_until_dry(janus_task task) {
  while (janus_task_state(task) != JANUS_TASK_BUDGET_EXHAUSTED) janus_yield();
}

// Measures a recharge of a nursery that serves no waiter: the minimum of some tries, so that a busy machine is not
// mistaken for a long walk.
static uint64_t recharge_another(janus_nursery* nursery, uint32_t ops) {
  const janus_budget amount = {ops, 0, 0, 0, 0};
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    const uint64_t began = janus_now_ns();
    for (int k = 0; k < kRecharges; ++k) janus_nursery_recharge(nursery, amount);
    const uint64_t took = (janus_now_ns() - began) / kRecharges;
    least = took < least ? took : least;
  }
  return least;
}

static uint64_t serve_one_and_measure(void) {
  const janus_budget rest = {10000, 0, 0, 0, 0};
  janus_nursery* cage = open_waiting(100);
  int64_t value = -1;
  const janus_task waits = spawn(cage, spend, (void*)5000);
  wait_until_dry(waits);
  CHECK_EQ(janus_nursery_recharge(cage, rest), 0);
  CHECK_EQ(janus_task_join(waits, &value), 0);
  CHECK_EQ(value, 0);
  const uint64_t least = recharge_another(cage, 1);
  CHECK_EQ(close_cage(cage), 0);
  return least;
}

int main(void) {
  const int is_virtual = read_accounts().stats.order_hash != 0;
  const uint64_t alone = serve_one_and_measure();
  janus_nursery* cage = open_waiting(200000);
  janus_spawn_options options;
  memset(&options, 0, sizeof options);
  options.stack_size = 8192;
  for (int i = 0; i < kCrowd; ++i) {
    crowd[i] = janus_nursery_spawn_in(cage, run_dry, NULL, &options);
    if (!CHECK(crowd[i].raw != 0)) return end();
  }
  for (int i = 0; i < kCrowd; ++i) wait_until_dry(crowd[i]);
  const uint64_t beside = serve_one_and_measure();
  const uint64_t own = recharge_another(cage, 0);
  for (int i = 0; i < kCrowd; i += 1000) CHECK_EQ(janus_task_state(crowd[i]), JANUS_TASK_BUDGET_EXHAUSTED);
  janus_print(1, "figure: recharge alone, beside 20,000 that are dry, and theirs with nothing: %lu %lu %lu ns\n", alone,
              beside, own);
  if (!is_virtual) {
    CHECK_THAT(beside, beside <= kMax * alone);
    CHECK_THAT(own, own <= kMax * alone);
  }
  janus_nursery_cancel(cage);
  close_cage(cage);
  return end();
}
