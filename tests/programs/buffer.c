// SPDX-License-Identifier: Apache-2.0
// buffer [SIZE]: three producers hand SIZE numbers to two consumers: first through a bounded buffer, which is a ring under a
// mutex, with a condition for "not full" and one for "not empty"; then through a channel, which is all that in one. Prints
// the sums that have arrived.
#include <janus/sync.h>

#include "size.h"

enum { kProducers = 3, kConsumers = 2, kRoom = 7 };

static long size, sums[kConsumers];

static janus_mutex lock;
static janus_cond is_not_full, is_not_empty;
static long ring[kRoom], taken, put;
static int is_over;

static int put_in_buffer(long number) {
  if (janus_mutex_lock(&lock) != 0) return JANUS_CANCELLED;
  while (put - taken == kRoom) janus_cond_wait(&is_not_full, &lock);
  ring[put++ % kRoom] = number;
  janus_cond_signal(&is_not_empty);
  return janus_mutex_unlock(&lock);
}

// 0 once it is empty, and nothing more will come.
static int take_from_buffer(long* number) {
  if (janus_mutex_lock(&lock) != 0) return 0;
  while (put == taken && !is_over) janus_cond_wait(&is_not_empty, &lock);
  const int is_there = put != taken;
  if (is_there) {
    *number = ring[taken++ % kRoom];
    janus_cond_signal(&is_not_full);
  }
  janus_mutex_unlock(&lock);
  return is_there;
}

static void end_buffer(void) {
  janus_mutex_lock(&lock);
  is_over = 1;
  janus_cond_broadcast(&is_not_empty);
  janus_mutex_unlock(&lock);
}

static janus_channel* channel;
static int put_in_channel(long number) {
  return janus_channel_send(channel, &number);
}
static int take_from_channel(long* number) {
  return janus_channel_recv(channel, number) == 0;
}
static void end_channel(void) {
  janus_channel_close(channel);
}

static struct {
  int (*put)(long);
  int (*take)(long*);
  void (*end)(void);
} way;

static int64_t produce(void* first) {
  for (long number = (long)(intptr_t)first; number <= size; number += kProducers)
    if (way.put(number) != 0) return -2;
  return 0;
}

static int64_t consume(void* sum) {
  for (long number; way.take(&number);) *(long*)sum += number;
  return 0;
}

static long hand_over_all(void) {
  janus_nursery* consumers = janus_nursery_open(NULL, NULL);
  for (int i = 0; i < kConsumers; i++) {
    sums[i] = 0;
    janus_nursery_spawn_in(consumers, consume, &sums[i], NULL);
  }
  janus_nursery* producers = janus_nursery_open(NULL, NULL);
  for (intptr_t i = 1; i <= kProducers; i++) janus_nursery_spawn_in(producers, produce, (void*)i, NULL);
  janus_nursery_await(producers, NULL);
  janus_nursery_destroy(producers);
  way.end();
  janus_nursery_await(consumers, NULL);
  janus_nursery_destroy(consumers);
  return sums[0] + sums[1];
}

int main(int argc, char** argv) {
  size = size_argument(argc, argv, 10000, 100000000);
  way.put = put_in_buffer, way.take = take_from_buffer, way.end = end_buffer;
  const long through_buffer = hand_over_all();
  channel = janus_channel_create(sizeof(long), kRoom);
  way.put = put_in_channel, way.take = take_from_channel, way.end = end_channel;
  const long through_channel = hand_over_all();
  janus_channel_release(channel);
  janus_print(1, "the numbers up to %ld: %ld through a buffer, %ld through a channel\n", size, through_buffer,
              through_channel);
  return through_buffer != size * (size + 1) / 2 || through_channel != through_buffer;
}
