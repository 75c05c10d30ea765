// SPDX-License-Identifier: Apache-2.0
// errno.c: one errno a task, made when the task first asks where it is. Threads outside tasks share one, as do
// tasks that have no memory left for their own: it then still tells the one who looks at once.
#include <errno.h>
#include <janus/rt.h>
#include <stdatomic.h>

#include "linker/c/src/define.h"

static int shared_errno;

// 0: nobody made the key yet. 1: somebody is at it. Else the key plus 2.
static _Atomic(uint64_t) key_state;

// False while there is no key: outside of any runtime, or for the moment in which another task makes it.
static int find_key(janus_local_key* key) {
  uint64_t state = atomic_load_explicit(&key_state, memory_order_acquire);  // pairs with the release below
  if (state == 0 && atomic_compare_exchange_strong(&key_state, &state, 1)) {
    const int made = janus_local_new(key, janus_free) >= 0;
    state = made ? (uint64_t)key->raw + 2 : 0;
    atomic_store_explicit(&key_state, state, memory_order_release);
  }
  if (state < 2) return 0;
  key->raw = (uint32_t)(state - 2);
  return 1;
}

static int* make_errno(janus_local_key key) {
  int* own = janus_alloc(sizeof(int));
  if (own == NULL) return &shared_errno;
  *own = 0;
  if (janus_local_set(key, own) >= 0) return own;
  janus_free(own);
  return &shared_errno;
}

JANUS_C_DEFINE int* __errno_location(void) {
  janus_local_key key;
  if (janus_task_id() == 0 || !find_key(&key)) return &shared_errno;
  int* own = janus_local_get(key);
  return own != NULL ? own : make_errno(key);
}
