// SPDX-License-Identifier: Apache-2.0
// From within a cage nobody spawns into, cancels, closes or reads a nursery outside, not even one that it was shown;
// and what looks like a nursery, because it was copied, guessed or made up, is the guesser's panic.
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
  // A cage within is as far from outside.
  janus_nursery* own = open_plain();
  CHECK_EQ(janus_nursery_state(own), JANUS_NURSERY_OPEN);
  spawn(own, escape, NULL);
  return close_cage(own);
}

// Each guess is a task's last.
static int64_t guess(void* word) {
  janus_nursery_cancel((janus_nursery*)word);
  return 0;
}
static int64_t guess_and_spawn(void* word) {
  janus_nursery_spawn_in((janus_nursery*)word, escape, NULL, NULL);
  return 0;
}

// A child of the caller's shares its record's neighbourhood with everybody's.
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

// As a record might look to somebody who knows how they are made.
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
  // It was escape() in the cage's own nursery that ran.
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
