// SPDX-License-Identifier: Apache-2.0
// A channel is released for good and its record serves another one, while somebody with the old pointer is in the
// middle of a send: he gets an answer, or the new channel takes his element; never a channel that is half made.
#include "hostile.h"

// Many take and give up references to whatever channel there is, one more than they took, while others use it.
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
  janus_nursery_await(cage, NULL);  // panics are theirs
  CHECK_EQ(janus_nursery_destroy(cage), 0);
  return 0;
}

int main(void) {
  for (int i = 0; i < 20; ++i) CHECK_EQ(beside_a_neighbour(200, race, NULL), 0);
  return end();
}
