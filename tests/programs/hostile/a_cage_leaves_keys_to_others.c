// SPDX-License-Identifier: Apache-2.0
// A cage takes as many task-local keys as it can get, in many budgets of its own, and keeps them. Other cages and the
// root's tasks still get keys.
#include "hostile.h"

enum { kMax = 4096, kOthers = 3, kNeeded = 16, kInner = 16 };

static volatile int is_done;

static long take_all(void) {
  janus_local_key key;
  long count = 0;
  while (count < kMax && janus_local_new(&key, NULL) == 0) ++count;
  return count;
}

static int64_t take_and_stay(void* unused) {
  (void)unused;
  take_all();
  __atomic_fetch_add(&is_done, 1, __ATOMIC_RELAXED);
  return janus_park(-1);
}

// Takes keys, each in a budget of its own, until there are no more.
static int64_t take_in_many_budgets(void* unused) {
  (void)unused;
  const janus_budget inner = {100000, 64 << 10, 10, 10, 0};
  janus_spawn_options options;
  memset(&options, 0, sizeof options);
  options.budget = inner;
  options.stack_size = 8192;
  janus_nursery* crowd = open_plain();
  for (int i = 0; i < kInner; ++i) CHECK(janus_nursery_spawn_in(crowd, take_and_stay, NULL, &options).raw != 0);
  return close_cage(crowd);
}

static int64_t use_some(void* unused) {
  (void)unused;
  janus_local_key keys[kNeeded];
  for (int i = 0; i < kNeeded; ++i) CHECK_EQ(janus_local_new(&keys[i], NULL), 0);
  is_done += kInner;
  return janus_park(-1);
}

int main(void) {
  janus_nursery* greedy = open_cage(roomy());
  spawn_roomy(greedy, take_in_many_budgets, NULL);
  while (is_done < kInner) janus_yield();
  // All cages exist at the same time.
  janus_nursery* others[kOthers];
  for (int i = 0; i < kOthers; ++i) {
    others[i] = open_cage(roomy());
    spawn_roomy(others[i], use_some, NULL);
    while (is_done < (i + 2) * kInner) janus_yield();
  }
  janus_local_key key;
  CHECK_EQ(janus_local_new(&key, NULL), 0);
  CHECK_EQ(janus_local_delete(key), 0);
  for (int i = 0; i < kOthers; ++i) {
    janus_nursery_cancel(others[i]);
    (void)close_cage(others[i]);
  }
  janus_nursery_cancel(greedy);
  (void)close_cage(greedy);
  // All keys have been returned.
  const long all = take_all();
  CHECK_THAT(all, all >= 1024 - 64);
  return end();
}
