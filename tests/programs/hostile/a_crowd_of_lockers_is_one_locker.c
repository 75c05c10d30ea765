// SPDX-License-Identifier: Apache-2.0
// Seeded: no, there nobody gives way while it holds a lock
// Many caged tasks lock a mutex all the time, and let others run while they hold it. A neighbour that shares it waits for
// those that lock it in a few turns of their cage, not for all.
#include <janus/sync.h>

#include "hostile.h"

enum { kLockers = 1000, kLocks = 30, kWaiters = 200 };

static janus_mutex mutex;
static volatile int stop;
static volatile long locks;

static int64_t lock_on(void* unused) {
  (void)unused;
  while (!stop && janus_mutex_lock(&mutex) == 0) {
    __atomic_fetch_add(&locks, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 4; ++i) janus_yield();
    janus_mutex_unlock(&mutex);
  }
  return 0;
}

static int64_t lock_some(void* unused) {
  (void)unused;
  while (locks < kLockers && !stop) janus_yield();
  const long before = locks;
  int late = 0;
  for (int i = 0; i < kLocks; ++i) {
    const long before_it = locks;
    CHECK_EQ(janus_mutex_lock(&mutex), 0);
    late += locks - before_it > kLockers / 2;
    CHECK_EQ(janus_mutex_unlock(&mutex), 0);
    janus_yield();
  }
  const long others = locks - before;
  stop = 1;
  CHECK_THAT(late, late <= kLocks / 4);  // if the kernel preempts our worker while others lock
  janus_print(1, "figure: locks of %d caged tasks beside %d of a neighbour: %ld\n", kLockers, kLocks, others);
  return 0;
}

// Tasks of a cage wait at a lock that nobody unlocks, and at as many others as there are tasks. Who locks elsewhere is in
// nobody's way, and cages that end leave no waiter behind.
static janus_mutex held, many[kWaiters];

static int64_t wait_there(void* number) {
  const long mine = (long)(intptr_t)number;
  janus_mutex* const which = mine % 2 == 0 ? &held : &many[mine];
  return janus_mutex_lock(which) == JANUS_CANCELLED ? 0 : -7;
}

static int64_t lock_elsewhere(void* unused) {
  (void)unused;
  for (int i = 0; i < kWaiters; ++i) {
    CHECK_EQ(janus_mutex_try_lock(&many[i]), JANUS_E_WOULD_BLOCK);
    janus_mutex own = {0};
    CHECK_EQ(janus_mutex_lock(&own), 0);
    CHECK_EQ(janus_mutex_unlock(&own), 0);
    CHECK_EQ(own.word, 0);
  }
  return 0;
}

static void wait_everywhere(void) {
  CHECK_EQ(janus_mutex_lock(&held), 0);
  for (int i = 0; i < kWaiters; ++i) CHECK_EQ(janus_mutex_lock(&many[i]), 0);
  janus_nursery* cage = open_cage(roomy());
  janus_task tasks[kWaiters];
  for (long i = 0; i < kWaiters; ++i) tasks[i] = spawn_roomy(cage, wait_there, (void*)(intptr_t)i);
  for (int i = 0; i < kWaiters; ++i)
    while (janus_task_state(tasks[i]) != JANUS_TASK_BLOCKED) janus_yield();
  janus_nursery* street = open_plain();
  spawn_roomy(street, lock_elsewhere, NULL);
  CHECK_EQ(close_cage(street), 0);
  janus_nursery_cancel(cage);
  (void)close_cage(cage);
  for (int i = 0; i < kWaiters; ++i) CHECK_EQ(janus_mutex_unlock(&many[i]), 0);
  CHECK_EQ(janus_mutex_unlock(&held), 0);
  CHECK_EQ(held.word, 0);
}

int main(void) {
  janus_nursery* cage = open_cage(roomy());
  for (int i = 0; i < kLockers; ++i) CHECK(spawn_roomy(cage, lock_on, NULL).raw != 0);
  janus_nursery* street = open_plain();
  spawn_roomy(street, lock_some, NULL);
  CHECK_EQ(close_cage(street), 0);
  janus_nursery_cancel(cage);
  (void)close_cage(cage);
  CHECK_EQ(janus_mutex_try_lock(&mutex), 0);  // also if it ran out of budget: nobody ended with it
  wait_everywhere();
  return end();
}
