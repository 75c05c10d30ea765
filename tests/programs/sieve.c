// SPDX-License-Identifier: Apache-2.0
// sieve [LIMIT]: finds the primes below LIMIT with a chain of tasks, each with a mailbox: that of a prime passes on the
// numbers that its prime does not divide. Each tells main its prime; main takes what they say in the order of the chain.
#include <janus/supervise.h>

#include "size.h"

typedef struct {
  long place, prime;
} found;

static janus_mailbox* told;  // what main is told
static janus_nursery* chain;

typedef struct {
  janus_mailbox* numbers;
  long place;
} stage;

static int64_t filter(void* arg);

static stage* start_stage(long place) {
  stage* const next = janus_alloc(sizeof *next);
  *next = (stage){janus_mailbox_create(sizeof(long), 16), place};
  janus_nursery_spawn_in(chain, filter, next, NULL);
  return next;
}

// 0 is the last number of all.
static int64_t filter(void* arg) {
  stage* const self = arg;
  stage* next = NULL;
  long prime = 0, n = 0;
  while (janus_mailbox_recv(self->numbers, &n) == 0 && n != 0) {
    if (prime == 0) {
      prime = n;
      janus_mailbox_send(told, &(found){self->place, prime});
    } else if (n % prime != 0) {
      if (next == NULL) next = start_stage(self->place + 1);
      janus_mailbox_send(next->numbers, &n);
    }
  }
  if (next != NULL)
    janus_mailbox_send(next->numbers, &n);
  else
    janus_mailbox_send(told, &(found){self->place + (prime != 0), 0});
  janus_mailbox_release(self->numbers);
  janus_free(self);
  return 0;
}

static int64_t generate(void* arg) {
  stage* const first = start_stage(0);
  for (long n = 2; n < *(long*)arg; ++n) janus_mailbox_send(first->numbers, &n);
  return janus_mailbox_send(first->numbers, &(long){0});
}

static int is_at(const void* message, void* place) {
  return ((const found*)message)->place == *(long*)place;
}

int main(int argc, char** argv) {
  long limit = size_argument(argc, argv, 5000, 100000);
  told = janus_mailbox_create(sizeof(found), 64);
  chain = janus_nursery_open(NULL, NULL);
  janus_nursery_spawn_in(chain, generate, &limit, NULL);
  found next = {0, 0};
  long count = 0, last = 1;
  for (;; ++count) {
    janus_mailbox_recv_match(told, is_at, &count, &next);
    if (next.prime == 0) break;
    if (next.prime <= last) return 1;
    last = next.prime;
  }
  janus_nursery_await(chain, NULL);
  janus_nursery_destroy(chain);
  janus_mailbox_release(told);
  janus_print(1, "%ld primes below %ld\n", count, limit);
}
