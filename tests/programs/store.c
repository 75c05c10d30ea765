// SPDX-License-Identifier: Apache-2.0
// store [SIZE]: a key-value store of SIZE actors, each a task with a mailbox that holds one key, below a supervisor. Eight
// clients put and get. One actor in a hundred dies of what it is sent: its supervisor starts it again, with the mailbox
// that it had, and without the value. Prints what the clients have counted.
#include <janus/supervise.h>

#include "size.h"

enum { kClients = 8, kRounds = 3, kDeadlyEvery = 100 };
enum { PUT, GET, DIE };

typedef struct {
  int what;
  long reference, value;
  janus_mailbox* client;
} request;
typedef struct {
  long reference, value;
} reply;

static janus_mailbox** keys;  // of the actors
static long size;

static int64_t serve(void* own) {
  janus_mailbox* const requests = own;
  long value = 0;
  for (request next; janus_mailbox_recv(requests, &next) == 0;) {
    if (next.what == DIE) return -1;
    if (next.what == PUT) value = next.value;
    const reply answer = {next.reference, value};
    if (janus_mailbox_send(next.client, &answer) != 0) break;
  }
  return JANUS_CANCELLED;
}

typedef struct {
  long number, requests, lost, wrong;
  janus_mailbox* replies;
} client;

static int is_of(const void* message, void* reference) {
  return ((const reply*)message)->reference == *(long*)reference;
}

static void ask(client* self, long key, int what, long reference, long value) {
  const request next = {what, reference, value, self->replies};
  janus_mailbox_send(keys[key], &next);
  ++self->requests;
}

// Asks each of its keys for two things at once, and takes the second answer first.
static int64_t use(void* arg) {
  client* const self = arg;
  for (long round = 1; round <= kRounds; ++round)
    for (long key = self->number; key < size; key += kClients) {
      const long value = round * size + key;
      long first = 2 * value, second = first + 1;
      reply put, got;
      ask(self, key, PUT, first, value);
      if (key % kDeadlyEvery == 0) ask(self, key, DIE, 0, 0);
      ask(self, key, GET, second, 0);
      janus_mailbox_recv_match(self->replies, is_of, &second, &got);
      janus_mailbox_recv_match(self->replies, is_of, &first, &put);
      self->lost += got.value == 0;
      self->wrong += put.value != value || (got.value != value && got.value != 0);
    }
  return 0;
}

static int64_t supervise(void* supervisor) {
  return janus_supervisor_run(supervisor);
}

int main(int argc, char** argv) {
  size = size_argument(argc, argv, 10000, 100000);
  const janus_supervisor_options options = {.max_restarts = JANUS_RESTARTS_ANY, .name = "store"};
  janus_supervisor* const supervisor = janus_supervisor_open(NULL, &options);
  keys = janus_alloc((size_t)size * sizeof *keys);
  for (long i = 0; i < size; ++i) {
    keys[i] = janus_mailbox_create(sizeof(request), 4);
    const janus_child_spec actor = {.start = serve, .arg = keys[i]};
    if (janus_supervisor_add(supervisor, &actor) != i + 1) return 1;
  }
  janus_nursery* const store = janus_nursery_open(NULL, &(janus_nursery_options){.on_error = JANUS_ON_ERROR_COLLECT});
  janus_nursery_spawn_in(store, supervise, supervisor, NULL);
  client clients[kClients] = {{0}};
  janus_nursery* const users = janus_nursery_open(NULL, NULL);
  for (int i = 0; i < kClients; ++i) {
    clients[i].number = i;
    clients[i].replies = janus_mailbox_create(sizeof(reply), 4);
    janus_nursery_spawn_in(users, use, &clients[i], NULL);
  }
  janus_nursery_await(users, NULL);
  janus_nursery_destroy(users);
  long requests = 0, lost = 0, wrong = 0;
  for (int i = 0; i < kClients; ++i) {
    requests += clients[i].requests;
    lost += clients[i].lost;
    wrong += clients[i].wrong;
    janus_mailbox_release(clients[i].replies);
  }
  janus_supervisor_close(supervisor);
  janus_nursery_await(store, NULL);
  janus_nursery_destroy(store);
  for (long i = 0; i < size; ++i) janus_mailbox_release(keys[i]);
  janus_free(keys);
  if (wrong != 0) return 1;
  janus_print(1, "%ld actors, %ld requests, %ld values lost in %ld deaths\n", size, requests, lost, lost);
}
