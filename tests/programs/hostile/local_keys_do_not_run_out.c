// SPDX-License-Identifier: Apache-2.0
// A cage takes all the task-local keys that it can pay for, and ends. A neighbour still gets one, and the cage's keys
// and their price are returned.
#include "hostile.h"

enum { kMax = 4096, kNeighbour = 16 };

static janus_local_key taken[kMax];
static int count;

static int64_t take_all(void* unused) {
  (void)unused;
  for (count = 0; count < kMax && janus_local_new(&taken[count], NULL) == 0; ++count)
    janus_local_set(taken[count], &count);
  return 0;
}

static int64_t give_back(void* unused) {
  (void)unused;
  for (int i = 0; i < count; ++i) CHECK_EQ(janus_local_delete(taken[i]), 0);
  return 0;
}

static int64_t use_some(void* unused) {
  (void)unused;
  janus_local_key keys[kNeighbour];
  int value = 0;
  for (int i = 0; i < kNeighbour; ++i) {
    if (!CHECK_EQ(janus_local_new(&keys[i], NULL), 0)) return -1;
    CHECK(janus_local_get(keys[i]) == NULL);
    CHECK_EQ(janus_local_set(keys[i], &value), 0);
    CHECK(janus_local_get(keys[i]) == &value);
  }
  for (int i = 0; i < kNeighbour; ++i) CHECK_EQ(janus_local_delete(keys[i]), 0);
  CHECK(janus_local_get(keys[0]) == NULL);
  CHECK(janus_local_set(keys[0], &value) < -4096);
  CHECK(janus_local_delete(keys[0]) < -4096);
  return 0;
}

int main(void) {
  for (int round = 0; round < 3; ++round) {
    const janus_budget little = {1000000, (64 + 24) << 10, 10, 10, 0};
    run_in_cage(little, take_all, NULL);
    CHECK_THAT(count, count < 1024 - kNeighbour);
    for (int i = 0; i < count; ++i) CHECK_EQ(janus_local_delete(taken[i]), JANUS_E_INVALID);
    CHECK_EQ(run_in_cage(roomy(), use_some, NULL), 0);
    // Even if the cage takes all that one cage may have: less than an eighth of the others.
    run_in_cage(roomy(), take_all, NULL);
    CHECK_EQ(count, 57);
    CHECK_EQ(run_in_cage(roomy(), use_some, NULL), 0);
    // Without a cage, there are a thousand.
    janus_nursery* house = open_plain();
    spawn_roomy(house, take_all, NULL);
    CHECK_EQ(close_cage(house), 0);
    CHECK_THAT(count, count >= 1024 - 64);
    CHECK_EQ(give_back(NULL), 0);
  }
  return end();
}
