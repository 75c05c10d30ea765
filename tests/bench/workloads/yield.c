// SPDX-License-Identifier: Apache-2.0
// yield.c: many tasks that yield to each other. All have started before the clock starts.
#include "bench.h"

enum { kYields = 4000000 };

static struct {
  long tasks, yields_each, started, done;
  int go;
  uint64_t end;
} ring;

static long increment(long* counter) {
  return __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

// A task that has done its yields goes on yielding until all have, so that none ends before the clock stops.
static int64_t member(void* arg) {
  (void)arg;
  increment(&ring.started);
  while (!__atomic_load_n(&ring.go, __ATOMIC_RELAXED)) janus_yield();
  for (long i = ring.yields_each; i > 0; --i) janus_yield();
  if (increment(&ring.done) == ring.tasks) ring.end = janus_now_ns();
  while (__atomic_load_n(&ring.done, __ATOMIC_RELAXED) < ring.tasks) janus_yield();
  return 0;
}

// `size` tasks.
void bench_yield(long size, int workers) {
  (void)workers;
  ring.tasks = size;
  ring.yields_each = size < kYields ? kYields / size : 1;
  EXPECT(janus_nursery_create() != NULL);
  for (long i = 0; i < size; ++i) EXPECT(janus_nursery_spawn(member, NULL) == 0);
  while (__atomic_load_n(&ring.started, __ATOMIC_RELAXED) < size) janus_yield();
  const uint64_t yields_before = statistics().yields, start = janus_now_ns();
  __atomic_store_n(&ring.go, 1, __ATOMIC_RELAXED);
  EXPECT(janus_nursery_await_all() == 0);
  EXPECT(statistics().yields - yields_before >= (uint64_t)(size * ring.yields_each));
  figure("ns", (int64_t)(ring.end - start), size * ring.yields_each);
}
