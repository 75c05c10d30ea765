// SPDX-License-Identifier: Apache-2.0
// errno.c: one errno for each task, allocated when the task first uses it. Threads outside tasks share one, and so do
// tasks that have no memory left for their own: its value is then right only if it is read at once.
#include <errno.h>
#include <janus/rt.h>

#include "linker/c/src/define.h"

static int shared_errno;

// Written by the root task before any other task exists, and charged to the root task's account: so no task can end in
// the middle of making the key, and the key does not go away with a budget.
static janus_local_key key;
static int has_key;

static void make_key(int argc, char** argv, char** envp) {
  (void)argc;
  (void)argv;
  (void)envp;
  has_key = janus_local_new(&key, janus_free) >= 0;
}
__attribute__((__section__(".preinit_array"), __used__)) static void (*const make_key_first)(int, char**,
                                                                                             char**) = make_key;

static int* make_errno(void) {
  int* own = janus_alloc(sizeof(int));
  if (own == NULL) return &shared_errno;
  *own = 0;
  if (janus_local_set(key, own) >= 0) return own;
  janus_free(own);
  return &shared_errno;
}

JANUS_C_DEFINE int* __errno_location(void) {
  if (!has_key || janus_task_id() == 0) return &shared_errno;
  int* own = janus_local_get(key);
  return own != NULL ? own : make_errno();
}
