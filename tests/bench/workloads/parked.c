// SPDX-License-Identifier: Apache-2.0
// parked.c: very many tasks that are blocked at the same time, each on a guarded stack of its own.
#include "bench.h"

static struct {
  janus_nursery* nursery;
  janus_channel* gate;  // nothing is ever sent; all wait for its close
  long spawned, waiting, refused, left;
} park;

// If there is no stack for the task that should run next, the wait is refused.
static int64_t wait_at_the_gate(void* arg) {
  (void)arg;
  char nothing;
  __atomic_fetch_add(&park.waiting, 1, __ATOMIC_RELAXED);
  const int status = janus_channel_recv(park.gate, &nothing);
  __atomic_fetch_add(status == JANUS_E_NO_MEMORY ? &park.refused : &park.left, 1, __ATOMIC_RELAXED);
  return status == JANUS_E_CLOSED || status == JANUS_E_NO_MEMORY ? 0 : -1;
}

static long waiting(void) {
  return __atomic_load_n(&park.waiting, __ATOMIC_RELAXED);
}

// Yields until all wait. False if no more tasks start, since there is no memory for their stacks.
static int all_wait(void) {
  enum { kPatience = 1000 };
  long before = waiting();
  for (int idle = 0; waiting() < park.spawned; idle = waiting() == before ? idle + 1 : 0) {
    if (idle > kPatience) return 0;
    before = waiting();
    janus_yield();
  }
  return 1;
}

// Spawns tasks as a server accepts connections: some arrive, then they run. Returns how many are blocked in the end.
static long gather(long size) {
  enum { kArrivals = 1000, kLook = 20000 };
  const janus_spawn_options detached = {.flags = JANUS_SPAWN_DETACHED};
  while (park.spawned < size && janus_nursery_spawn_in(park.nursery, wait_at_the_gate, NULL, &detached).raw) {
    if (++park.spawned % kArrivals == 0 && !all_wait()) break;
    if (park.spawned % kLook == 0 && !has_memory_left()) break;
  }
  all_wait();
  return waiting() - __atomic_load_n(&park.refused, __ATOMIC_RELAXED);
}

static void close_gate(void) {
  const janus_nursery_options each_for_himself = {.on_error = JANUS_ON_ERROR_COLLECT};
  park.nursery = janus_nursery_open(NULL, &each_for_himself);
  park.gate = janus_channel_create(1, 0);
  park.spawned = park.waiting = park.refused = park.left = 0;
  EXPECT(park.nursery != NULL && park.gate != NULL);
}

static void open_gate(void) {
  EXPECT(janus_channel_close(park.gate) == 0);
  // Tasks that never got a stack end as panicked.
  const long status = janus_nursery_await(park.nursery, NULL);
  EXPECT(status == 0 || waiting() < park.spawned);
  EXPECT(park.left + park.refused == waiting());
  EXPECT(janus_nursery_destroy(park.nursery) == 0);
  janus_channel_release(park.gate);
}

// Blocks `size` tasks, twice: on fresh stacks, then on the stacks of the first round; fewer if memory runs out.
void bench_parked(long size, int workers) {
  (void)workers;
  const uint64_t before = resident_bytes();
  close_gate();
  const uint64_t start = janus_now_ns();
  const long tasks = gather(size);
  const uint64_t created = janus_now_ns();
  EXPECT(tasks > 0);
  const uint64_t bytes = resident_bytes() - before;
  const janus_stats stats = statistics();
  EXPECT(stats.stacks_in_use >= (uint64_t)tasks && stats.guard_pages >= (uint64_t)tasks);
  const uint64_t opened = janus_now_ns();
  open_gate();
  const uint64_t torn_down = janus_now_ns();
  close_gate();
  const uint64_t again = janus_now_ns();
  const long tasks_again = gather(tasks);
  const uint64_t reused = janus_now_ns();
  EXPECT(tasks_again == tasks);
  open_gate();
  figure("tasks", tasks, 1);
  figure("bytes", (int64_t)bytes, tasks);
  figure("create", (int64_t)(created - start), tasks);
  figure("teardown", (int64_t)(torn_down - opened), tasks);
  figure("reuse", (int64_t)(reused - again), tasks);
  figure("mappings", (int64_t)stats.mappings, 1);
}
