// SPDX-License-Identifier: Apache-2.0
// many SPAWNED BLOCKED: so many tasks that run to their ends, then so many that all wait at once on guarded stacks.
#include <janus/rt.h>
#include <stdlib.h>

static long count;
static janus_channel* gate;

static int64_t run(void* unused) {
  (void)unused;
  __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
  return 0;
}
static int64_t block(void* unused) {
  (void)unused;
  __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
  char nothing;
  return janus_channel_recv(gate, &nothing) == JANUS_E_CLOSED ? 0 : -1;
}

static int spawn_all(janus_task_fn fn, long tasks) {
  janus_nursery_create();
  for (long n = 0; n < tasks; ++n)
    if (janus_nursery_spawn(fn, NULL) != 0) return 0;
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const long spawned = atol(argv[1]), blocked = atol(argv[2]);
  if (!spawn_all(run, spawned) || janus_nursery_await_all() != 0) return 3;
  janus_print(1, "%ld ran\n", count);
  count = 0;
  gate = janus_channel_create(1, 0);
  if (gate == NULL || !spawn_all(block, blocked)) return 4;
  while (__atomic_load_n(&count, __ATOMIC_RELAXED) != blocked) janus_sleep_ns(1000000);
  janus_stats stats = {.size = sizeof stats};
  janus_rt_stats(NULL, &stats);
  janus_channel_close(gate);
  if (janus_nursery_await_all() != 0) return 5;
  janus_print(1, "%ld blocked, all guarded: %d\n", count,
              stats.guard_pages >= (unsigned long)blocked && stats.stacks_canaried == 0);
  return 0;
}
