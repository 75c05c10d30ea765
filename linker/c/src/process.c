// SPDX-License-Identifier: Apache-2.0
// process.c: the end of a task or of the program.
#include <assert.h>
#include <janus/rt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "linker/c/src/define.h"
#include "linker/start/program.h"

// Ends the task that calls it, and the program if that is main's.
JANUS_C_DEFINE void abort(void) {
  janus_task_panic("abort() was called");
}

JANUS_C_DEFINE void __assert_fail(const char* condition, const char* file, unsigned line, const char* function) {
  char why[256];
  snprintf(why, sizeof why, "%s:%u: %s: assertion failed: %s", file, line, function, condition);
  janus_task_panic(why);
}

JANUS_C_DEFINE void _Exit(int status) {
  janus_exit(status);
}
JANUS_C_DEFINE void _exit(int status) {
  janus_exit(status);
}

JANUS_C_DEFINE void exit(int status) {
  janus_run_fini();
  janus_exit(status);
}

// The state is the program's; one step is atomic, so tasks never get the same number from the same step.
static unsigned next_random = 1;

static int scramble(unsigned state) {
  unsigned x = state;
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return (int)((x ^ x >> 16) & RAND_MAX);
}

JANUS_C_DEFINE void srand(unsigned seed) {
  __atomic_store_n(&next_random, seed, __ATOMIC_RELAXED);
}
JANUS_C_DEFINE int rand(void) {
  return scramble(__atomic_fetch_add(&next_random, 0x9e3779b9u, __ATOMIC_RELAXED));
}
JANUS_C_DEFINE int rand_r(unsigned* state) {
  return scramble(*state += 0x9e3779b9u);
}
