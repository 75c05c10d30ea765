// SPDX-License-Identifier: Apache-2.0
// ring [SIZE]: 503 tasks in a ring, each with a channel, hand a token on until it has been handed on SIZE times. Prints who
// has it then; the tasks that still wait are cancelled.
#include "size.h"

enum { kTasks = 503 };
static janus_channel* into[kTasks];
static long last;

static int64_t hand_on(void* at) {
  const long own = (long)(intptr_t)at;
  for (long left; janus_channel_recv(into[own], &left) == 0;) {
    if (left == 0) {
      last = own + 1;
      return 0;
    }
    --left;
    if (janus_channel_send(into[(own + 1) % kTasks], &left) != 0) break;
  }
  return JANUS_CANCELLED;
}

int main(int argc, char** argv) {
  long size = size_argument(argc, argv, 100000, 100000000);
  janus_nursery* ring = janus_nursery_open(NULL, NULL);
  for (int i = 0; i < kTasks; i++) into[i] = janus_channel_create(sizeof(long), 0);
  for (int i = 0; i < kTasks; i++) janus_nursery_spawn_in(ring, hand_on, (void*)(intptr_t)i, NULL);
  janus_channel_send(into[0], &size);
  janus_nursery_next(ring, NULL, 0);
  janus_nursery_cancel(ring);
  janus_nursery_await(ring, NULL);
  janus_nursery_destroy(ring);
  for (int i = 0; i < kTasks; i++) janus_channel_release(into[i]);
  janus_print(1, "task %ld of %d has the token\n", last, kTasks);
}
