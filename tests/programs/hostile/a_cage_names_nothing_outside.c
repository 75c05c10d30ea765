// SPDX-License-Identifier: Apache-2.0
// A caged task cannot spawn into, cancel, close or read a nursery outside the cage, even if it was given the pointer;
// and it panics if it uses a copied, guessed or forged nursery.
#include "hostile.h"

static janus_nursery* outside;
static volatile int escaped;

static int64_t escape(void* unused) {
  (void)unused;
  escaped = 1;
  return 0;
}

static int64_t use_what_it_was_shown(void* unused) {
  (void)unused;
  janus_result result;
  CHECK_EQ(janus_nursery_spawn_in(outside, escape, NULL, NULL).raw, 0);
  CHECK_EQ(janus_last_error(), JANUS_E_NO_CAP);
  CHECK_EQ(janus_nursery_cancel(outside), JANUS_E_NO_CAP);
  CHECK_EQ(janus_nursery_close(outside), JANUS_E_NO_CAP);
  CHECK_EQ(janus_nursery_state(outside), JANUS_E_NO_CAP);
  CHECK_EQ(janus_nursery_try_result(outside, &result), JANUS_E_NO_CAP);
  CHECK_EQ(janus_nursery_recharge(outside, (janus_budget){1, 0, 0, 0, 0}), JANUS_E_NO_CAP);
  // A nursery inside the cage works.
  janus_nursery* own = open_plain();
  CHECK_EQ(janus_nursery_state(own), JANUS_NURSERY_OPEN);
  spawn(own, escape, NULL);
  return close_cage(own);
}

// Each guess ends its task.
static int64_t guess(void* word) {
  janus_nursery_cancel((janus_nursery*)word);
  return 0;
}
static int64_t guess_and_spawn(void* word) {
  janus_nursery_spawn_in((janus_nursery*)word, escape, NULL, NULL);
  return 0;
}

// Tries addresses near a nursery of its own, where other records may be.
static int64_t probe(void* unused) {
  (void)unused;
  janus_nursery* own = open_plain();
  for (long step = -40; step < 40; ++step) {
    if (step == 0) continue;
    char* word = (char*)own + step;
    CHECK_EQ(run_in_cage(roomy(), guess, word), JANUS_PANIC);
    CHECK_EQ(run_in_cage(roomy(), guess_and_spawn, word), JANUS_PANIC);
  }
  return close_cage(own);
}

// Forges records as an attacker who knows their layout might.
static int64_t forge(void* unused) {
  (void)unused;
  static uint64_t record[64];
  for (int i = 0; i < 64; ++i) record[i] = UINT64_C(0x4a43484e00000001);
  CHECK_EQ(run_in_cage(roomy(), guess, record), JANUS_PANIC);
  for (int i = 0; i < 64; ++i) record[i] = UINT64_C(0x4a4e52534a4e5253);
  CHECK_EQ(run_in_cage(roomy(), guess, record), JANUS_PANIC);
  CHECK_EQ(run_in_cage(roomy(), guess_and_spawn, record), JANUS_PANIC);
  return 0;
}

int main(void) {
  outside = open_plain();
  const janus_budget cage = {1000000, 200000, 3, 0, 0};
  CHECK_EQ(run_in_cage(cage, use_what_it_was_shown, NULL), 0);
  // escape() ran, but in the cage's own nursery.
  CHECK(escaped);
  escaped = 0;
  CHECK_EQ(beside_a_neighbour(100, probe, NULL), 0);
  CHECK_EQ(beside_a_neighbour(100, forge, NULL), 0);
  CHECK(!escaped);
  CHECK_EQ(janus_nursery_state(outside), JANUS_NURSERY_OPEN);
  CHECK(spawn(outside, escape, NULL).raw != 0);
  CHECK_EQ(close_cage(outside), 0);
  return end();
}
