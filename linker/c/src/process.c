// SPDX-License-Identifier: Apache-2.0
// process.c: abort, exit and assert, which end a task or the program; rand.
#include <assert.h>
#include <janus/rt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "linker/c/src/define.h"
#include "linker/start/program.h"

// Panics the calling task, which ends the program if it is main's task.
JANUS_C_DEFINE void abort(void) {
  janus_panic_because(JANUS_CAUSE_ABORT, "abort() was called");
}

JANUS_C_DEFINE void __assert_fail(const char* condition, const char* file, unsigned line, const char* function) {
  char why[256];
  snprintf(why, sizeof why, "%s:%u: %s: assertion failed: %s", file, line, function, condition);
  janus_panic_because(JANUS_CAUSE_ABORT, why);
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

// One state for the whole program. A step is atomic, so two tasks never get their numbers from the same step.
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
