// SPDX-License-Identifier: Apache-2.0
// retries [SIZE]: SIZE requests to a server that answers the nth one only when it is asked for the (n % 4 + 1)th time. The
// client waits for an answer for a time, then as long again before it asks again; both double each time. Prints how many
// requests were answered, and how often the server kept silent.
#include "size.h"

typedef struct {
  long number;
  int attempt;
} request;

static janus_channel *requests, *answers;
static long silent;

static int64_t serve(void* unused) {
  (void)unused;
  for (request asked; janus_channel_recv(requests, &asked) == 0;) {
    if (asked.attempt < asked.number % 4)
      ++silent;
    else if (janus_channel_send(answers, &asked.number) != 0)
      break;
  }
  return 0;
}

// An answer may come after its time, when another request is out: it is dropped then.
static int has_answer(long number, uint64_t until) {
  long answered = -1;
  while (answered != number)
    if (janus_channel_recv_until(answers, &answered, until) != 0) return 0;
  return 1;
}

int main(int argc, char** argv) {
  const long size = size_argument(argc, argv, 20, 10000);
  requests = janus_channel_create(sizeof(request), 1);
  answers = janus_channel_create(sizeof(long), 64);
  janus_nursery* server = janus_nursery_open(NULL, NULL);
  janus_nursery_spawn_in(server, serve, NULL, NULL);
  for (long number = 0; number < size; number++) {
    uint64_t patience = 100000;
    request ask = {number, 0};
    for (janus_channel_send(requests, &ask); !has_answer(number, janus_now_ns() + patience); patience *= 2) {
      janus_sleep_ns(patience);
      ++ask.attempt;
      janus_channel_send(requests, &ask);
    }
  }
  janus_channel_close(requests);
  janus_channel_close(answers);
  janus_nursery_await(server, NULL);
  janus_nursery_destroy(server);
  janus_channel_release(requests);
  janus_channel_release(answers);
  janus_print(1, "%ld requests answered, %ld times silent\n", size, silent);
}
