// SPDX-License-Identifier: Apache-2.0
// Told to end, a task spawns another that runs although it was cancelled, and that does the same, each with a grace of
// its own. They must not live for ever: what a cancelled family may still do is bounded.
#include "hostile.h"

static long generations;

static int64_t beget(void* unused) {
  (void)unused;
  while (janus_cancelled() == 0) janus_yield();
  if (__atomic_add_fetch(&generations, 1, __ATOMIC_RELAXED) > 200000) return -1;
  const janus_spawn_options stubborn = {.flags = JANUS_SPAWN_DETACHED | JANUS_SPAWN_RUN_CANCELLED};
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  janus_nursery_spawn_in(nursery, beget, NULL, &stubborn);
  janus_nursery_spawn_in(nursery, beget, NULL, &stubborn);
  return 0;
}

static int64_t attack(void* unused) {
  (void)unused;
  janus_nursery* cage = open_cage(roomy());
  const janus_spawn_options stubborn = {.flags = JANUS_SPAWN_DETACHED | JANUS_SPAWN_RUN_CANCELLED};
  janus_nursery_spawn_in(cage, beget, NULL, &stubborn);
  for (int i = 0; i < 20; ++i) janus_yield();
  CHECK_EQ(janus_nursery_cancel(cage), 0);
  janus_nursery_await(cage, NULL);
  CHECK_EQ(janus_nursery_destroy(cage), 0);
  // The spawns of its budget are the least bound there is.
  CHECK_THAT(generations, generations <= 60001);
  return 0;
}

int main(void) {
  CHECK_EQ(beside_a_neighbour(300, attack, NULL), 0);
  return end();
}
