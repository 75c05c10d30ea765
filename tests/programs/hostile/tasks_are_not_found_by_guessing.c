// SPDX-License-Identifier: Apache-2.0
// A task's handle cannot be found by trying: each call with a wrong handle costs 64 ops, so a cage's ops are used up
// long before it has tried all handles.
#include "hostile.h"

enum { kOps = 640000, kPrice = 64 };

static janus_task victim;
static volatile int stop;
static volatile long tries;

static int64_t wait_for_the_end(void* unused) {
  (void)unused;
  while (!stop) janus_yield();
  return 7;
}

static int64_t guess(void* unused) {
  (void)unused;
  const uint64_t where = victim.raw & UINT32_MAX;
  for (uint64_t secret = 1;; ++secret) {
    const janus_task guessed = {secret << 32 | where};
    if (guessed.raw == victim.raw) continue;
    janus_result result;
    int64_t value;
    const int status = secret % 5 == 0   ? janus_task_cancel(guessed)
                       : secret % 5 == 1 ? janus_task_join(guessed, &value)
                       : secret % 5 == 2 ? janus_task_result(guessed, &result)
                       : secret % 5 == 3 ? janus_task_release(guessed)
                                         : janus_task_state(guessed);
    if (!CHECK_EQ(status, JANUS_E_STALE)) return 0;
    ++tries;
  }
}

int main(void) {
  janus_nursery* street = open_plain();
  victim = spawn_roomy(street, wait_for_the_end, NULL);
  janus_budget budget = roomy();
  budget.ops = kOps;
  CHECK_EQ(run_in_cage(budget, guess, NULL), JANUS_BUDGET_EXCEEDED);
  CHECK_THAT(tries, tries > 0 && tries <= kOps / kPrice + 1);
  stop = 1;
  int64_t value = 0;
  CHECK_EQ(janus_task_join(victim, &value), 0);
  CHECK_EQ(value, 7);
  CHECK_EQ(close_cage(street), 0);
  return end();
}
