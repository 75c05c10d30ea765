// SPDX-License-Identifier: Apache-2.0
// A cage in a cage passes the largest cost to a yield check, and has hardly any ops: it ends, once and 50 times in a
// row, as a cage and as a task with a budget of its own. The outer cage, whose ops are finite, goes on, and gets its
// turns beside others.
#include "hostile.h"

enum { kOps = 10000000, kFew = 1000, kMaxAbove = 16384, kTimes = 50, kWork = 2000000 };

static int64_t claim(void* unused) {
  (void)unused;
  return janus_yield_check(UINT32_MAX);
}

static int64_t open_claimers(void* unused) {
  (void)unused;
  const janus_budget few = {kFew, 1 << 18, 5, 0, 0};
  const long before = janus_budget_get_current().ops;
  for (int i = 0; i < kTimes; ++i) CHECK_EQ(run_in_cage(few, claim, NULL), JANUS_BUDGET_EXCEEDED);
  const long spent = before - (long)janus_budget_get_current().ops;
  CHECK_THAT(spent, spent < kTimes * (kMaxAbove + 2 * kFew));
  return 0;
}

static int64_t spawn_claimers(void* unused) {
  (void)unused;
  const janus_spawn_options poor = {.budget = {kFew, 0, 0, 0, 0}};
  const long before = janus_budget_get_current().ops;
  for (int i = 0; i < kTimes; ++i) {
    janus_nursery* nursery = open_plain();
    CHECK(janus_nursery_spawn_in(nursery, claim, NULL, &poor).raw != 0);
    CHECK_EQ(close_cage(nursery), JANUS_BUDGET_EXCEEDED);
  }
  const long spent = before - (long)janus_budget_get_current().ops;
  CHECK_THAT(spent, spent < kTimes * (kMaxAbove + 2 * kFew));
  return 0;
}

static int64_t attack(void* unused) {
  (void)unused;
  const janus_budget finite = {kOps, 16 << 20, 1000, 0, 0};
  CHECK_EQ(run_in_cage(finite, open_claimers, NULL), 0);
  CHECK_EQ(run_in_cage(finite, spawn_claimers, NULL), 0);
  return 0;
}

// ---- Turns, which are measured in ops in deterministic mode --------------------------------------------------------

static volatile long done[2];

static int64_t work(void* arg) {
  volatile long* const mine = (volatile long*)arg;
  while (done[0] < kWork && done[1] < kWork) {
    if (janus_yield_check(1) < 0) return -1;
    ++*mine;
  }
  return 0;
}

static int64_t work_beside_claimer(void* unused) {
  (void)unused;
  janus_budget all = JANUS_BUDGET_ALL;
  all.memory = 1 << 20;
  janus_nursery* inner = open_cage(all);
  spawn_roomy(inner, claim, NULL);
  work((void*)&done[0]);
  return close_cage(inner);
}

static int64_t work_elsewhere(void* unused) {
  (void)unused;
  return work((void*)&done[1]);
}

static void share_turns(void) {
  janus_budget all = JANUS_BUDGET_ALL;
  all.memory = 8 << 20;
  janus_nursery* one = open_cage(all);
  janus_nursery* other = open_cage(all);
  spawn_roomy(one, work_beside_claimer, NULL);
  spawn_roomy(other, work_elsewhere, NULL);
  CHECK_EQ(close_cage(one), 0);
  CHECK_EQ(close_cage(other), 0);
}

int main(void) {
  CHECK_EQ(beside_a_neighbour(300, attack, NULL), 0);
  const int is_virtual = read_accounts().stats.order_hash != 0;
  share_turns();
  if (is_virtual) CHECK_THAT(done[0], done[0] > kWork / 100);
  return end();
}
