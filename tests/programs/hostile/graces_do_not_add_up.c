// SPDX-License-Identifier: Apache-2.0
// A cage with few ops opens nurseries, spawns tasks that run although they are cancelled, and cancels them, so that
// each child works on a grace: directly, in nested cages, and with budgets of their own. All together spend at most the
// cage's ops and one grace.
#include "hostile.h"

enum { kOps = 10000, kGrace = 65536 };

static long done;

static void spend(long ops) {
  for (; ops > 0; --ops) {
    janus_yield_check(1);
    __atomic_add_fetch(&done, 1, __ATOMIC_RELAXED);
  }
}

static int64_t work(void* unused) {
  (void)unused;
  spend(kGrace - 100);
  return 0;
}

typedef struct family {
  janus_budget of_nursery, of_child;
} family;

// Repeats until no ops are left to open, spawn or await.
static int64_t beget(void* arg) {
  const family* how = (const family*)arg;
  const janus_spawn_options stubborn = {.flags = JANUS_SPAWN_RUN_CANCELLED | JANUS_SPAWN_DETACHED,
                                        .budget = how->of_child};
  for (;;) {
    janus_nursery* nursery = open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, how->of_nursery);
    if (nursery == NULL) return -1;
    for (int i = 0; i < 3; ++i) janus_nursery_spawn_in(nursery, work, NULL, &stubborn);
    janus_nursery_cancel(nursery);
    janus_nursery_await(nursery, NULL);
    janus_nursery_destroy(nursery);
  }
}

static int64_t attack(void* unused) {
  (void)unused;
  const janus_budget none = {0, 0, 0, 0, 0}, little = {50, 1 << 18, 20, 0, 0},
                     nothing_but_memory = {0, 1 << 16, 1, 0, 0};
  family families[] = {{none, none}, {little, none}, {none, little}, {little, nothing_but_memory}};
  for (int i = 0; i < 4; ++i) {
    done = 0;
    const janus_budget few = {kOps, 16 << 20, 60000, 0, 0};
    CHECK_THAT(i, run_in_cage(few, beget, &families[i]) < 0);
    CHECK_THAT(done, done <= kOps + kGrace);
  }
  return 0;
}

int main(void) {
  CHECK_EQ(beside_a_neighbour(300, attack, NULL), 0);
  return end();
}
