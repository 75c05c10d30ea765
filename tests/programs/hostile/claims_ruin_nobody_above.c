// SPDX-License-Identifier: Apache-2.0
// The cost that a task gives to a yield check is a claim. One in a cage within a cage claims the most that there is, all
// the time: it ends, the inner cage is over, and the outer one, whose owner did nothing of it, has what it had, but for
// the price of an operation of the runtime's.
#include "hostile.h"

enum { kCages = 20, kOps = 100000000, kMostOfACage = 20000 };

static int64_t claim(void* unused) {
  (void)unused;
  while (janus_yield_check(UINT32_MAX) == 0) {
  }
  return 0;
}

static int64_t live_in_the_outer_cage(void* unused) {
  (void)unused;
  const janus_budget inner = {.ops = 1000, .memory = 1 << 18, .spawn_count = 5};
  for (int i = 0; i < kCages; ++i) {
    const uint32_t before = janus_budget_get_current().ops;
    janus_nursery* nursery = open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, inner);
    if (!CHECK(nursery != NULL)) return -1;
    CHECK(spawn(nursery, claim, NULL).raw != 0);
    CHECK_EQ(janus_nursery_await(nursery, NULL), JANUS_BUDGET_EXCEEDED);
    CHECK_EQ(janus_nursery_destroy(nursery), 0);
    const uint32_t after = janus_budget_get_current().ops;
    CHECK(after <= before && before - after < kMostOfACage);
  }
  for (int i = 0; i < 1000; ++i)
    if (janus_yield_check(1) < 0) return -1;
  return 0;
}

int main(void) {
  const janus_budget budget = {.ops = kOps, .memory = 1 << 20, .spawn_count = 100};
  janus_nursery* outer = open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, budget);
  if (!CHECK(outer != NULL)) return end();
  CHECK(spawn(outer, live_in_the_outer_cage, NULL).raw != 0);
  CHECK_EQ(janus_nursery_await(outer, NULL), 0);
  CHECK_EQ(janus_nursery_destroy(outer), 0);
  return end();
}
