// SPDX-License-Identifier: Apache-2.0
// errno.c: one errno for each task, in the task's frame. Threads outside tasks share one.
#include <errno.h>
#include <stddef.h>

#include "linker/c/src/define.h"

// A function of the runtime (rt/abi/yield.cpp). NULL outside tasks.
int* janus_task_errno(void);

static int shared_errno;

JANUS_C_DEFINE int* __errno_location(void) {
  int* const own = janus_task_errno();
  return own != NULL ? own : &shared_errno;
}
