// SPDX-License-Identifier: Apache-2.0
// cancelled_calls.c [exit [cancelled]] — calls each function of the headers in a task and again in a cancelled task,
// and prints its name and both answers. With "exit" the program calls janus_exit(7). cancelled_calls_test.py compares
// the answers with the table in docs/nurseries.md.
#include "each_call.h"

typedef struct {
  int64_t (*make)(void);
  int is_cancelled;
  int64_t answer;
} trial;

static int64_t try_it(void* arg) {
  trial* const this = arg;
  mine = janus_nursery_open(0, 0);
  with_ended = janus_nursery_open(0, 0);
  janus_nursery_spawn_in(with_ended, nothing, 0, 0);
  janus_nursery_create();
  while (this->is_cancelled && !janus_cancelled()) janus_yield();
  this->answer = this->make();
  return 0;
}

static int64_t answer_of(int64_t (*make)(void), int is_cancelled) {
  trial this = {make, is_cancelled, 0};
  janus_nursery* const nursery = janus_nursery_open(0, &(janus_nursery_options){.on_error = JANUS_ON_ERROR_COLLECT});
  others = janus_nursery_open(0, &(janus_nursery_options){.budget = {1000000, 1 << 20, 10, 10, 10}});
  channel = janus_channel_create(sizeof word, 2);
  janus_channel_send(channel, &word);
  open_channel = 0;
  block = 0;
  janus_local_new(&key, 0);
  ended = janus_nursery_spawn_in(nursery, nothing, 0, 0);
  janus_task_join(ended, 0);
  parked = janus_nursery_spawn_in(nursery, park_until_cancelled, 0, 0);
  victim = janus_nursery_spawn_in(nursery, park_until_cancelled, 0, 0);
  const janus_task task = janus_nursery_spawn_in(nursery, try_it, &this, 0);
  if (is_cancelled) {
    janus_yield();
    while (janus_task_state(task) == JANUS_TASK_CREATED) janus_yield();
    janus_task_cancel(task);
  }
  janus_task_join(task, 0);
  janus_task_result(task, &result);
  if (result.kind == JANUS_KIND_PANIC) this.answer = JANUS_PANIC;
  janus_task_cancel(parked);
  janus_task_cancel(victim);
  janus_nursery_await(nursery, 0);
  janus_nursery_destroy(nursery);
  janus_nursery_await(others, 0);
  janus_nursery_destroy(others);
  janus_free(block);
  janus_channel_release(open_channel);
  janus_channel_release(channel);
  janus_local_delete(key);
  return this.answer;
}

int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) return (int)answer_of(leave, argc > 2);
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; ++i) {
    const int64_t as_ever = answer_of(calls[i].make, 0);
    janus_print(1, "%s %lld %lld\n", calls[i].name, (long long)as_ever, (long long)answer_of(calls[i].make, 1));
  }
}
