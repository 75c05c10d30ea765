// SPDX-License-Identifier: Apache-2.0
// A task below an explicit budget can neither end the process, nor run its exit functions early, nor register one,
// which would run on the root's budget.
#include <unistd.h>

#include "hostile.h"

static janus_budget when_it_ran;
static int ran;

static void run_with_whose_budget(void) {
  ran = 1;
  when_it_ran = janus_budget_get_current();
  if (when_it_ran.ops == UINT32_MAX) {
    janus_print(1, "a caged function runs with the root's budget\n");
    _exit(7);
  }
}

static int64_t leave(void* how) {
  switch ((int)(uintptr_t)how) {
    case 0:
      janus_exit(9);
    case 1:
      exit(9);
    case 2:
      _exit(9);
    default:
      _Exit(9);
  }
  return 0;
}

static int64_t leave_by_a_child(void* how) {
  janus_nursery* nursery = open_plain();
  spawn_roomy(nursery, leave, how);
  return close_cage(nursery);
}

static int64_t leave_a_function(void* unused) {
  (void)unused;
  return atexit(run_with_whose_budget) == 0 ? 0 : -5;
}

// Functions that the runtime and exit() call.
void janus_run_at_exit(void);
void janus_run_fini(void);

static int mains_turn, was_early;

static void end_of_main(void) {
  was_early += !mains_turn;
}

static int64_t run_what_is_mains(void* unused) {
  (void)unused;
  janus_run_at_exit();
  janus_run_fini();
  return 0;
}

static int64_t attack(void* unused) {
  (void)unused;
  for (int how = 0; how < 4; ++how) {
    CHECK_EQ(run_in_cage(roomy(), leave, (void*)(uintptr_t)how), JANUS_PANIC);
    CHECK_EQ(run_in_cage(roomy(), leave_by_a_child, (void*)(uintptr_t)how), JANUS_PANIC);
  }
  CHECK_EQ(run_in_cage(roomy(), run_what_is_mains, NULL), 0);
  CHECK_EQ(was_early, 0);
  const long status = run_in_cage(roomy(), leave_a_function, NULL);
  CHECK_THAT(status, status == 0 || status == -5 || status == JANUS_PANIC);
  return 0;
}

int main(void) {
  CHECK_EQ(atexit(end_of_main), 0);
  CHECK_EQ(beside_a_neighbour(300, attack, NULL), 0);
  mains_turn = 1;
  return end();
}
