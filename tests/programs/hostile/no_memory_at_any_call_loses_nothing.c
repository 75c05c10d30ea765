// SPDX-License-Identifier: Apache-2.0
// Every call with every amount of memory left, in steps of 64 bytes from nothing to enough: it works or returns an
// error, its task ends by itself, and the cage's account returns all that it was given.
#include "calls.h"

enum { kMin = 60 << 10, kMax = 80 << 10, kStep = 64 };

static int64_t try_once(void* arg) {
  belongings mine;
  prepare(&mine);
  ((const step*)arg)->run(&mine);
  release(&mine);
  return 0;
}

static long worked, refused;

static int64_t attack(void* unused) {
  (void)unused;
  for (int i = 0; i < kSteps; ++i)
    for (size_t memory = kMin; memory < kMax; memory += kStep) {
      const janus_budget budget = {1000000, memory, 1000, 1000, 1000};
      janus_nursery* cage = open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, budget);
      if (!CHECK(cage != NULL)) return -1;
      if (spawn_roomy(cage, try_once, (void*)&steps[i]).raw != 0)
        ++worked;
      else
        ++refused;
      const long status = close_cage(cage);
      if (status == 0) continue;
      janus_print(1, "%s with %zu bytes: ", steps[i].name, memory);
      CHECK_EQ(status, 0);
    }
  return 0;
}

int main(void) {
  open_null_file();
  attack(NULL);
  CHECK(worked > 0 && refused > 0);
  const accounts before = read_accounts();
  CHECK_EQ(beside_a_neighbour(1000, attack, NULL), 0);
  CHECK_NOTHING_LOST(before, worked / 2);
  return end();
}
