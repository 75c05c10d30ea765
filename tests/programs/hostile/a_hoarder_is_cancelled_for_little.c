// SPDX-License-Identifier: Apache-2.0
// A task opens thousands of nurseries with a task in each, and waits. The task that cancels it pays, and waits, for
// only a few of them: the cancelled task itself cancels the others.
#include "hostile.h"

enum { kNurseries = 4000, kStep = 16 };

static volatile int is_there;
static int told;
static janus_task waiters[kNurseries];

static int64_t wait_to_be_told(void* unused) {
  (void)unused;
  while (janus_park(-1) == 0) {
  }
  __atomic_fetch_add(&told, 1, __ATOMIC_RELAXED);
  return -1;
}

static int64_t hoard(void* unused) {
  (void)unused;
  static janus_nursery* nurseries[kNurseries];
  janus_spawn_options options;
  memset(&options, 0, sizeof options);
  options.stack_size = 8192;
  for (int i = 0; i < kNurseries; ++i) {
    nurseries[i] = open_plain();
    waiters[i] = janus_nursery_spawn_in(nurseries[i], wait_to_be_told, NULL, &options);
    if (!CHECK(waiters[i].raw != 0)) return -1;
    while (janus_task_state(waiters[i]) != JANUS_TASK_BLOCKED) janus_yield();
  }
  is_there = 1;
  while (janus_park(-1) == 0) {
  }
  for (int i = 0; i < kNurseries; ++i) close_cage(nurseries[i]);
  return 0;
}

int main(void) {
  const accounts before = read_accounts();
  janus_nursery* street = open_plain();
  const janus_task hoarder = spawn_roomy(street, hoard, NULL);
  while (!is_there || janus_task_state(hoarder) != JANUS_TASK_BLOCKED) janus_yield();
  CHECK_EQ(janus_task_cancel(hoarder), 0);
  // Checks a sample in less than a slice, so no other task has run. With more workers, more may be cancelled by now.
  int blocked = 0;
  for (int i = 0; i < kNurseries; i += kStep) blocked += janus_task_state(waiters[i]) == JANUS_TASK_BLOCKED ? kStep : 0;
  if (read_accounts().stats.workers == 1) CHECK_THAT(blocked, blocked >= kNurseries / 2);
  (void)close_cage(street);
  CHECK_EQ(told, kNurseries);
  CHECK_NOTHING_LOST(before, 1);
  janus_print(1, "figure: of %d who wait below a hoarder, told by its canceller: %d\n", kNurseries,
              kNurseries - blocked);
  return end();
}
