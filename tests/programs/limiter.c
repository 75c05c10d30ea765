// SPDX-License-Identifier: Apache-2.0
// limiter [SIZE]: a rate limiter. A task puts a token into a channel each millisecond; the channel has room for as many as
// may be used at once. SIZE tasks take one each, 8 of them at a time. Prints whether any had one too early.
#include "size.h"

enum { kAtOnce = 4, kAtATime = 8 };
static const uint64_t kPeriod = 1000000;
static janus_channel* tokens;
static uint64_t started;
static long used, too_early;

// What does not fit is lost: who was idle for long has kAtOnce tokens and no more.
static int64_t fill(void* unused) {
  (void)unused;
  const char token = 0;
  for (uint64_t n = 1; janus_sleep_until(started + n * kPeriod) == 0; n++) janus_channel_try_send(tokens, &token);
  return JANUS_CANCELLED;
}

// The nth token beyond the first kAtOnce is there after n periods.
static int64_t call(void* unused) {
  (void)unused;
  char token;
  if (janus_channel_recv(tokens, &token) != 0) return JANUS_CANCELLED;
  const long number = __atomic_fetch_add(&used, 1, __ATOMIC_RELAXED);
  if (number >= kAtOnce && janus_now_ns() < started + (uint64_t)(number - kAtOnce + 1) * kPeriod)
    __atomic_fetch_add(&too_early, 1, __ATOMIC_RELAXED);
  return 0;
}

int main(int argc, char** argv) {
  const long size = size_argument(argc, argv, 100, 10000);
  const char token = 0;
  tokens = janus_channel_create(1, kAtOnce);
  for (int i = 0; i < kAtOnce; i++) janus_channel_try_send(tokens, &token);
  started = janus_now_ns();
  janus_nursery* filling = janus_nursery_open(NULL, NULL);
  janus_nursery_spawn_in(filling, fill, NULL, NULL);
  janus_nursery* calling = janus_nursery_open(
      NULL, &(janus_nursery_options){.size = sizeof(janus_nursery_options), .max_running = kAtATime});
  for (long i = 0; i < size; i++) janus_nursery_spawn_in(calling, call, NULL, NULL);
  janus_nursery_await(calling, NULL);
  janus_nursery_destroy(calling);
  janus_nursery_cancel(filling);
  janus_nursery_await(filling, NULL);
  janus_nursery_destroy(filling);
  janus_channel_release(tokens);
  janus_print(1, "%ld calls, %ld too early\n", used, too_early);
}
