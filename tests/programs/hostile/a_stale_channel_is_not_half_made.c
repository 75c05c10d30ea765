// SPDX-License-Identifier: Apache-2.0
// A channel is released for good and its record reused for another channel, while a task with the old pointer is in the
// middle of a send: the send fails, or the new channel takes the element; the task never sees a half-made channel.
#include "hostile.h"

// Many tasks take references to the current channel and release one more than they took, while others use it.
static janus_channel* shared;

static int64_t release_too_often(void* self) {
  char element[64];
  memset(element, 0, sizeof element);
  for (int i = 0; i < 3000; ++i) {
    janus_channel* channel = __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
    if (self == NULL && i % 2 == 0) __atomic_store_n(&shared, janus_channel_create(64, 8), __ATOMIC_RELEASE);
    if (janus_channel_retain(channel) != NULL) janus_channel_release(channel);
    janus_channel_try_send(channel, element);
    janus_channel_release(channel);
    janus_channel_try_recv(channel, element);
    if (janus_yield_check(50) < 0) return -1;
  }
  return 0;
}

static int64_t race(void* unused) {
  (void)unused;
  shared = janus_channel_create(64, 8);
  janus_nursery* cage = open_cage(roomy());
  for (int i = 0; i < 4; ++i) spawn_roomy(cage, release_too_often, (void*)(uintptr_t)i);
  janus_nursery_await(cage, NULL);  // some tasks may have panicked
  CHECK_EQ(janus_nursery_destroy(cage), 0);
  return 0;
}

int main(void) {
  for (int i = 0; i < 20; ++i) CHECK_EQ(beside_a_neighbour(200, race, NULL), 0);
  return end();
}
