// SPDX-License-Identifier: Apache-2.0
// spawn.c: empty tasks: in scopes of ten to ten thousand, one after the other by handle, and many that wait to run.
#include "bench.h"

static int64_t nothing(void* arg) {
  (void)arg;
  return 0;
}

static void scope(long tasks) {
  EXPECT(janus_nursery_create() != NULL);
  for (long i = 0; i < tasks; ++i) EXPECT(janus_nursery_spawn(nothing, NULL) == 0);
  EXPECT(janus_nursery_await_all() == 0);
}

static void scopes_of(long most, long tasks) {
  for (; tasks > 0; tasks -= most) scope(tasks < most ? tasks : most);
}

static void spawn_in_scopes_of(long most, long tasks) {
  scopes_of(most, tasks / 10 + most);
  const uint64_t completed = statistics().tasks_completed, start = janus_now_ns();
  scopes_of(most, tasks);
  const uint64_t end = janus_now_ns();
  EXPECT(statistics().tasks_completed - completed == (uint64_t)tasks);
  figure("ns", (int64_t)(end - start), tasks);
}

// `size` tasks in all: spawned, run and joined.
void bench_spawn(long size, int workers) {
  (void)workers;
  spawn_in_scopes_of(1000, size);
}
void bench_spawn_10(long size, int workers) {
  (void)workers;
  spawn_in_scopes_of(10, size);
}
void bench_spawn_100(long size, int workers) {
  (void)workers;
  spawn_in_scopes_of(100, size);
}
void bench_spawn_10000(long size, int workers) {
  (void)workers;
  spawn_in_scopes_of(10000, size);
}

static void spawn_and_join(janus_nursery* nursery, long tasks) {
  for (long i = 0; i < tasks; ++i) {
    const janus_task task = janus_nursery_spawn_in(nursery, nothing, NULL, NULL);
    int64_t result = -1;
    EXPECT(janus_task_join(task, &result) == 0 && result == 0);
    janus_task_release(task);
  }
}

// `size` tasks, each joined by its handle before the next one is spawned.
void bench_spawn_join(long size, int workers) {
  (void)workers;
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  spawn_and_join(nursery, size / 10);
  const uint64_t start = janus_now_ns();
  spawn_and_join(nursery, size);
  const uint64_t end = janus_now_ns();
  EXPECT(janus_nursery_await(nursery, NULL) == 0);
  EXPECT(janus_nursery_destroy(nursery) == 0);
  figure("ns", (int64_t)(end - start), size);
}

static long ran;
static int64_t count_me(void* arg) {
  (void)arg;
  __atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
  return 0;
}

// A spawn is a yield point at which children would run. This adds fuel to the worker so that all tasks can be spawned
// before. The fuel is not drawn from the root's account.
static void keep_the_worker(long ops) {
  __asm__ volatile("addq %0, %%gs:%c1" : : "r"(ops), "i"(JANUS_FUEL_OFFSET) : "memory");
}

// Spawns `size` tasks, of which none runs meanwhile; fewer if memory runs out.
void bench_spawned(long size, int workers) {
  enum { kLook = 100000 };
  (void)workers;
  EXPECT(janus_nursery_create() != NULL);
  keep_the_worker(2 * size);
  const uint64_t before = resident_bytes(), start = janus_now_ns();
  long tasks = 0;
  while (tasks < size && (tasks % kLook != 0 || has_memory_left()) && janus_nursery_spawn(count_me, NULL) == 0) ++tasks;
  const uint64_t end = janus_now_ns();
  const long early = __atomic_load_n(&ran, __ATOMIC_RELAXED);
  const uint64_t bytes = resident_bytes() - before;
  EXPECT(tasks > 0 && early == 0);
  EXPECT(janus_nursery_await_all() == 0);
  EXPECT(ran == tasks);
  figure("tasks", tasks, 1);
  figure("bytes", (int64_t)bytes, tasks);
  figure("ns", (int64_t)(end - start), tasks);
}
