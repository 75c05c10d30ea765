// SPDX-License-Identifier: Apache-2.0
// Host: its own libc, its own threads
// A host runs two runtimes. Tasks of one get nothing from the other: no nursery on its root, no task by a handle of
// their own runtime, no budget.
#include <janus/rt.h>
#include <stdio.h>
#include <string.h>

static int failed;
static void check(int holds, const char* what, long long seen) {
  if (holds) return;
  printf("not so: %s (%lld)\n", what, seen);
  failed = 1;
}
static void check_equal(long long seen, long long expected, const char* what) {
  check(seen == expected, what, seen);
}
#define CHECK_EQ(seen, expected) check_equal((long long)(seen), (expected), #seen " == " #expected)
#define CHECK(claim) check((claim) ? 1 : 0, #claim, 0)

static janus_rt *one, *other;
static janus_nursery* others_nursery;
static janus_task others_task;

static int64_t nothing(void* unused) {
  (void)unused;
  return 0;
}

static int64_t wait_for_ever(void* unused) {
  (void)unused;
  return janus_park(-1);
}

// Runs as a task of the first runtime.
static int64_t reach_over(void* unused) {
  (void)unused;
  const janus_nursery_options budgeted = {.budget = {1000, 1 << 20, 10, 10, 10}};
  CHECK(janus_nursery_open(other, NULL) == NULL);
  CHECK(janus_nursery_open(other, &budgeted) == NULL);
  CHECK(janus_last_error() < -4096);
  CHECK_EQ(janus_nursery_spawn_in(others_nursery, nothing, NULL, NULL).raw, 0);
  const janus_budget much = {1000, 1000, 1, 1, 1};
  CHECK(janus_nursery_recharge(others_nursery, much) < -4096);
  CHECK(janus_budget_grant64(others_nursery, JANUS_COMPONENT_OPS, 1000) < -4096);
  CHECK(janus_nursery_cancel(others_nursery) < -4096);
  CHECK(janus_task_join(others_task, NULL) < -4096);
  CHECK(janus_task_release(others_task) < -4096);
  // Handles with near numbers belong to no task.
  for (uint64_t k = 1; k < 2000; ++k) {
    const janus_task near[] = {{others_task.raw + k}, {others_task.raw ^ (k << 40)}, {janus_task_self().raw + k}};
    for (int i = 0; i < 3; ++i) CHECK(janus_task_cancel(near[i]) < -4096);
  }
  CHECK_EQ(janus_cancelled(), 0);
  CHECK_EQ(janus_rt_run(other, nothing, NULL), JANUS_E_STATE);
  janus_rt_destroy(other);
  janus_rt_shutdown();
  return failed ? -5 : 0;
}

static int64_t run_dry(void* unused) {
  (void)unused;
  while (janus_yield_check(1) == 0) {
  }
  return JANUS_CANCELLED;
}

static int64_t leave_spinners(void* unused) {
  (void)unused;
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  for (int i = 0; i < 10; ++i) janus_nursery_spawn_in(nursery, run_dry, NULL, NULL);
  janus_nursery_cancel(nursery);
  janus_nursery_await(nursery, NULL);
  janus_nursery_destroy(nursery);
  return 0;
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  const janus_rt_config config = {.worker_count = 2, .memory = 64 << 20};
  one = janus_rt_create(&config);
  other = janus_rt_create(&config);
  CHECK(one != NULL && other != NULL);
  if (failed) return 1;
  others_nursery = janus_nursery_open(other, NULL);
  others_task = janus_nursery_spawn_in(others_nursery, wait_for_ever, NULL, NULL);
  CHECK(others_task.raw != 0);
  CHECK_EQ(janus_rt_run(one, reach_over, NULL), 0);
  CHECK_EQ(janus_task_state(others_task) < JANUS_TASK_COMPLETED, 1);
  CHECK_EQ(janus_rt_run(one, leave_spinners, NULL), 0);
  CHECK_EQ(janus_unpark(others_task), 0);
  CHECK_EQ(janus_nursery_await(others_nursery, NULL), 0);
  CHECK_EQ(janus_nursery_destroy(others_nursery), 0);
  CHECK_EQ(janus_rt_run(one, nothing, NULL), 0);
  janus_rt_destroy(one);
  CHECK_EQ(janus_rt_run(other, nothing, NULL), 0);
  janus_rt_destroy(other);
  return failed;
}
