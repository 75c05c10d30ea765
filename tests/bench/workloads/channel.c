// SPDX-License-Identifier: Apache-2.0
// channel.c: two tasks that send a word to and fro over two rendezvous channels.
#include "bench.h"

static janus_channel *there, *back;

static int64_t echo(void* arg) {
  (void)arg;
  long value;
  while (janus_channel_recv(there, &value) == 0)
    if (janus_channel_send(back, &value) < 0) return -1;
  return 0;
}

static void round_trips(long count) {
  for (long i = 0; i < count; ++i) {
    long value = i;
    EXPECT(janus_channel_send(there, &value) == 0);
    EXPECT(janus_channel_recv(back, &value) == 0 && value == i);
  }
}

static int64_t caller(void* arg) {
  const long count = *(long*)arg;
  round_trips(count / 10);
  const uint64_t start = janus_now_ns();
  round_trips(count);
  figure("ns", (int64_t)(janus_now_ns() - start), count);
  return janus_channel_close(there);
}

// `size` round trips.
void bench_channel(long size, int workers) {
  (void)workers;
  there = janus_channel_create(sizeof(long), 0);
  back = janus_channel_create(sizeof(long), 0);
  EXPECT(there && back && janus_nursery_create() != NULL);
  EXPECT(janus_nursery_spawn(echo, NULL) == 0 && janus_nursery_spawn(caller, &size) == 0);
  EXPECT(janus_nursery_await_all() == 0);
  janus_channel_release(there);
  janus_channel_release(back);
}
