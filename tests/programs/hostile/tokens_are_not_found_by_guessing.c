// SPDX-License-Identifier: Apache-2.0
// A task in a cage tries the tokens of others: neighbours of its own, all their bits changed, those that were revoked, and
// those whose deriver, with its cage, is gone. Each call that takes one refuses it, and a guess costs 64 ops.
#include "hostile.h"

static const janus_budget none;
static janus_cap of_main, revoked, of_a_cage;
static int tried;

static int64_t nothing(void* unused) {
  (void)unused;
  return 0;
}

static void expect_refused(uint64_t raw) {
  const janus_cap bad = {raw};
  const janus_nursery_options options = {.cap = bad};
  const janus_spawn_options spawning = {.cap = bad};
  ++tried;
  CHECK(janus_nursery_open(NULL, &options) == NULL);
  CHECK_EQ(janus_last_error(), JANUS_E_NO_CAP);
  CHECK_EQ(janus_cap_derive(bad, 63, none).raw, 0);
  CHECK_EQ(janus_last_error(), JANUS_E_NO_CAP);
  CHECK_EQ(janus_cap_revoke(bad), JANUS_E_NO_CAP);
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  CHECK_EQ(janus_nursery_spawn_in(nursery, nothing, NULL, &spawning).raw, 0);
  CHECK_EQ(janus_last_error(), JANUS_E_NO_CAP);
  CHECK_EQ(close_cage(nursery), 0);
}

static int64_t guess(void* unused) {
  (void)unused;
  const janus_cap own = janus_cap_derive((janus_cap){0}, 63, none);
  const uint32_t before = janus_budget_get_current().ops;
  const int were = tried;
  for (int bit = 1; bit < 64; ++bit) expect_refused(own.raw ^ (uint64_t)1 << bit);
  const long long paid = (long long)before - janus_budget_get_current().ops;
  CHECK_THAT(paid, paid > 32LL * 64 * 4);  // the bits of the secret, and four calls each
  for (uint64_t i = 1; i < 20; ++i) expect_refused(own.raw + i);
  for (uint64_t i = 0; i < 70; ++i)
    if ((own.raw >> 32 << 32 | i) != own.raw) expect_refused(own.raw >> 32 << 32 | i);
  expect_refused(revoked.raw);
  expect_refused(of_a_cage.raw);
  expect_refused(of_main.raw ^ own.raw);
  CHECK(tried - were > 150);
  CHECK_EQ(janus_cap_revoke(own), 0);
  return 0;
}

static int64_t leave_one(void* unused) {
  (void)unused;
  of_a_cage = janus_cap_derive((janus_cap){0}, 63, none);
  return of_a_cage.raw != 0 ? 0 : -9;
}

static int64_t attack(void* unused) {
  (void)unused;
  CHECK_EQ(run_in_cage(roomy(), leave_one, NULL), 0);
  revoked = janus_cap_derive(of_main, 63, none);
  CHECK_EQ(janus_cap_revoke(revoked), 0);
  CHECK_EQ(run_in_cage(roomy(), guess, NULL), 0);
  return 0;
}

int main(void) {
  of_main = janus_cap_derive(janus_cap_root(NULL), 63, none);
  CHECK_EQ(beside_a_neighbour(100, attack, NULL), 0);
  const janus_nursery_options options = {.cap = of_main};
  janus_nursery* nursery = janus_nursery_open(NULL, &options);  // nobody has revoked it
  CHECK(spawn(nursery, nothing, NULL).raw != 0);
  CHECK_EQ(close_cage(nursery), 0);
  return end();
}
