// SPDX-License-Identifier: Apache-2.0
// Cages open and end one after the other, and leave all their memory allocated, in blocks of every size and in cages of
// their own: opened with JANUS_NURSERY_RECLAIM they take no memory from later ones.
#include "hostile.h"

enum { kCages = 600, kBytes = 1 << 20 };

static void leave(size_t piece, size_t most) {
  for (size_t bytes = 0; bytes < most; bytes += piece)
    if (janus_alloc(piece) == NULL) return;
}

static int64_t leave_small(void* unused) {
  (void)unused;
  leave(100, kBytes);
  return 0;
}

static int64_t leave_large(void* unused) {
  (void)unused;
  leave(100000, kBytes);
  return 0;
}

// Leaves blocks in a nested cage, in a task with a budget of its own, and in a nursery that is not destroyed.
static int64_t leave_below(void* unused) {
  (void)unused;
  janus_budget part = {1000000, kBytes / 4, 10, 0, 0};
  janus_nursery* inner = open_cage(part);
  spawn_roomy(inner, leave_small, NULL);
  janus_spawn_options options;
  memset(&options, 0, sizeof options);
  options.budget = part;
  options.budget.memory = kBytes / 8;
  janus_nursery_spawn_in(inner, leave_large, NULL, &options);
  leave_large(NULL);
  return 0;
}

static int64_t leave_and_die(void* unused) {
  leave_small(unused);
  *(volatile int*)UNMAPPED = 1;
  return 0;
}

static janus_nursery* open_reclaiming(void) {
  janus_nursery_options options;
  memset(&options, 0, sizeof options);
  options.on_error = JANUS_ON_ERROR_COLLECT;
  options.on_exhaustion = JANUS_ON_EXHAUSTION_DENY;
  options.flags = JANUS_NURSERY_RECLAIM;
  options.budget = (janus_budget){100000000, kBytes, 100, 0, 0};
  return janus_nursery_open(NULL, &options);
}

static int64_t attack(void* unused) {
  (void)unused;
  static const janus_task_fn ways[] = {leave_small, leave_large, leave_below, leave_and_die};
  for (int i = 0; i < kCages; ++i) {
    janus_nursery* cage = open_reclaiming();
    if (!CHECK(cage != NULL)) return -1;
    spawn_roomy(cage, ways[i % 4], NULL);
    janus_nursery_await(cage, NULL);
    CHECK_EQ(janus_nursery_destroy(cage), 0);
  }
  return 0;
}

// A nursery that is left open ends with its owner, and the blocks that it left are freed then.
static int64_t leave_a_cage_open(void* unused) {
  (void)unused;
  spawn_roomy(open_reclaiming(), leave_small, NULL);
  return 0;
}

int main(void) {
  char* mine = (char*)janus_alloc(4000);
  memset(mine, 7, 4000);
  const accounts before = read_accounts();
  CHECK_EQ(beside_a_neighbour(300, attack, NULL), 0);
  for (int i = 0; i < 50; ++i) {
    janus_nursery* scope = open_plain();
    spawn(scope, leave_a_cage_open, NULL);
    close_cage(scope);
  }
  CHECK_NOTHING_LOST(before, 0);
  for (int i = 0; i < 4000; ++i) CHECK_EQ(mine[i], 7);
  janus_free(mine);
  return end();
}
