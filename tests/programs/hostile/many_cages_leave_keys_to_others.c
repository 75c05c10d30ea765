// SPDX-License-Identifier: Apache-2.0
// One cage after the other takes as many task-local keys as it can get, and keeps them. Each of them gets some.
#include "hostile.h"

enum { kCages = 30, kMax = 4096 };

static volatile int is_done;
static volatile long got;

static int64_t take_and_stay(void* unused) {
  (void)unused;
  janus_local_key key;
  long count = 0;
  while (count < kMax && janus_local_new(&key, NULL) == 0) ++count;
  got = count;
  is_done = 1;
  return janus_park(-1);
}

int main(void) {
  janus_nursery* cages[kCages];
  long first = 0, last = 0;
  janus_budget small = roomy();
  small.memory = 1 << 20;
  for (int i = 0; i < kCages; ++i) {
    is_done = 0;
    cages[i] = open_cage(small);
    spawn_roomy(cages[i], take_and_stay, NULL);
    while (!is_done) janus_yield();
    CHECK_THAT(i, got > 0);
    if (i == 0) first = got;
    last = got;
  }
  CHECK_THAT(first, first >= 32);
  for (int i = 0; i < kCages; ++i) {
    janus_nursery_cancel(cages[i]);
    (void)close_cage(cages[i]);
  }
  janus_print(1, "figure: keys of the first and the last of %d greedy cages: %ld, %ld\n", kCages, first, last);
  return end();
}
