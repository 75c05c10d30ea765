// SPDX-License-Identifier: Apache-2.0
// sync.c: a mutex that is free, and one that tasks contend for. A holder yields once in 64 times, as one that waits for
// something inside.
#include <janus/sync.h>

#include "bench.h"

static janus_mutex mutex;

// `size` times.
void bench_lock(long size, int workers) {
  EXPECT(workers == 1);
  const uint64_t start = janus_now_ns();
  for (long i = 0; i < size; ++i) {
    janus_mutex_lock(&mutex);
    janus_mutex_unlock(&mutex);
  }
  figure("ns", (int64_t)(janus_now_ns() - start), size);
}

static struct {
  long rounds;             // of each task
  uint64_t count, passed;  // under the mutex: how often it was locked; by how many others one task was passed at most
} contest;

static void wait_a_little(int steps) {
  for (int i = 0; i < steps; ++i) __asm__ volatile("" ::: "memory");
}

static int64_t contend(void* arg) {
  uint64_t seed = (uint64_t)(uintptr_t)arg * 0x9e3779b97f4a7c15u | 1;
  for (long i = 0; i < contest.rounds; ++i) {
    const uint64_t before = __atomic_load_n(&contest.count, __ATOMIC_RELAXED);
    EXPECT(janus_mutex_lock(&mutex) == 0);
    const uint64_t passed = contest.count - before;
    if (passed > contest.passed) contest.passed = passed;
    __atomic_store_n(&contest.count, contest.count + 1, __ATOMIC_RELAXED);
    wait_a_little(20);
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    if (seed % 64 == 0) janus_yield();
    EXPECT(janus_mutex_unlock(&mutex) == 0);
    wait_a_little(60);
    janus_yield_check(1);
  }
  return 0;
}

static void contend_with(int tasks, long size) {
  contest.rounds = size / tasks;
  contest.count = contest.passed = 0;
  janus_nursery* const nursery = janus_nursery_open(NULL, NULL);
  EXPECT(nursery != NULL);
  const uint64_t start = janus_now_ns();
  for (long i = 1; i <= tasks; ++i) EXPECT(janus_nursery_spawn_in(nursery, contend, (void*)(intptr_t)i, NULL).raw != 0);
  EXPECT(janus_nursery_await(nursery, NULL) == 0);
  figure("ns", (int64_t)(janus_now_ns() - start), contest.rounds * tasks);
  figure("passed", (int64_t)contest.passed, 1);
  EXPECT(janus_nursery_destroy(nursery) == 0);
  EXPECT(contest.count == (uint64_t)(contest.rounds * tasks));
}

// `size` times, by all tasks together.
void bench_contend_2(long size, int workers) {
  (void)workers;
  contend_with(2, size);
}
void bench_contend_8(long size, int workers) {
  (void)workers;
  contend_with(8, size);
}
