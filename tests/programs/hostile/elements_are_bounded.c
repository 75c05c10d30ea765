// SPDX-License-Identifier: Apache-2.0
// An element has at most 1 MiB, so that no receive accesses memory behind its buffer.
#include "hostile.h"

static janus_channel* channel;

static int64_t attack(void* unused) {
  (void)unused;
  const size_t mib = (size_t)1 << 20;
  const size_t sizes[] = {mib + 1, 64 * mib, SIZE_MAX / 2, SIZE_MAX - 4095, SIZE_MAX};
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    for (size_t capacity = 0; capacity < 3; ++capacity) {
      CHECK(janus_channel_create(sizes[i], capacity) == NULL);
      CHECK_EQ(janus_last_error(), JANUS_E_INVALID);
    }
  const size_t capacities[] = {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / mib, (SIZE_MAX / mib) + 1, (size_t)1 << 32, 1 << 20};
  for (unsigned i = 0; i < sizeof capacities / sizeof *capacities; ++i)
    CHECK(janus_channel_create(mib, capacities[i]) == NULL);
  CHECK(janus_channel_create(8, SIZE_MAX / 8 + 1) == NULL);
  CHECK(janus_channel_create(1, SIZE_MAX) == NULL);
  channel = janus_channel_create(mib, 0);
  CHECK(channel != NULL);
  janus_channel_release(channel);
  return 0;
}

static int64_t in_a_cage(void* unused) {
  (void)unused;
  janus_nursery* cage = open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, roomy());
  spawn_roomy(cage, attack, NULL);
  return close_cage(cage);
}

int main(void) {
  CHECK_EQ(beside_a_neighbour(100, in_a_cage, NULL), 0);
  return end();
}
