// SPDX-License-Identifier: Apache-2.0
// Nurseries, channels, tasks, names and local values are memory: a task with 100 KiB gets 100 KiB of them, and when it
// has ended, all is returned (channels, which have no owner, when they are released).
#include "hostile.h"

enum { kMax = 400000 };

static janus_nursery* made_nurseries[8];  // so that the compiler does not remove them
static janus_channel* made_channels[kMax];
static long made;

static int64_t open_channels(void* unused) {
  (void)unused;
  for (made = 0; made < kMax && (made_channels[made] = janus_channel_create(8, 0)) != NULL; ++made) {
  }
  return made < kMax ? 0 : JANUS_E_STATE;
}

static int64_t open_buffered_channels(void* unused) {
  (void)unused;
  for (made = 0; made < kMax && (made_channels[made] = janus_channel_create(8, 1)) != NULL; ++made) {
  }
  return made < kMax ? 0 : JANUS_E_STATE;
}

static int64_t open_nurseries(void* unused) {
  (void)unused;
  for (made = 0; made < kMax && (made_nurseries[made % 8] = janus_nursery_open(NULL, NULL)) != NULL; ++made) {
  }
  return made < kMax ? 0 : JANUS_E_STATE;
}

static int64_t push_nurseries(void* unused) {
  (void)unused;
  for (made = 0; made < kMax && janus_nursery_create() != NULL; ++made) {
  }
  return made < kMax ? 0 : JANUS_E_STATE;
}

static int64_t nothing(void* unused) {
  (void)unused;
  return 0;
}

// Spawns tasks whose records are never released.
static int64_t spawn_tasks(void* unused) {
  (void)unused;
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  for (made = 0; made < kMax && spawn(nursery, nothing, NULL).raw != 0; ++made)
    if (made % 64 == 0) janus_yield();
  return made < kMax ? 0 : JANUS_E_STATE;
}

static long most_for_100_kib(janus_task_fn fn) {
  janus_budget budget = {100000000, 100 << 10, 65534, 65534, 0};
  made = 0;
  janus_nursery* cage = open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, budget);
  spawn(cage, fn, NULL);
  CHECK_EQ(close_cage(cage), 0);
  for (long i = 0; i < made && made_channels[i] != NULL; ++i) {
    janus_channel_release(made_channels[i]);
    made_channels[i] = NULL;
  }
  return made;
}

static int64_t attack(void* unused) {
  (void)unused;
  static const struct {
    janus_task_fn fn;
    const char* name;
  } ways[] = {{open_channels, "channels"},
              {open_buffered_channels, "channels with room"},
              {open_nurseries, "nurseries"},
              {push_nurseries, "current nurseries"},
              {spawn_tasks, "tasks"}};
  for (unsigned i = 0; i < sizeof ways / sizeof *ways; ++i) {
    const long count = most_for_100_kib(ways[i].fn);
    if (count > 6400) janus_print(1, "100 KiB pay for %ld %s\n", count, ways[i].name);
    CHECK_THAT(count, count <= 6400);  // each takes more than 16 bytes
  }
  return 0;
}

int main(void) {
  attack(NULL);
  const accounts before = read_accounts();
  for (int i = 0; i < 10; ++i) CHECK_EQ(beside_a_neighbour(300, attack, NULL), 0);
  CHECK_NOTHING_LOST(before, 0);
  return end();
}
