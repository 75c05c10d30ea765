// SPDX-License-Identifier: Apache-2.0
// errno.c: one errno a task, made when the task first asks where it is. Threads outside tasks share one, as do
// tasks that have no memory left for their own: it then still tells the one who looks at once.
#include <errno.h>
#include <janus/rt.h>

#include "linker/c/src/define.h"

static int shared_errno;

// kNoKey until somebody wants one, kBusy while it is made, then the key plus kFirstKey.
enum { kNoKey, kBusy, kFirstKey };
static uint64_t key_state;

// Makes the key, unless another task was first. Gives the state that follows.
static uint64_t make_key(void) {
  uint64_t state = kNoKey;
  if (!__atomic_compare_exchange_n(&key_state, &state, kBusy, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) return state;
  janus_local_key key;
  state = janus_local_new(&key, janus_free) < 0 ? kNoKey : key.raw + (uint64_t)kFirstKey;
  __atomic_store_n(&key_state, state, __ATOMIC_RELEASE);  // pairs with the acquire in find_key
  return state;
}

// False if there is no key to be had.
static int find_key(janus_local_key* key) {
  uint64_t state = __atomic_load_n(&key_state, __ATOMIC_ACQUIRE);
  if (state == kNoKey) state = make_key();
  // Whoever takes another place meanwhile would look for its error in its own one later.
  for (; state == kBusy; state = __atomic_load_n(&key_state, __ATOMIC_ACQUIRE)) janus_yield();
  if (state == kNoKey) return 0;
  key->raw = (uint32_t)(state - kFirstKey);
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
