// SPDX-License-Identifier: Apache-2.0
// authority_calls.c [exit HOW] — calls each function of the headers in tasks that have different claims to it, and prints its
// name and whether they may: a letter for each way, y or n (JANUS_E_NO_CAP). With "exit" it calls janus_exit(7) in one of
// these ways. authority_calls_test.py compares the letters with the table in docs/security.md.
#include <stdlib.h>

#include "each_call.h"

enum way {
  OWNER,     // outside cages, below the task that has made everything
  CAGED,     // in a cage that has enough of everything, made for it by that task
  STRANGER,  // neither the owner of what it names nor below it
  RIGHTS,    // and rights, from 0 to 63: as OWNER, but confined to them
  WAYS = RIGHTS + 64,
};

static const janus_budget none, roomy = {1000000, 4 << 20, 1000, 1000, 1000};
static janus_cap all;  // the token by which this program spawns where nothing is implicit; {0} elsewhere
static janus_cap only[64];

typedef struct {
  int64_t (*make)(void);
  enum way way;
  int64_t answer;
  janus_channel* is_made;
} trial;

static int64_t try_it(void* arg) {
  trial* const this = arg;
  mine = janus_nursery_open(0, 0);
  with_ended = janus_nursery_open(0, 0);
  if (this->way < RIGHTS) janus_nursery_spawn_in(with_ended, nothing, 0, 0);  // else it might leave an error behind
  janus_nursery_create();
  this->answer = this->make();
  return 0;
}

static janus_nursery* open_nursery(janus_cap cap, janus_budget budget) {
  const janus_nursery_options options = {
      .on_error = JANUS_ON_ERROR_COLLECT, .on_exhaustion = JANUS_ON_EXHAUSTION_DENY, .cap = cap, .budget = budget};
  return janus_nursery_open(0, &options);
}

static void try_below(janus_nursery* nursery, janus_cap cap, trial* this) {
  const janus_spawn_options options = {.cap = cap};
  const janus_task task = janus_nursery_spawn_in(nursery, try_it, this, &options);
  if (task.raw == 0 || janus_task_join(task, 0) != 0) janus_exit(3);
  janus_task_result(task, &result);
  if (result.kind == JANUS_KIND_PANIC) this->answer = result.cause == JANUS_CAUSE_MISUSE ? JANUS_E_NO_CAP : JANUS_PANIC;
}

// Makes what the calls name, and makes the call in a task below itself, unless a stranger is to do that.
static int64_t keep(void* arg) {
  trial* const this = arg;
  janus_nursery* const nursery = open_nursery(all, none);
  others = open_nursery(all, roomy);
  ended = janus_nursery_spawn_in(nursery, nothing, 0, 0);
  janus_task_join(ended, 0);
  parked = janus_nursery_spawn_in(nursery, park_until_cancelled, 0, 0);
  victim = janus_nursery_spawn_in(nursery, park_until_cancelled, 0, 0);
  if (this->way == STRANGER) {
    janus_channel_send(this->is_made, &word);
    return janus_park(-1);
  }
  if (this->way == CAGED)
    try_below(open_nursery((janus_cap){0}, roomy), (janus_cap){0}, this);  // no token is presented to the cage
  else if (this->way == OWNER)
    try_below(nursery, (janus_cap){0}, this);
  else
    try_below(nursery, only[this->way - RIGHTS], this);
  return JANUS_CANCELLED;  // what it leaves open is cancelled
}

static int64_t answer_of(int64_t (*make)(void), enum way way) {
  trial this = {make, way, 1, janus_channel_create(sizeof word, 1)};
  channel = janus_channel_create(sizeof word, 2);
  janus_channel_send(channel, &word);
  open_channel = 0;
  block = 0;
  janus_local_new(&key, 0);
  janus_nursery* const nursery = open_nursery(all, none);
  const janus_task keeper = janus_nursery_spawn_in(nursery, keep, &this, 0);
  if (way == STRANGER) {
    janus_channel_recv(this.is_made, &word);
    try_below(nursery, (janus_cap){0}, &this);
    janus_task_cancel(keeper);
  }
  janus_nursery_await(nursery, 0);
  janus_nursery_destroy(nursery);
  janus_free(block);
  janus_channel_release(open_channel);
  janus_channel_release(channel);
  janus_channel_release(this.is_made);
  janus_local_delete(key);
  return this.answer;
}

int main(int argc, char** argv) {
  const janus_cap root = janus_cap_root(0);
  janus_nursery_create();
  if (janus_nursery_spawn(nothing, 0) != 0) all = janus_cap_derive(root, 63, none);
  janus_nursery_await_all();
  for (uint32_t rights = 0; rights < 64; ++rights) only[rights] = janus_cap_derive(root, rights, none);
  if (argc > 2) return answer_of(leave, (enum way)atoi(argv[2])) == JANUS_E_NO_CAP ? 8 : 9;
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; ++i) {
    char letters[WAYS + 1];
    for (int way = 0; way < WAYS; ++way)
      letters[way] = answer_of(calls[i].make, (enum way)way) == JANUS_E_NO_CAP ? 'n' : 'y';
    letters[WAYS] = 0;
    janus_print(1, "%s %s\n", calls[i].name, letters);
  }
  return 0;
}
