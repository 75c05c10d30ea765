// SPDX-License-Identifier: Apache-2.0
// Bare: one CPU, several that are emulated take minutes
// A loop of any one call, without a yield check of its own: in a cage with N ops it ends or waits after N ops, on one
// worker it lets others run at the end of its slice, and if cancelled it ends with its grace.
#include "calls.h"

enum { kOps = 5000, kGrace = 65536, kSlice = 1024 };

static long done;

typedef struct loop {
  const step* step;
  long most;
} loop;

// Ignores all results. `most` bounds loops that nothing else stops.
static int64_t run_loop(void* arg) {
  const loop* what = (const loop*)arg;
  belongings mine;
  if (prepare(&mine) < 0) return -77;
  for (done = 0; done < what->most; __atomic_store_n(&done, done + 1, __ATOMIC_RELAXED)) what->step->run(&mine);
  release(&mine);
  return 0;
}

static long done_so_far(void) {
  return __atomic_load_n(&done, __ATOMIC_RELAXED);
}

static janus_budget with_ops(uint32_t ops) {
  const janus_budget budget = {ops, (size_t)64 << 20, UINT16_MAX, UINT16_MAX, UINT16_MAX};
  return budget;
}

static void complain(const step* step, const char* how) {
  __atomic_fetch_add(&failed_checks, 1, __ATOMIC_RELAXED);
  janus_print(1, "%s: %s (%ld steps)\n", step->name, how, done_so_far());
}

static void ends_when_ops_are_gone(const step* step) {
  loop endless = {step, 20 * kOps};
  const long status = run_in_cage(with_ops(kOps), run_loop, &endless);
  if (status != JANUS_BUDGET_EXCEEDED) complain(step, "does not end when its ops are gone");
  if (done > kOps + 1) complain(step, "did more than it has ops");
}

// Checks long and often, since the kernel may preempt any worker for a while.
static int is_exhausted(janus_task task) {
  const uint64_t until = janus_now_ns() + 20000000000;
  for (long looks = 0; looks < 3000000 || janus_now_ns() < until; ++looks) {
    const int state = janus_task_state(task);
    if (state == JANUS_TASK_BUDGET_EXHAUSTED) return 1;
    if (state > JANUS_TASK_BUDGET_EXHAUSTED) return 0;
    janus_yield();
  }
  return 0;
}

static void waits_when_ops_are_gone(const step* step, uint32_t policy) {
  loop endless = {step, 40 * kOps};
  janus_nursery* cage = open_nursery(JANUS_ON_ERROR_COLLECT, policy, with_ops(kOps));
  const janus_task task = spawn_roomy(cage, run_loop, &endless);
  if (!is_exhausted(task)) complain(step, "does not wait when its ops are gone");
  if (done_so_far() > kOps + 1) complain(step, "did more than it has ops before it waited");
  const janus_budget more = {.ops = kOps};
  CHECK_EQ(janus_nursery_recharge(cage, more), 0);
  if (!is_exhausted(task)) complain(step, "does not wait when what it was recharged with is gone");
  if (done_so_far() > 2 * kOps + 2) complain(step, "did more than it was recharged with");
  CHECK_EQ(janus_nursery_cancel(cage), 0);
  janus_nursery_await(cage, NULL);
  CHECK_EQ(janus_nursery_destroy(cage), 0);
}

static void ends_after_its_grace(const step* step) {
  loop endless = {step, 100 * kGrace};
  done = 0;
  // A loop that spawns faster than others run may run out of memory, which must not end it.
  janus_nursery* cage = open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, with_ops(2000000000));
  const janus_task task = spawn_roomy(cage, run_loop, &endless);
  while (done_so_far() < 100 && janus_task_state(task) < JANUS_TASK_COMPLETED) janus_yield();
  const long before = done_so_far();
  CHECK_EQ(janus_nursery_cancel(cage), 0);
  janus_result result;
  janus_nursery_await(cage, &result);
  CHECK_EQ(janus_nursery_destroy(cage), 0);
  // The loop goes on until its worker sees the cancel, so some milliseconds are allowed.
  if (done_so_far() - before > 20 * kGrace) complain(step, "goes on for ever after it was told to end");
  if (result.kind != JANUS_KIND_PANIC) complain(step, "does not end by its grace");
}

static int stop;
static long turns;

static int64_t count_turns(void* unused) {
  (void)unused;
  for (turns = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); ++turns) janus_yield();
  return turns;
}

// The number of turns of another task during 20 slices of the loop; -1: it did not run.
static int64_t turns_beside(const step* step) {
  loop slices = {step, 20 * kSlice};
  stop = 0;
  janus_nursery* house = open_plain();
  const janus_task counting = spawn(house, count_turns, NULL);
  // Spawns for which the cage has no memory now are refused, and the loop goes on.
  janus_nursery* cage = open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, with_ops(2000000000));
  spawn_roomy(cage, run_loop, &slices);
  const long status = close_cage(cage);
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  int64_t count = 0;
  CHECK_EQ(janus_task_join(counting, &count), 0);
  CHECK_EQ(close_cage(house), 0);
  return status == 0 ? count : -1;
}

// With more workers the other task runs beside the loop, as scheduled by the machine or the seed. Groups share time: a
// task that is preempted in a turn has had a long turn, so the test may try again.
static void gives_way(const step* step) {
  const int tries = read_accounts().stats.workers == 1 ? 5 : 1;
  int64_t count = 0;
  for (int i = 0; i < tries && count >= 0 && count < 15; ++i) count = turns_beside(step);
  if (count < 0) complain(step, "does not run on a good budget");
  if (count >= 0 && count < 15 && tries > 1) complain(step, "does not give way at the end of its slice");
}

// Arguments: the name of a step; or a part and the number of parts into which all steps are dealt.
static int is_chosen(int step, int argc, char** argv) {
  if (argc == 3) return step % atoi(argv[2]) == atoi(argv[1]) - 1;
  return argc < 2 || strcmp(argv[1], steps[step].name) == 0;
}

int main(int argc, char** argv) {
  open_null_file();
  int chosen = 0;
  for (int i = 0; i < kSteps; ++i) {
    if (!is_chosen(i, argc, argv)) continue;
    ++chosen;
    ends_when_ops_are_gone(&steps[i]);
    waits_when_ops_are_gone(&steps[i], JANUS_ON_EXHAUSTION_SUSPEND);
    waits_when_ops_are_gone(&steps[i], JANUS_ON_EXHAUSTION_DENY);
    gives_way(&steps[i]);
    ends_after_its_grace(&steps[i]);
  }
  CHECK(chosen > 0);
  return end();
}
