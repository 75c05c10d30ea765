// SPDX-License-Identifier: Apache-2.0
// select.c: a select over 2, 8 and 64 channels of which one is ready, and one that waits until a sender comes.
#include "bench.h"

enum { kMost = 64 };

static struct {
  janus_channel* channels[kMost];
  long cases, rounds;
} among;

static void open_channels(long cases, long rounds, size_t capacity) {
  among.cases = cases;
  among.rounds = rounds;
  for (long i = 0; i < cases; ++i) EXPECT((among.channels[i] = janus_channel_create(8, capacity)) != NULL);
}

static void close_channels(void) {
  for (long i = 0; i < among.cases; ++i) janus_channel_release(among.channels[i]);
}

// Each in its turn, and not one behind the other.
static janus_channel* channel_of_round(long round) {
  return among.channels[round * 5 % among.cases];
}

static int64_t select_all(void* unused) {
  (void)unused;
  uint64_t word = 0;
  janus_select_case cases[kMost];
  for (long i = 0; i < among.cases; ++i) cases[i] = (janus_select_case){among.channels[i], &word, JANUS_RECV, 0};
  for (long i = 0; i < among.rounds; ++i)
    EXPECT(janus_select(cases, (size_t)among.cases, -1) == i * 5 % among.cases && word == (uint64_t)i);
  return 0;
}

// A send to a buffer, and a select that finds it.
static void one_is_ready(long cases, long size, int workers) {
  EXPECT(workers == 1);
  open_channels(cases, size, 1);
  uint64_t word = 0;
  janus_select_case each[kMost];
  for (long i = 0; i < cases; ++i) each[i] = (janus_select_case){among.channels[i], &word, JANUS_RECV, 0};
  const uint64_t start = janus_now_ns();
  for (long i = 0; i < size; ++i) {
    const uint64_t sent = (uint64_t)i;
    EXPECT(janus_channel_send(channel_of_round(i), &sent) == 0);
    EXPECT(janus_select(each, (size_t)cases, -1) == i * 5 % cases && word == sent);
  }
  figure("ns", (int64_t)(janus_now_ns() - start), size);
  close_channels();
}

// A select that waits in all queues, and a send that it waits for.
static void none_is_ready(long cases, long size, int workers) {
  EXPECT(workers == 1);
  open_channels(cases, size, 0);
  janus_nursery* const nursery = janus_nursery_open(NULL, NULL);
  EXPECT(nursery != NULL && janus_nursery_spawn_in(nursery, select_all, NULL, NULL).raw != 0);
  const uint64_t start = janus_now_ns();
  for (long i = 0; i < size; ++i) {
    const uint64_t sent = (uint64_t)i;
    EXPECT(janus_channel_send(channel_of_round(i), &sent) == 0);
  }
  EXPECT(janus_nursery_await(nursery, NULL) == 0);
  figure("ns", (int64_t)(janus_now_ns() - start), size);
  EXPECT(janus_nursery_destroy(nursery) == 0);
  close_channels();
}

void bench_select_2(long size, int workers) {
  one_is_ready(2, size, workers);
}
void bench_select_8(long size, int workers) {
  one_is_ready(8, size, workers);
}
void bench_select_64(long size, int workers) {
  one_is_ready(64, size, workers);
}
void bench_select_wait_2(long size, int workers) {
  none_is_ready(2, size, workers);
}
void bench_select_wait_8(long size, int workers) {
  none_is_ready(8, size, workers);
}
void bench_select_wait_64(long size, int workers) {
  none_is_ready(64, size, workers);
}
