// SPDX-License-Identifier: Apache-2.0
// Seeded: no, there it is operations that count
// A caged task computes for many milliseconds at a time without a check, in a cage that does not limit that. The whole
// length of its turns counts, so that a neighbour that yields all the time still gets as much time.
#include "hostile.h"

enum { kUnitsAtOnce = 40, kRounds = 5, kSlice = 1100 };

static const uint64_t kTimeNs = 600 * 1000000;

static volatile int stop;
static volatile uint64_t hash = 1;
static long attackers_units, neighbours_units;

// Takes about half a millisecond, without checks.
static void compute_a_unit(void) {
  uint64_t mine = hash;
  for (int i = 0; i < 250000; ++i) mine = (mine ^ (mine >> 29)) * 0x9e3779b97f4a7c15u;
  hash = mine;
}

static int64_t attack(void* unused) {
  (void)unused;
  while (!stop) {
    for (int i = 0; i < kUnitsAtOnce; ++i) compute_a_unit();
    attackers_units += kUnitsAtOnce;
    if (janus_yield() < 0) break;
  }
  return 0;
}

static int64_t live_beside(void* unused) {
  (void)unused;
  const uint64_t end = janus_now_ns() + kTimeNs;
  while (janus_now_ns() < end) {
    compute_a_unit();
    ++neighbours_units;
    if (janus_yield_check(kSlice) < 0) return -1;  // ends a slice; continues if others have had more
  }
  stop = 1;
  return 0;
}

// The neighbour's units for each hundred units of the attacker.
static long measure(void) {
  stop = 0;
  attackers_units = neighbours_units = 0;
  const janus_nursery_options options = {.size = sizeof options,
                                         .on_error = JANUS_ON_ERROR_COLLECT,
                                         .on_exhaustion = JANUS_ON_EXHAUSTION_FAIL,
                                         .budget = roomy(),
                                         .turn_ns = UINT64_MAX};
  janus_nursery* cage = janus_nursery_open(NULL, &options);
  spawn_roomy(cage, attack, NULL);
  janus_nursery* street = open_plain();
  spawn_roomy(street, live_beside, NULL);
  CHECK_EQ(close_cage(street), 0);
  CHECK_EQ(close_cage(cage), 0);
  return neighbours_units * 100 / (attackers_units + 1);
}

int main(void) {
  long best = 0;
  for (int i = 0; i < kRounds && best < 50; ++i) {
    const long share = measure();
    if (share > best) best = share;
  }
  CHECK_THAT(best, best >= 33);
  janus_print(1, "figure: for 100 ms of a caged attacker's, 10 and more at a time: %ld ms\n", best);
  return end();
}
