// SPDX-License-Identifier: Apache-2.0
// A task that is confined to a token without SYSCALL and EXIT tries to get them: in nurseries of each kind, in forks, shields
// and destructors of its values, by tokens that derive from its own, in nurseries above, in cages, after a panic of a child;
// and after the token was revoked it tries to spawn in all of them.
#include "hostile.h"

enum { kMine = JANUS_CAP_SPAWN | JANUS_CAP_BUDGET };

static const janus_budget none;
static janus_nursery *above, *beside;
static janus_cap given;
static int64_t is_revoked, has_tried;
static janus_local_key key;

static int64_t nothing(void* unused) {
  (void)unused;
  return 0;
}

static int64_t leave(void* unused) {
  (void)unused;
  janus_exit(1);
}

static int64_t try_alone(void* unused) {
  (void)unused;
  CHECK_EQ(janus_syscall(39), JANUS_E_NO_CAP);
  CHECK_EQ(janus_write(3, "", 0), JANUS_E_NO_CAP);
  CHECK_EQ(janus_cap_root(NULL).raw, 0);
  return 0;
}

static void try_in_destructor(void* unused) {
  try_alone(unused);
}

static int64_t panic_after(void* unused) {
  try_alone(unused);
  janus_local_set(key, &key);
  janus_task_panic("on purpose");
}

static int64_t try_with_value(void* unused) {
  janus_local_set(key, &key);
  return try_alone(unused);
}

static void try_in(janus_nursery* nursery) {
  CHECK(spawn(nursery, try_alone, NULL).raw != 0);
  CHECK(spawn(nursery, panic_after, NULL).raw != 0);
  CHECK(spawn(nursery, try_with_value, NULL).raw != 0);
  CHECK(spawn(nursery, leave, NULL).raw != 0);
  janus_result result;
  janus_nursery_await(nursery, &result);
  CHECK_EQ(result.errors, 2);  // who panics, and who would leave
  CHECK_EQ(janus_nursery_destroy(nursery), 0);
}

static int64_t try_everything(void* unused) {
  janus_result results[2];
  try_alone(unused);
  try_in(open_plain());
  try_in(open_cage((janus_budget){1000000, 1 << 20, 100, 100, 100}));
  const janus_cap wider = janus_cap_derive((janus_cap){0}, 0xffffffff, none),
                  again = janus_cap_derive(given, 0xffffffff, none);
  CHECK(wider.raw != 0 && again.raw != 0);
  const janus_cap tokens[] = {wider, again, given};
  for (int i = 0; i < 3; ++i) {
    const janus_nursery_options options = {.cap = tokens[i], .on_error = JANUS_ON_ERROR_COLLECT};
    try_in(janus_nursery_open(NULL, &options));
  }
  CHECK_EQ(janus_fork_join(try_alone, NULL, try_alone, NULL, results), 0);
  CHECK_EQ(janus_shield(try_alone, NULL), 0);
  janus_park(1000);  // a call with a deadline
  janus_nursery_create();
  for (int i = 0; i < 100; ++i) CHECK_EQ(janus_nursery_spawn(try_alone, NULL), 0);
  CHECK_EQ(janus_nursery_await_all(), 0);
  const janus_spawn_options with_own = {.cap = given};
  CHECK_EQ(janus_nursery_spawn_in(above, try_alone, NULL, NULL).raw, 0);
  CHECK_EQ(janus_last_error(), JANUS_E_NO_CAP);
  CHECK_EQ(janus_nursery_spawn_in(above, try_alone, NULL, &with_own).raw, 0);
  CHECK_EQ(janus_nursery_spawn_in(beside, try_alone, NULL, NULL).raw, 0);
  return 0;
}

static int64_t try_after_revoke(void* unused) {
  janus_result results[2];
  janus_nursery* early = open_plain();
  janus_nursery_create();
  __atomic_store_n(&has_tried, 1, __ATOMIC_SEQ_CST);
  while (!__atomic_load_n(&is_revoked, __ATOMIC_SEQ_CST)) janus_yield();
  CHECK_EQ(janus_nursery_spawn(nothing, NULL), -1);
  CHECK_EQ(janus_last_error(), JANUS_E_NO_CAP);
  CHECK_EQ(spawn(early, nothing, NULL).raw, 0);
  CHECK_EQ(janus_fork_join(nothing, NULL, nothing, NULL, results), JANUS_E_NO_CAP);
  CHECK_EQ(janus_cap_derive((janus_cap){0}, 63, none).raw, 0);
  CHECK_EQ(janus_budget_recharge(none), JANUS_E_NO_CAP);
  CHECK_EQ(janus_cap_revoke(given), JANUS_E_NO_CAP);
  janus_nursery* late = open_plain();
  CHECK_EQ(spawn(late, nothing, NULL).raw, 0);
  try_alone(unused);
  CHECK_EQ(close_cage(late), 0);
  CHECK_EQ(close_cage(early), 0);
  return janus_nursery_await_all();
}

static long run_confined(janus_cap cap, janus_task_fn fn, janus_budget budget, janus_task_fn meanwhile) {
  const janus_nursery_options options = {.cap = cap, .on_error = JANUS_ON_ERROR_COLLECT, .budget = budget};
  janus_nursery* nursery = janus_nursery_open(NULL, &options);
  CHECK(spawn_roomy(nursery, fn, NULL).raw != 0);
  if (meanwhile != NULL) meanwhile(NULL);
  return close_cage(nursery);
}

static int64_t revoke(void* unused) {
  (void)unused;
  while (!__atomic_load_n(&has_tried, __ATOMIC_SEQ_CST)) janus_yield();
  CHECK_EQ(janus_cap_revoke(given), 0);
  __atomic_store_n(&is_revoked, 1, __ATOMIC_SEQ_CST);
  return 0;
}

int main(void) {
  const janus_cap root = janus_cap_root(NULL), all = janus_cap_derive(root, 63, none);
  janus_local_new(&key, try_in_destructor);
  above = open_plain();
  const janus_nursery_options of_all = {.cap = all};
  beside = janus_nursery_open(NULL, &of_all);
  for (int i = 0; i < 6; ++i) {
    janus_budget budget = i % 2 ? roomy() : none;
    if (i % 2) budget.syscalls = 1000;
    given = janus_cap_derive(all, kMine, none);
    CHECK_EQ(run_confined(given, try_everything, budget, NULL), 0);
    __atomic_store_n(&is_revoked, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&has_tried, 0, __ATOMIC_SEQ_CST);
    CHECK_EQ(run_confined(given, try_after_revoke, budget, revoke), 0);
  }
  CHECK_EQ(close_cage(above), 0);
  CHECK_EQ(close_cage(beside), 0);
  janus_local_delete(key);
  return end();
}
