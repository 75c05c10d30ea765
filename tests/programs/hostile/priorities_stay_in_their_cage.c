// SPDX-License-Identifier: Apache-2.0
// Ten thousand tasks of high priority in a cage, or as many as it can pay for, compute beside one task outside that has the
// normal priority. With one worker the neighbour does at least a sixth as much as all of them, and a quarter where turns are
// counted in ops; if their priority counted outside the cage, it would be an eighth. With several workers it just has to end.
#include "hostile.h"

enum { kAttackers = 10000, kOps = 1000000, kMaxLoss = 6, kMaxLossOfOps = 4 };

static int64_t theirs;
static int is_over;

static int64_t compute(void* unused) {
  (void)unused;
  while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
    __atomic_fetch_add(&theirs, 1, __ATOMIC_RELAXED);
    if (janus_yield_check(1) < 0) return -1;
  }
  return 0;
}

static int64_t live_beside(void* worst) {
  int64_t mine = 0;
  const int64_t before = __atomic_load_n(&theirs, __ATOMIC_RELAXED);
  while (mine < kOps) {
    __atomic_fetch_add(&mine, 1, __ATOMIC_RELAXED);
    if (janus_yield_check(1) < 0) return -1;
  }
  *(int64_t*)worst = (__atomic_load_n(&theirs, __ATOMIC_RELAXED) - before) / kOps;
  __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
  return 0;
}

int main(void) {
  const janus_stats stats = read_accounts().stats;
  janus_nursery* const cage = open_cage(roomy());
  janus_nursery* const outside = open_plain();
  if (!CHECK(cage != NULL && outside != NULL)) return end();
  janus_spawn_options high;
  memset(&high, 0, sizeof high);
  high.priority = JANUS_PRIORITY_HIGH;
  int attackers = 0;
  while (attackers < kAttackers && janus_nursery_spawn_in(cage, compute, NULL, &high).raw != 0) ++attackers;
  CHECK_THAT(attackers, attackers >= 100);
  int64_t loss = -1;
  CHECK(spawn_roomy(outside, live_beside, &loss).raw != 0);
  CHECK_EQ(close_cage(outside), 0);
  CHECK_EQ(close_cage(cage), 0);
  CHECK_THAT(loss, loss >= 0);
  if (stats.workers == 1) CHECK_THAT(loss, loss <= (stats.order_hash != 0 ? kMaxLossOfOps : kMaxLoss));
  return end();
}
