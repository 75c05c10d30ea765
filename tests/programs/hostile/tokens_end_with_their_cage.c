// SPDX-License-Identifier: Apache-2.0
// Tasks in cages derive tokens with limits until their memory is used up, in chains and side by side, let nurseries and
// tasks carry them, revoke some, panic or are cancelled, and leave the rest: each cage ends as a whole, and its budget goes
// back.
#include "hostile.h"

static const janus_budget none;

static int64_t nothing(void* unused) {
  (void)unused;
  return 0;
}

static int64_t wait_for_cancel(void* unused) {
  (void)unused;
  return janus_park(-1);
}

static int64_t derive_all(void* how) {
  const janus_budget limit = {.ops = 1};
  janus_cap cap = {0};
  int count = 0;
  for (;; ++count) {
    if (count % 16 == 0) cap.raw = 0;  // a chain is not longer
    cap = janus_cap_derive(cap, 63, count % 3 == 0 ? limit : none);
    if (cap.raw == 0) break;
    if (count % 5 == 0) {
      const janus_nursery_options options = {.cap = cap};
      const janus_spawn_options spawning = {.cap = cap};
      janus_nursery* nursery = janus_nursery_open(NULL, &options);
      if (nursery != NULL && count % 10 == 0) janus_nursery_spawn_in(nursery, wait_for_cancel, NULL, &spawning);
    }
    if (count % 7 == 0) {
      CHECK_EQ(janus_cap_revoke(cap), 0);
      cap.raw = 0;
    }
  }
  CHECK_EQ(janus_last_error(), JANUS_E_BUDGET);
  CHECK_THAT(count, count > 50);
  if (how != NULL) janus_task_panic("on purpose");
  return -9;  // what it has left open is cancelled
}

int main(void) {
  const janus_budget budget = {10000000, 1 << 20, 1000, 10000, 0};
  CHECK(run_in_cage(budget, derive_all, NULL) != 0);
  const accounts before = read_accounts();
  for (int i = 0; i < 40; ++i) {
    CHECK(run_in_cage(budget, derive_all, i % 2 ? &failed_checks : NULL) != 0);
    CHECK_EQ(run_in_cage(budget, nothing, NULL), 0);
  }
  CHECK_NOTHING_LOST(before, 40);
  return end();
}
