// SPDX-License-Identifier: Apache-2.0
// channel.c: two tasks that send an element to and fro over two rendezvous channels.
#include "bench.h"

enum { kMostWords = 8 };

static struct {
  janus_channel *there, *back;
  long words;  // of an element
  long trips;
} talk;

static int64_t echo(void* arg) {
  (void)arg;
  long element[kMostWords];
  while (janus_channel_recv(talk.there, element) == 0)
    if (janus_channel_send(talk.back, element) < 0) return -1;
  return 0;
}

// The first and the last word of an element hold its number.
static void round_trips(long count) {
  long element[kMostWords] = {0};
  long* last = &element[talk.words - 1];
  for (long i = 0; i < count; ++i) {
    element[0] = *last = i;
    EXPECT(janus_channel_send(talk.there, element) == 0);
    EXPECT(janus_channel_recv(talk.back, element) == 0 && element[0] == i && *last == i);
  }
}

static int64_t caller(void* arg) {
  (void)arg;
  round_trips(talk.trips / 10);
  const uint64_t start = janus_now_ns();
  round_trips(talk.trips);
  figure("ns", (int64_t)(janus_now_ns() - start), talk.trips);
  return janus_channel_close(talk.there);
}

static void begin_talk(janus_nursery* nursery, long trips, long words) {
  const size_t bytes = (size_t)words * sizeof(long);
  talk.trips = trips;
  talk.words = words;
  talk.there = janus_channel_create(bytes, 0);
  talk.back = janus_channel_create(bytes, 0);
  EXPECT(nursery && talk.there && talk.back);
  EXPECT(janus_nursery_spawn_in(nursery, echo, NULL, NULL).raw != 0);
  EXPECT(janus_nursery_spawn_in(nursery, caller, NULL, NULL).raw != 0);
}

static void end_talk(void) {
  janus_channel_release(talk.there);
  janus_channel_release(talk.back);
}

static void talk_with_elements_of(long words, long trips) {
  begin_talk(janus_nursery_create(), trips, words);
  EXPECT(janus_nursery_await_all() == 0);
  end_talk();
}

// `size` round trips of a word.
void bench_channel(long size, int workers) {
  (void)workers;
  talk_with_elements_of(1, size);
}

// `size` round trips of 16 bytes.
void bench_channel_16(long size, int workers) {
  (void)workers;
  talk_with_elements_of(2, size);
}

// `size` round trips of 64 bytes.
void bench_channel_64(long size, int workers) {
  (void)workers;
  talk_with_elements_of(8, size);
}

// `size` round trips of a word, between tasks that pay for them from a finite budget of their own.
void bench_channel_in_cage(long size, int workers) {
  static const int64_t kPlenty = (int64_t)1 << 50;
  (void)workers;
  const janus_nursery_options options = {.size = sizeof options, .budget = {.memory = 1 << 24, .spawn_count = 2}};
  janus_nursery* cage = janus_nursery_open(NULL, &options);
  EXPECT(janus_budget_grant64(cage, JANUS_COMPONENT_OPS, kPlenty) == 0);
  EXPECT(janus_budget_grant64(cage, JANUS_COMPONENT_CHANNEL_OPS, kPlenty) == 0);
  begin_talk(cage, size, 1);
  EXPECT(janus_nursery_await(cage, NULL) == 0 && janus_nursery_destroy(cage) == 0);
  end_talk();
}
