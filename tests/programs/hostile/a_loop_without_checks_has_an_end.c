// SPDX-License-Identifier: Apache-2.0
// Seeded: no, there turns have no limit
// A caged task never comes back to the runtime: it loops, it has the C library look for the end of a text again and again,
// it does not return from a comparison of qsort, it holds a lock. It ends when its turn is over, and the lock is handed on. A
// cage that begins such tasks one after the other has its share of the time, and no more.
#include <janus/sync.h>
#include <string.h>

#include "hostile.h"

enum { kRounds = 5, kText = 1 << 20 };

static const uint64_t kTurnNs = 5 * 1000000, kTimeNs = 300 * 1000000;
static char text[kText];

static janus_nursery* open_limited(uint64_t turn_ns) {
  const janus_nursery_options options = {
      .size = sizeof options, .on_error = JANUS_ON_ERROR_COLLECT, .budget = roomy(), .turn_ns = turn_ns};
  return janus_nursery_open(NULL, &options);
}

static volatile int has_end;

static int64_t loop(void* unused) {
  (void)unused;
  while (!has_end) {
  }
  return 0;
}

static int64_t look_for_the_end(void* unused) {
  (void)unused;
  size_t sum = 0;
  while (!has_end) sum += strlen(text);
  return (int64_t)sum;
}

static int64_t clear(void* unused) {
  (void)unused;
  while (!has_end) memset(text + 1, 'a', kText - 2);
  return 0;
}

static int never_compare(const void* one, const void* other) {
  return one < other ? (int)loop(NULL) : 1;
}

static int64_t sort(void* unused) {
  (void)unused;
  int numbers[100] = {3, 1, 2};
  qsort(numbers, 100, sizeof numbers[0], never_compare);
  return 0;
}

// A lock that its neighbours outside share.
static janus_mutex shared;

static int64_t lock(void* unused) {
  janus_mutex_lock(&shared);
  return loop(unused);
}

static int is_ended(janus_task_fn attack) {
  janus_nursery* cage = open_limited(kTurnNs);
  spawn_roomy(cage, attack, NULL);
  janus_result result;
  janus_nursery_await(cage, &result);
  CHECK_EQ(janus_nursery_destroy(cage), 0);
  return result.kind == JANUS_KIND_PANIC && result.cause == JANUS_CAUSE_OVERRUN;
}

// ---- A neighbour's share --------------------------------------------------------------------------------------------

static volatile int stop;
static uint64_t last_ns, attackers_ns, neighbours_ns;

static int64_t hold(void* unused) {
  (void)unused;
  while (!has_end) __atomic_store_n(&last_ns, janus_now_ns(), __ATOMIC_RELAXED);
  return 0;
}

static int64_t attack_again_and_again(void* unused) {
  (void)unused;
  while (!stop) {
    janus_nursery* nursery = open_plain();
    if (nursery == NULL) return -1;
    const uint64_t from = janus_now_ns();
    spawn_roomy(nursery, hold, NULL);
    if (close_cage(nursery) != JANUS_PANIC) return -1;
    attackers_ns += __atomic_load_n(&last_ns, __ATOMIC_RELAXED) - from;
  }
  return 0;
}

static int64_t live_beside(void* unused) {
  (void)unused;
  volatile uint64_t hash = 1;
  const uint64_t end = janus_now_ns() + kTimeNs;
  for (uint64_t now = janus_now_ns(), last; now < end; neighbours_ns += now - last) {
    last = now;
    for (int i = 0; i < 5000; ++i) hash = (hash ^ (hash >> 29)) * 0x9e3779b97f4a7c15u;
    now = janus_now_ns();
    if (janus_yield_check(100) < 0) return -1;
  }
  stop = 1;
  return 0;
}

// The neighbour's time for each hundred of the attackers'.
static long measure(void) {
  stop = 0;
  attackers_ns = neighbours_ns = 0;
  janus_nursery* cage = open_limited(kTurnNs);
  spawn_roomy(cage, attack_again_and_again, NULL);
  janus_nursery* street = open_plain();
  spawn_roomy(street, live_beside, NULL);
  CHECK_EQ(close_cage(street), 0);
  CHECK_EQ(close_cage(cage), 0);
  return (long)(neighbours_ns * 100 / (attackers_ns + 1));
}

int main(void) {
  memset(text, 'a', kText - 1);
  const accounts before = read_accounts();
  CHECK(is_ended(loop));
  CHECK(is_ended(look_for_the_end));
  CHECK(is_ended(clear));
  CHECK(is_ended(sort));
  CHECK(is_ended(lock));
  CHECK_EQ(janus_mutex_lock(&shared), JANUS_E_STATE);
  CHECK_EQ(janus_mutex_unlock(&shared), 0);
  CHECK_NOTHING_LOST(before, 5);
  long best = 0;
  for (int i = 0; i < kRounds && best < 50; ++i) {
    const long share = measure();
    if (share > best) best = share;
  }
  CHECK_THAT(best, best >= 33);
  janus_print(1, "figure: for 100 ms of caged tasks that never come back, 5 at a time: %ld ms\n", best);
  return end();
}
