// SPDX-License-Identifier: Apache-2.0
// Cancelled tasks spawn tasks that run although they are cancelled, and do the same, each with a grace of its own. They
// must not go on for ever: the total of all of them is bounded.
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
  // The spawn_count of the budget bounds them at the latest.
  CHECK_THAT(generations, generations <= 60001);
  return 0;
}

int main(void) {
  CHECK_EQ(beside_a_neighbour(300, attack, NULL), 0);
  return end();
}
