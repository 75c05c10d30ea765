// SPDX-License-Identifier: Apache-2.0
// Two tasks free one block at the same time: one of them panics, and the block is freed and credited to its account
// once.
#include "hostile.h"

enum { kBlocks = 2000 };
static void* blocks[kBlocks];
static int turn[2];

static int64_t free_one(void* block) {
  janus_free(block);
  return 0;
}

// Frees each block in a task of its own, at the same time as the other attacker.
static int64_t free_all(void* self) {
  janus_nursery* cage = open_plain();
  const int me = (int)(uintptr_t)self;
  for (int i = 0; i < kBlocks; ++i) {
    __atomic_store_n(&turn[me], i, __ATOMIC_RELEASE);
    for (int patience = 0; patience < 300 && __atomic_load_n(&turn[!me], __ATOMIC_ACQUIRE) < i; ++patience)
      if (patience > 200) janus_yield();
    spawn(cage, free_one, blocks[i]);
    if (i % 16 == 15) janus_yield();
  }
  janus_result result;
  janus_nursery_await(cage, &result);
  CHECK_EQ(janus_nursery_destroy(cage), 0);
  return result.errors;
}

static int64_t attack(void* size) {
  for (int i = 0; i < kBlocks; ++i) CHECK((blocks[i] = janus_alloc((size_t)(uintptr_t)size)) != NULL);
  turn[0] = turn[1] = -1;
  janus_nursery* both = open_plain();
  int64_t panics[2] = {0, 0};
  const janus_task one = spawn(both, free_all, (void*)0), other = spawn(both, free_all, (void*)1);
  CHECK_EQ(janus_task_join(one, &panics[0]), 0);
  CHECK_EQ(janus_task_join(other, &panics[1]), 0);
  CHECK_EQ(close_cage(both), 0);
  CHECK_EQ(panics[0] + panics[1], kBlocks);
  return 0;
}

int main(void) {
  attack((void*)64);
  const accounts before = read_accounts();
  for (int round = 0; round < 3; ++round) {
    CHECK_EQ(beside_a_neighbour(200, attack, (void*)64), 0);
    CHECK_EQ(beside_a_neighbour(200, attack, (void*)6000), 0);
    CHECK_EQ(beside_a_neighbour(200, attack, (void*)40000), 0);
  }
  CHECK_NOTHING_LOST(before, 2 * 9 * kBlocks);
  return end();
}
