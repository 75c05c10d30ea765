// SPDX-License-Identifier: Apache-2.0
// primes [LIMIT]: finds the primes below LIMIT with a chain of channels: the task of each prime reads numbers from the
// channel before it and passes on those that its prime does not divide.
#include "size.h"

struct stage {
  janus_channel *in, *out;
  long prime;  // in the first stage: the limit
};

static int64_t generate(void* arg) {
  struct stage* stage = arg;
  for (long n = 2; n < stage->prime; ++n)
    if (janus_channel_send(stage->out, &n) < 0) return JANUS_CANCELLED;
  return janus_channel_close(stage->out);
}

static int64_t filter(void* arg) {
  struct stage* stage = arg;
  long n;
  int status;
  while ((status = janus_channel_recv(stage->in, &n)) == 0)
    if (n % stage->prime && (status = janus_channel_send(stage->out, &n)) < 0) break;
  janus_channel_close(stage->out);
  janus_channel_release(stage->in);
  janus_free(stage);
  return status == JANUS_E_CLOSED ? 0 : status;
}

static long primes_below(long limit) {
  long found = 0;
  for (long n = 2; n < limit; ++n) {
    long factor = 2;
    while (factor * factor <= n && n % factor) ++factor;
    found += factor * factor > n;
  }
  return found;
}

// Adds a stage for each number that reaches the end of the chain. The stages end when the numbers do.
static long sieve(janus_nursery* nursery, janus_channel* first) {
  long found = 0, prime;
  janus_channel* in = first;
  for (; janus_channel_recv(in, &prime) == 0; ++found) {
    struct stage* stage = janus_alloc(sizeof *stage);
    if (!stage) return -1;
    janus_channel* out = janus_channel_create(sizeof(long), 16);
    *stage = (struct stage){in, out, prime};
    if (!janus_nursery_spawn_in(nursery, filter, stage, NULL).raw) return -1;
    in = out;  // from here on only the task uses the stage, which may be gone already
  }
  janus_channel_release(in);
  return found;
}

int main(int argc, char** argv) {
  const long limit = size_argument(argc, argv, 5000, 1000000);
  struct stage source = {.out = janus_channel_create(sizeof(long), 16), .prime = limit};
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  janus_nursery_spawn_in(nursery, generate, &source, NULL);
  const long found = sieve(nursery, source.out);
  if (found < 0) janus_nursery_cancel(nursery);
  const long status = janus_nursery_await(nursery, NULL);
  janus_nursery_destroy(nursery);
  janus_print(1, "%ld primes below %ld\n", found, limit);
  return status < 0 || found != primes_below(limit);
}
