// SPDX-License-Identifier: Apache-2.0
// no_memory: several tasks each take more memory than the machine has, as the setting of the budget allows, while a
// child of each waits. Each task panics at the first page that the machine cannot give it. Their nursery frees what they
// left allocated, and a later task has half of the machine's memory.
#include <janus/rt.h>

enum { kTasks = 4, kPiece = 1 << 20, kPiecesLater = 32 };

static void fill(volatile char* piece) {
  for (int byte = 0; byte < kPiece; ++byte) piece[byte] = 1;
}

static int64_t wait(void* unused) {
  (void)unused;
  while (janus_yield() == 0) continue;
  return 0;
}

static int64_t take_all(void* unused) {
  (void)unused;
  janus_nursery_create();
  janus_nursery_spawn(wait, NULL);
  for (char* piece; (piece = janus_alloc(kPiece)) != NULL; janus_yield()) fill(piece);
  return 0;
}

static int64_t take_some(void* unused) {
  (void)unused;
  for (int n = 0; n < kPiecesLater; ++n) fill(janus_alloc(kPiece));
  return 0;
}

int main(void) {
  const janus_nursery_options options = {.on_error = JANUS_ON_ERROR_COLLECT,
                                         .flags = JANUS_NURSERY_RECLAIM,
                                         .budget = {UINT32_MAX, (size_t)1 << 30, 100, 0, 0}};
  janus_nursery* const nursery = janus_nursery_open(NULL, &options);
  janus_task tasks[kTasks];
  int panicked = 0;
  for (int n = 0; n < kTasks; ++n) tasks[n] = janus_nursery_spawn_in(nursery, take_all, NULL, 0);
  for (int n = 0; n < kTasks; ++n) {
    int64_t result = 0;
    panicked += janus_task_join(tasks[n], &result) == 0 && result == JANUS_PANIC;
  }
  janus_nursery_await(nursery, NULL);
  janus_nursery_destroy(nursery);
  janus_nursery_create();
  janus_nursery_spawn(take_some, NULL);
  const int64_t error = janus_nursery_await_all();
  janus_print(1, "%d panicked, then %ld\n", panicked, (long)error);
  return 0;
}
