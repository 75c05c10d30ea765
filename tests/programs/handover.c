// SPDX-License-Identifier: Apache-2.0
// handover [stay]: a client and a server pass elements directly to each other, until a request is never answered. Both
// then wait, each in a wait that began with a direct hand-over. main awaits them, which is a deadlock; with `stay` it
// closes the channels at the end of its input.
#include <errno.h>
#include <janus/rt.h>

enum { kRequests = 100, kForgotten = 50 };
static janus_channel *requests, *answers;
static janus_task waiting[2];

__attribute__((noinline)) static int ask(void) {
  long value = 1;
  int status = janus_channel_send(requests, &value);
  if (status == 0) status = janus_channel_recv(answers, &value);
  __asm__ volatile("");  // keeps the call above from becoming a tail call
  return status;
}
static int64_t client(void* unused) {
  (void)unused;
  for (int i = 0; i < kRequests; i++)
    if (ask() != 0) return 0;
  return 1;
}
static int64_t server(void* unused) {
  (void)unused;
  long value;
  for (int served = 1; janus_channel_recv(requests, &value) == 0; served++) {
    if (served == kForgotten) continue;
    if (janus_channel_send(answers, &value) != 0) break;
  }
  return 0;
}

static void read_to_end(void) {
  char byte;
  int64_t got;
  for (int i = 0; i < 2; i++)
    while (janus_task_state(waiting[i]) != JANUS_TASK_BLOCKED) janus_yield();
  janus_print(1, "here\n");
  do got = janus_syscall(0, 0L, &byte, 1L);
  while (got > 0 || got == -EINTR);
  janus_channel_close(requests);
  janus_channel_close(answers);
}

int main(int argc, char** argv) {
  (void)argv;
  requests = janus_channel_create(sizeof(long), 0);
  answers = janus_channel_create(sizeof(long), 0);
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  waiting[0] = janus_nursery_spawn_in(nursery, server, NULL, NULL);
  waiting[1] = janus_nursery_spawn_in(nursery, client, NULL, NULL);
  if (argc > 1) read_to_end();
  return (int)janus_nursery_await(nursery, NULL);
}
