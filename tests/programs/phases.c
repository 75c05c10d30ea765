// SPDX-License-Identifier: Apache-2.0
// phases PHASE...: prints the name of each phase at its beginning, and goes on to the next phase when it reads a byte.
// pinning_test.py watches from outside.
#include <janus/rt.h>
#include <string.h>

static int over;  // the number of the last phase that is over, from 1

static void* read_byte(void) {
  static char byte;
  return janus_syscall(0, 0L, &byte, 1L) == 1 ? &byte : NULL;
}

// Occupies the worker in a system call, as a plugin that reads would.
static int64_t wait_for_byte(void* phase) {
  (void)read_byte();
  __atomic_store_n(&over, (int)(intptr_t)phase, __ATOMIC_RELEASE);
  return 0;
}

static int64_t work(void* phase) {
  while (__atomic_load_n(&over, __ATOMIC_ACQUIRE) < (int)(intptr_t)phase) janus_yield_check(100);
  return 0;
}

// main alone, in a loop that never yields. It polls the clock, since waiting for input would be a sleep.
static void work_alone(void) {
  const uint64_t until = janus_now_ns() + 120000000000;  // the test ends the program before
  while (janus_now_ns() < until) continue;
}

static void work_together(int phase) {
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  for (int i = 0; i < 3; i++) janus_nursery_spawn_in(nursery, work, (void*)(intptr_t)phase, NULL);
  janus_nursery_spawn_in(nursery, wait_for_byte, (void*)(intptr_t)phase, NULL);
  janus_nursery_await(nursery, NULL);
  janus_nursery_destroy(nursery);
}

// main is one of the working tasks, and is left alone without having waited for anything.
static void work_beside(int phase) {
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  janus_nursery_spawn_in(nursery, wait_for_byte, (void*)(intptr_t)phase, NULL);
  work((void*)(intptr_t)phase);
  janus_print(1, "left alone\n");
  work_alone();
  janus_nursery_await(nursery, NULL);
  janus_nursery_destroy(nursery);
}

int main(int argc, char** argv) {
  for (int phase = 1; phase < argc; phase++) {
    janus_print(1, "%s\n", argv[phase]);
    if (!strcmp(argv[phase], "alone")) work_alone();
    if (!strcmp(argv[phase], "together")) work_together(phase);
    if (!strcmp(argv[phase], "beside")) work_beside(phase);
  }
  return 0;
}
