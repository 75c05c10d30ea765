// SPDX-License-Identifier: Apache-2.0
// The program demands the profile sovereign. Its root task can do nothing before it presents a token: no spawn, no recharge, no
// system call, no file; a cage that was given the rights can, and loses them with the token.
#include <stdio.h>

#include "hostile.h"

const janus_rt_config janus_config = {.profile = JANUS_PROFILE_SOVEREIGN};

static const janus_budget none;

static int64_t nothing(void* unused) {
  (void)unused;
  return 0;
}

static void expect_nothing_works(void) {
  janus_result results[2];
  janus_nursery_create();
  CHECK_EQ(janus_nursery_spawn(nothing, NULL), -1);
  CHECK_EQ(janus_last_error(), JANUS_E_NO_CAP);
  CHECK_EQ(janus_nursery_await_all(), 0);
  CHECK_EQ(janus_fork_join(nothing, NULL, nothing, NULL, results), JANUS_E_NO_CAP);
  janus_nursery* nursery = open_plain();
  CHECK_EQ(spawn(nursery, nothing, NULL).raw, 0);
  CHECK_EQ(janus_nursery_recharge(nursery, none), JANUS_E_NO_CAP);
  CHECK_EQ(janus_budget_grant64(nursery, JANUS_COMPONENT_OPS, 1), JANUS_E_NO_CAP);
  CHECK_EQ(close_cage(nursery), 0);
  CHECK_EQ(janus_budget_recharge(none), JANUS_E_NO_CAP);
  CHECK_EQ(janus_syscall(39), JANUS_E_NO_CAP);
  CHECK_EQ(janus_write(3, "", 0), JANUS_E_NO_CAP);
  CHECK(fopen("/", "r") == NULL);
  CHECK_EQ(janus_cap_derive((janus_cap){0}, 63, none).raw, 0);
  CHECK_EQ(janus_print(1, "%s", ""), 0);
  void* block = malloc(1000);
  CHECK(block != NULL);
  free(block);
}

static int64_t work(void* unused) {
  (void)unused;
  janus_nursery_create();
  CHECK_EQ(janus_nursery_spawn(nothing, NULL), 0);
  CHECK_EQ(janus_nursery_await_all(), 0);
  CHECK_EQ(janus_budget_recharge((janus_budget){.ops = 1000}), 0);
  CHECK_EQ(janus_budget_recharge((janus_budget){.ops = 1000}), JANUS_E_BUDGET);
  CHECK_EQ(janus_syscall(39), JANUS_E_NO_CAP);
  return 0;
}

int main(void) {
  expect_nothing_works();
  const janus_cap root = janus_cap_root(NULL);
  expect_nothing_works();  // to have it is not to present it
  const janus_cap few = janus_cap_derive(root, JANUS_CAP_SPAWN | JANUS_CAP_BUDGET, (janus_budget){.ops = 1500});
  const janus_nursery_options options = {.cap = few, .budget = {100000, 1 << 20, 10, 10, 10}};
  janus_nursery* nursery = janus_nursery_open(NULL, &options);
  CHECK(spawn_roomy(nursery, work, NULL).raw != 0);
  CHECK_EQ(close_cage(nursery), 0);
  CHECK_EQ(janus_cap_revoke(root), 0);
  CHECK(janus_nursery_open(NULL, &options) == NULL);
  expect_nothing_works();
  return failed_checks;
}
