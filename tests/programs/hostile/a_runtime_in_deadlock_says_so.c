// SPDX-License-Identifier: Apache-2.0
// Host: its own libc, its own threads
// All tasks of an isolated runtime wait for each other: janus_rt_run returns JANUS_E_DEADLOCK, and the host and the
// runtime stay usable.
#include <janus/rt.h>
#include <stdio.h>

static int64_t nothing(void* unused) {
  (void)unused;
  return 0;
}

static int64_t deadlock(void* unused) {
  (void)unused;
  janus_channel* channel = janus_channel_create(1, 0);
  char byte;
  return janus_channel_recv(channel, &byte);
}

static int64_t await_a_deadlock(void* unused) {
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  for (int i = 0; i < 10; ++i) janus_nursery_spawn_in(nursery, deadlock, unused, NULL);
  return janus_nursery_await(nursery, NULL);
}

int main(void) {
  const janus_rt_config config = {.worker_count = 2, .memory = 64 << 20};
  janus_rt* rt = janus_rt_create(&config);
  long said[4];
  said[0] = janus_rt_run(rt, deadlock, NULL);
  said[1] = janus_rt_run(rt, nothing, NULL);
  said[2] = janus_rt_run(rt, await_a_deadlock, NULL);
  said[3] = janus_rt_run(rt, nothing, NULL);
  janus_rt_destroy(rt);
  printf("%ld %ld %ld %ld\n", said[0], said[1], said[2], said[3]);
  return said[0] != JANUS_E_DEADLOCK || said[1] != 0 || said[2] != JANUS_E_DEADLOCK || said[3] != 0;
}
