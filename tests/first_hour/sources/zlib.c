// SPDX-License-Identifier: Apache-2.0
// Data that zlib compressed in a task is restored.
#include <janus/rt.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

static int64_t round_trip(void* text) {
  unsigned char packed[400];
  char back[400];
  uLongf packed_bytes = sizeof packed, back_bytes = sizeof back;
  const int ok = compress(packed, &packed_bytes, text, strlen(text) + 1) == Z_OK &&
                 uncompress((unsigned char*)back, &back_bytes, packed, packed_bytes) == Z_OK;
  return ok && strcmp(back, text) == 0 ? 0 : -1;
}

int main(void) {
  janus_nursery_create();
  janus_nursery_spawn(round_trip, "round and round and round");
  const long status = janus_nursery_await_all();
  printf("%s %ld\n", zlibVersion(), status);
  return status == 0 ? 0 : 1;
}
