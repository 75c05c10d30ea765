// SPDX-License-Identifier: Apache-2.0
// A cancelled task goes on in a shield: it computes, and spawns tasks that do the same, in shields of their own and without,
// each for less than a slice. Its cage has ops enough. All together spend the grace of that task, and end.
#include "hostile.h"

enum { kGrace = 65536, kSlice = 1024, kWorkers = 8 };

static long spent, born;

static void spend(int ops) {
  for (; ops > 0; --ops) {
    janus_yield_check(1);
    __atomic_add_fetch(&spent, 1, __ATOMIC_RELAXED);
  }
}

static int64_t beget(void* arg);

static int64_t open_and_beget(void* depth) {
  janus_nursery* nursery = open_plain();
  const janus_spawn_options detached = {.flags = JANUS_SPAWN_DETACHED};
  for (int i = 0; i < 3 && nursery != NULL; ++i) janus_nursery_spawn_in(nursery, beget, (char*)depth + 1, &detached);
  spend(300);
  if ((uintptr_t)depth % 2 != 0) return 0;  // leaves it open
  janus_nursery_await(nursery, NULL);
  janus_nursery_destroy(nursery);
  return 0;
}

static int64_t beget(void* depth) {
  if (__atomic_add_fetch(&born, 1, __ATOMIC_RELAXED) > 50000) return -1;
  spend(300);
  return (uintptr_t)depth % 3 != 2 ? janus_shield(open_and_beget, depth) : open_and_beget(depth);
}

// Each way to go on: by spawns, alone in one shield, and by shields in a row.
static int64_t compute(void* unused) {
  (void)unused;
  for (;;) spend(1000);
  return 0;
}

static int64_t repeat(void* unused) {
  (void)unused;
  for (;;) janus_shield(compute, NULL);
  return 0;
}

static int64_t go_on(void* way) {
  while (janus_cancelled() == 0) janus_yield();
  spent = 0;
  return janus_shield(*(janus_task_fn*)way, NULL);
}

static int64_t attack(void* unused) {
  (void)unused;
  janus_task_fn ways[] = {beget, compute, repeat};
  for (int i = 0; i < 3; ++i) {
    born = 0;
    janus_nursery* cage = open_cage(roomy());
    spawn_roomy(cage, go_on, &ways[i]);
    for (int j = 0; j < 20; ++j) janus_yield();
    CHECK_EQ(janus_nursery_cancel(cage), 0);
    janus_nursery_await(cage, NULL);
    CHECK_EQ(janus_nursery_destroy(cage), 0);
    CHECK_THAT(spent, spent <= kGrace + kWorkers * kSlice);
    CHECK_THAT(born, i != 0 || born > 1);
  }
  return 0;
}

int main(void) {
  CHECK_EQ(beside_a_neighbour(300, attack, NULL), 0);
  return end();
}
