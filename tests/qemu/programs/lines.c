// SPDX-License-Identifier: Apache-2.0
// lines: prints 4,000 lines of 63 letters, from 100 tasks.
#include <janus/rt.h>

static int64_t print_some(void* unused) {
  (void)unused;
  for (int i = 0; i < 40; ++i) janus_print(1, "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk\n");
  return 0;
}

int main(void) {
  janus_nursery_create();
  for (int i = 0; i < 100; ++i) janus_nursery_spawn(print_some, NULL);
  return (int)janus_nursery_await_all();
}
