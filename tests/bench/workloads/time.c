// SPDX-License-Identifier: Apache-2.0
// time.c: deadlines that are set and cancelled, tasks that sleep, and how late they wake up.
#include <stdlib.h>

#include "bench.h"

static const int64_t kHour = 3600 * INT64_C(1000000000);

static int64_t sleep_for_an_hour(void* arg) {
  (void)arg;
  return janus_sleep_ns((uint64_t)kHour);
}

// --- Two tasks that wake each other ----------------------------------------------------------------------------------

static struct {
  janus_task tasks[2];
  long rounds;
  int64_t timeout_ns;
} turns;

static int64_t take_turns(void* arg) {
  const long me = (long)(intptr_t)arg;
  for (long i = 0; i < turns.rounds; ++i) {
    if (me == 1 || i != 0) EXPECT(janus_park(turns.timeout_ns) == 0);
    EXPECT(janus_unpark(turns.tasks[1 - me]) == 0);
  }
  if (me == 0) EXPECT(janus_park(turns.timeout_ns) == 0);
  return 0;
}

static int64_t ns_of_turns(int64_t timeout_ns, long rounds) {
  turns.timeout_ns = timeout_ns;
  turns.rounds = rounds;
  janus_nursery* const nursery = janus_nursery_open(NULL, NULL);
  EXPECT(nursery != NULL);
  const uint64_t start = janus_now_ns();
  for (long me = 1; me >= 0; --me)
    turns.tasks[me] = janus_nursery_spawn_in(nursery, take_turns, (void*)(intptr_t)me, NULL);
  EXPECT(janus_nursery_await(nursery, NULL) == 0);
  EXPECT(janus_nursery_destroy(nursery) == 0);
  return (int64_t)(janus_now_ns() - start);
}

// What a park with a deadline that is cancelled costs more than one without, while `size` tasks sleep.
void bench_deadline(long size, int workers) {
  EXPECT(workers == 1);
  enum { kRounds = 200000, kBatches = 9 };
  janus_nursery* const others = janus_nursery_open(NULL, NULL);
  for (long i = 0; i < size; ++i) EXPECT(janus_nursery_spawn_in(others, sleep_for_an_hour, NULL, NULL).raw != 0);
  int64_t most = INT64_MAX, least = INT64_MAX;
  for (int i = 0; i < kBatches; ++i) {
    const int64_t without = ns_of_turns(-1, kRounds), with = ns_of_turns(kHour, kRounds);
    if (without < least) least = without;
    if (with < most) most = with;
  }
  figure("ns", most - least, 2 * kRounds);
  EXPECT(janus_nursery_cancel(others) == 0 && janus_nursery_await(others, NULL) == JANUS_CANCELLED);
}

// --- Many that sleep ---------------------------------------------------------------------------------------------------

static uint64_t wake_at;

static int64_t sleep_until_then(void* arg) {
  (void)arg;
  return janus_sleep_until(wake_at);
}

// `size` tasks sleep until the same time: the memory of each, and the time to wake, run and end each.
void bench_sleepers(long size, int workers) {
  EXPECT(workers == 1);
  wake_at = janus_now_ns() + (uint64_t)size * 5000 + 100000000;
  const uint64_t before = resident_bytes();
  EXPECT(janus_nursery_create() != NULL);
  for (long i = 0; i < size && has_memory_left(); ++i) EXPECT(janus_nursery_spawn(sleep_until_then, NULL) == 0);
  EXPECT(janus_sleep_until(wake_at - 50000000) == 0 && janus_now_ns() < wake_at);
  figure("bytes", (int64_t)(resident_bytes() - before), size);
  EXPECT(janus_nursery_await_all() == 0);
  figure("ns", (int64_t)(janus_now_ns() - wake_at), size);
}

// --- How late ------------------------------------------------------------------------------------------------------------

static void sample_sleeps(long microseconds) {
  enum { kMicroseconds = 500000, kMin = 200 };
  const long fit = kMicroseconds / microseconds, count = fit > kMin ? fit : kMin;
  uint64_t* const samples = malloc((size_t)count * sizeof *samples);
  EXPECT(samples != NULL);
  for (long i = 0; i < count; ++i) {
    const uint64_t until = janus_now_ns() + (uint64_t)microseconds * 1000;
    EXPECT(janus_sleep_until(until) == 0);
    samples[i] = janus_now_ns() - until;
  }
  percentiles(samples, count);
  free(samples);
}

void bench_late(long size, int workers) {
  (void)workers;
  sample_sleeps(size);
}

static int is_over;

static int64_t compute(void* arg) {
  volatile uint64_t number = (uintptr_t)arg;
  while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
    for (int i = 0; i < 10; ++i) number = number * 3 + 1;
    if (janus_yield_check(1) < 0) break;
  }
  return 0;
}

// Beside four tasks that compute.
void bench_late_busy(long size, int workers) {
  EXPECT(workers == 1 && janus_nursery_create() != NULL);
  for (intptr_t i = 0; i < 4; ++i) EXPECT(janus_nursery_spawn(compute, (void*)i) == 0);
  sample_sleeps(size);
  __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
  EXPECT(janus_nursery_await_all() == 0);
}
