// SPDX-License-Identifier: Apache-2.0
// A task's function, or a key's destructor, in the middle of the runtime's own text is refused: it would run the
// runtime with a task's registers, and the first fault would end the process.
#include "hostile.h"

enum { kOffsets = 64 };

static int64_t nothing(void* unused) {
  (void)unused;
  return 0;
}

static int64_t spawn_inside(void* entry) {
  janus_nursery* const nursery = open_plain();
  janus_nursery_create();
  for (long offset = 0; offset < kOffsets; ++offset) {
    janus_task_fn fn = (janus_task_fn)((char*)entry + offset);
    CHECK_EQ(spawn(nursery, fn, (void*)8).raw, 0);
    CHECK_EQ(janus_last_error(), JANUS_E_INVALID);
    CHECK_EQ(janus_nursery_spawn(fn, (void*)8), -1);
    CHECK_EQ(janus_last_error(), JANUS_E_INVALID);
    janus_result results[2];
    CHECK_EQ(janus_fork_join(fn, (void*)8, nothing, NULL, results), JANUS_E_INVALID);
    CHECK_EQ(janus_fork_join(nothing, NULL, fn, (void*)8, results), JANUS_E_INVALID);
    janus_local_key key;
    if ((char*)entry + offset != (char*)janus_free)
      CHECK_EQ(janus_local_new(&key, (void (*)(void*))(uintptr_t)fn), JANUS_E_INVALID);
  }
  CHECK(spawn(nursery, nothing, NULL).raw != 0);
  CHECK_EQ(janus_nursery_spawn(nothing, NULL), 0);
  CHECK_EQ(janus_nursery_await_all(), 0);
  return close_cage(nursery);
}

static int64_t keep_blocks(void* unused) {
  (void)unused;
  janus_local_key key;
  CHECK_EQ(janus_local_new(&key, janus_free), 0);  // the one allowed function
  CHECK_EQ(janus_local_set(key, janus_alloc(100)), 0);
  return 0;
}

int main(void) {
  void* const entries[] = {
      (void*)janus_channel_send, (void*)janus_free,  (void*)janus_yield, (void*)janus_nursery_await,
      (void*)janus_print,        (void*)janus_alloc, (void*)memcpy,      (void*)memset};
  for (unsigned i = 0; i < sizeof entries / sizeof *entries; ++i)
    CHECK_EQ(run_in_cage(roomy(), spawn_inside, entries[i]), 0);
  CHECK_EQ(run_in_cage(roomy(), keep_blocks, NULL), 0);
  return end();
}
