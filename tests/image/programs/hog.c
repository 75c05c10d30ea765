// SPDX-License-Identifier: Apache-2.0
// hog: takes and touches all the memory that it can get, in pieces of 64 KiB, then as many tasks as it can get, and
// prints both amounts. A refused request must be an error that the program sees, so that it ends normally.
#include <janus/rt.h>
#include <stdlib.h>
#include <string.h>

enum { kPiece = 64 << 10 };

static int64_t wait_at(void* gate) {
  char nothing;
  return janus_channel_recv(gate, &nothing) == JANUS_E_CLOSED ? 0 : JANUS_CANCELLED;
}

int main(void) {
  long pieces = 0, tasks = 0;
  for (char* piece; (piece = janus_alloc(kPiece)) != NULL; ++pieces) {
    memset(piece, 1, kPiece);
    janus_yield();
  }
  janus_channel* gate = janus_channel_create(1, 0);
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  while (gate && nursery && janus_nursery_spawn_in(nursery, wait_at, gate, NULL).raw) {
    ++tasks;
    if (tasks % 100 == 0) janus_yield();
  }
  janus_print(1, "%ld MiB, then %ld tasks\n", pieces * kPiece >> 20, tasks);
  janus_channel_close(gate);
  if (nursery) janus_nursery_await(nursery, NULL);
  return 0;
}
