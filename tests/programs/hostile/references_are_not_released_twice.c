// SPDX-License-Identifier: Apache-2.0
// A task releases a channel more often than it has references. Whatever the extra releases do, the buffer is freed
// once, and neither the heap nor a neighbour's channel in the same record is damaged.
#include "hostile.h"

static int64_t release_twice(void* capacity) {
  janus_channel* channel = janus_channel_create(64, (size_t)(uintptr_t)capacity);
  for (int i = 0; i < 5; ++i) janus_channel_release(channel);
  return 0;
}

static int64_t use_when_stale(void* unused) {
  (void)unused;
  char element[64];
  memset(element, 0, sizeof element);
  janus_channel* channel = janus_channel_create(64, 8);
  janus_channel_release(channel);
  CHECK_EQ(janus_channel_try_send(channel, element), JANUS_E_STALE);
  CHECK_EQ(janus_channel_try_recv(channel, element), JANUS_E_STALE);
  CHECK_EQ(janus_channel_send(channel, element), JANUS_E_STALE);
  CHECK_EQ(janus_channel_recv(channel, element), JANUS_E_STALE);
  CHECK_EQ(janus_channel_close(channel), JANUS_E_STALE);
  CHECK(janus_channel_retain(channel) == NULL);
  return 0;
}

static int64_t attack(void* unused) {
  (void)unused;
  for (int i = 0; i < 300; ++i) {
    const long status = run_in_cage(roomy(), release_twice, (void*)(uintptr_t)(i % 2 ? 16 : 0));
    CHECK_THAT(status, status == 0 || status == JANUS_PANIC);
  }
  return 0;
}

int main(void) {
  CHECK_EQ(run_in_cage(roomy(), use_when_stale, NULL), 0);
  attack(NULL);
  const accounts before = read_accounts();
  for (int i = 0; i < 5; ++i) CHECK_EQ(attack(NULL), 0);
  CHECK_EQ(beside_a_neighbour(1000, use_when_stale, NULL), 0);
  CHECK_NOTHING_LOST(before, 1500);
  return end();
}
