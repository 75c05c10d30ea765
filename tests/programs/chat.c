// SPDX-License-Identifier: Apache-2.0
// chat [SIZE]: a room with SIZE users. What one says the room sends to all; a whisper goes from user to user. Each user
// types in one task and reads in another, which takes a whisper before all that was said. Prints what they have read.
#include <janus/supervise.h>

#include "size.h"

enum { kLines = 3 };
enum { SAID, WHISPER, END };

typedef struct {
  int kind;
  long from;
} line;

typedef struct {
  long number, heard, whispers;
  janus_mailbox* inbox;
} user;

static janus_mailbox* room;
static user* users;
static long size;

static int64_t run_room(void* nothing) {
  (void)nothing;
  line said;
  for (long left = size; left > 0;) {
    if (janus_mailbox_recv(room, &said) != 0) return JANUS_CANCELLED;
    left -= said.kind == END;
    for (long i = 0; i < size && said.kind == SAID; ++i) janus_mailbox_send(users[i].inbox, &said);
  }
  for (long i = 0; i < size; ++i) janus_mailbox_close(users[i].inbox);
  return 0;
}

static int64_t type(void* arg) {
  user* const self = arg;
  for (int i = 0; i < kLines; ++i) janus_mailbox_send(room, &(line){SAID, self->number});
  janus_mailbox_send(users[(self->number + 1) % size].inbox, &(line){WHISPER, self->number});
  return janus_mailbox_send(room, &(line){END, self->number});
}

static int is_whisper(const void* message, void* nothing) {
  (void)nothing;
  return ((const line*)message)->kind == WHISPER;
}

static int64_t read_all(void* arg) {
  user* const self = arg;
  line next;
  for (;;) {
    int status = janus_mailbox_recv_match_until(self->inbox, is_whisper, NULL, &next, 1);  // if there is one
    if (status != 0) status = janus_mailbox_recv(self->inbox, &next);
    if (status != 0) return status == JANUS_E_CLOSED ? 0 : status;
    self->heard += next.kind == SAID;
    self->whispers += next.kind == WHISPER && next.from == (self->number + size - 1) % size;
  }
}

int main(int argc, char** argv) {
  size = size_argument(argc, argv, 100, 2000);
  room = janus_mailbox_create(sizeof(line), 8);
  users = janus_alloc((size_t)size * sizeof *users);
  for (long i = 0; i < size; ++i) users[i] = (user){i, 0, 0, janus_mailbox_create(sizeof(line), 8)};
  janus_nursery* const chat = janus_nursery_open(NULL, NULL);
  janus_nursery_spawn_in(chat, run_room, NULL, NULL);
  for (long i = 0; i < size; ++i) {
    janus_nursery_spawn_in(chat, read_all, &users[i], NULL);
    janus_nursery_spawn_in(chat, type, &users[i], NULL);
  }
  janus_nursery_await(chat, NULL);
  janus_nursery_destroy(chat);
  long heard = 0, whispers = 0;
  for (long i = 0; i < size; ++i) {
    if (users[i].heard != size * kLines || users[i].whispers != 1) return 1;
    heard += users[i].heard;
    whispers += users[i].whispers;
    janus_mailbox_release(users[i].inbox);
  }
  janus_free(users);
  janus_mailbox_release(room);
  janus_print(1, "%ld users heard %ld lines and %ld whispers\n", size, heard, whispers);
}
