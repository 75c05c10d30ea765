// SPDX-License-Identifier: Apache-2.0
// hello: one nursery, one task. Its stripped size is what the runtime adds to a program.
#include <janus/rt.h>

static int64_t greet(void* arg) {
  (void)arg;
  return janus_print(1, "hello\n");
}

int main(void) {
  if (!janus_nursery_create() || janus_nursery_spawn(greet, NULL) < 0) return 1;
  return janus_nursery_await_all() < 0;
}
