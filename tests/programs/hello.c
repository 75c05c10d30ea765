// SPDX-License-Identifier: Apache-2.0
// hello [N]: N tasks print hello.
#include "size.h"

static int64_t greet(void* arg) {
  long* greetings = arg;
  janus_print(1, "hello from task %llu\n", (unsigned long long)janus_task_id());
  __atomic_fetch_add(greetings, 1, __ATOMIC_RELAXED);
  return 0;
}

int main(int argc, char** argv) {
  const long n = size_argument(argc, argv, 3, 1000000);
  long greetings = 0;
  janus_nursery_create();
  for (long i = 0; i < n; ++i) janus_nursery_spawn(greet, &greetings);
  const long status = janus_nursery_await_all();
  return status < 0 || greetings != n;
}
