// SPDX-License-Identifier: Apache-2.0
// neighbours_keep_their_share [MILLISECONDS [ATTACK TASKS]], or list: one neighbour computes, first alone, then beside
// a cage of k tasks that do what attackers do. How much of what it does alone is left to it, and for how long it gets
// no turn at all. Timings are figures; here only a tenth is a failure. With one worker, time is the processor time of
// this process, so that a busy machine is not taken for an attacker. Where the clock is virtual, operations are counted
// in its place.
#include "attacks.h"

enum { kRounds = 5, kMaxTasks = 20000, kOpsOfARound = 500 };

static int workers;

// ---- The neighbour --------------------------------------------------------------------------------------------------

typedef struct share {
  uint64_t until_ns, rounds, longest_gap_ns, most;
} share;

static uint64_t clock_ns(void) {
  struct {
    int64_t seconds, nanoseconds;
  } now;
  if (workers != 1 || janus_syscall(SYS_clock_gettime, 2 /* CLOCK_PROCESS_CPUTIME_ID */, &now) != 0)
    return janus_now_ns();
  return (uint64_t)now.seconds * 1000000000 + (uint64_t)now.nanoseconds;
}

// A round is 500 operations of some 10 ns, each as much as a small function or an iteration that does something.
static int64_t compute(void* arg) {
  share* mine = (share*)arg;
  uint64_t last = clock_ns(), hash = 1;
  while (last < mine->until_ns && mine->rounds < mine->most) {
    for (int i = 0; i < kOpsOfARound; ++i) {
      for (int k = 0; k < 6; ++k) hash = (hash ^ (hash >> 29)) * 0x9e3779b97f4a7c15u;
      if (janus_yield_check(1) < 0) return -1;
    }
    ++mine->rounds;
    const uint64_t now = clock_ns();
    if (now - last > mine->longest_gap_ns) mine->longest_gap_ns = now - last;
    last = now;
  }
  return hash == 0 ? -1 : 0;
}

static share measure(uint64_t ns) {
  share mine = {clock_ns() + ns, 0, 0, UINT64_MAX};
  janus_nursery* house = open_plain();
  spawn(house, compute, &mine);
  CHECK_EQ(close_cage(house), 0);
  return mine;
}

// ---- Measuring ------------------------------------------------------------------------------------------------------

static void open_the_cage(const struct attack* attack, int tasks) {
  const janus_budget budget = {UINT32_MAX, (size_t)1 << 30, UINT16_MAX, UINT16_MAX, 0};
  stop = 0;
  cage = open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, budget);
  if (!CHECK(cage != NULL)) janus_exit(1);
  for (int i = 0; i < tasks; ++i) {
    const janus_spawn_options detached = {.flags = JANUS_SPAWN_DETACHED};
    if (!CHECK(janus_nursery_spawn_in(cage, attack->fn, (void*)(uintptr_t)i, &detached).raw != 0)) break;
  }
}

static void close_the_cage(void) {
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  janus_nursery_cancel(cage);
  janus_nursery_await(cage, NULL);
  CHECK_EQ(janus_nursery_destroy(cage), 0);
}

// Workers that share a CPU share its time before we have a say.
static double workers_on_a_cpu(void) {
  uint64_t mask[16] = {0};
  int cpus = 0;
  if (janus_syscall(SYS_sched_getaffinity, 0, sizeof mask, mask) > 0)
    for (int i = 0; i < 16; ++i) cpus += __builtin_popcountll(mask[i]);
  return cpus == 0 || workers < cpus ? 1 : (double)workers / cpus;
}

static double median(double* values) {
  for (int i = 1; i < kRounds; ++i)
    for (int k = i; k > 0 && values[k - 1] > values[k]; --k) {
      const double larger = values[k - 1];
      values[k - 1] = values[k];
      values[k] = larger;
    }
  return values[kRounds / 2];
}

// Alone and beside in turns; the median of the ratios, and of the longest gaps.
static void try_attack(const struct attack* attack, int tasks, uint64_t ns) {
  double ratios[kRounds], gaps[kRounds];
  for (int round = 0; round < kRounds; ++round) {
    const share alone = measure(ns);
    open_the_cage(attack, tasks);
    const share beside = measure(ns);
    close_the_cage();
    ratios[round] = (double)alone.rounds / (double)(beside.rounds ? beside.rounds : 1);
    gaps[round] = (double)beside.longest_gap_ns / 1e6;
  }
  double least = ratios[0];
  for (int round = 1; round < kRounds; ++round) least = ratios[round] < least ? ratios[round] : least;
  const long tenths = (long)(10 * median(ratios) + 0.5), gap = (long)(10 * median(gaps) + 0.5);
  janus_print(1, "figure: %s, %d: 1/%ld.%ld %ld.%ld ms\n", attack->name, tasks, tenths / 10, tenths % 10, gap / 10,
              gap % 10);
  // The machine may be busy in most rounds; who starves does so in each of them.
  if (least > 10 * workers_on_a_cpu()) check_that(0, attack->name, tasks, __LINE__);
}

// Without a clock: what all have spent while the neighbour has spent his.
static void count_ops(const struct attack* attack, int tasks, uint64_t unused) {
  (void)unused;
  enum { kNeighboursRounds = 40 };
  open_the_cage(attack, tasks);
  for (int i = 0; i < 3; ++i) janus_yield();
  share mine = {UINT64_MAX, 0, 0, kNeighboursRounds};
  const uint64_t before = read_accounts().stats.ops_used;
  janus_nursery* house = open_plain();
  spawn(house, compute, &mine);
  CHECK_EQ(close_cage(house), 0);
  const uint64_t all = read_accounts().stats.ops_used - before;
  close_the_cage();
  const long tenths = (long)(10 * all / (kOpsOfARound * kNeighboursRounds));
  janus_print(1, "figure: %s, %d: 1/%ld.%ld ops\n", attack->name, tasks, tenths / 10, tenths % 10);
  if (tenths > 300) check_that(0, attack->name, tasks, __LINE__);  // of three logical workers
}

int main(int argc, char** argv) {
  const int is_virtual = read_accounts().stats.order_hash != 0;
  workers = is_virtual ? 0 : (int)read_accounts().stats.workers;
  const int lists = argc == 2 && strcmp(argv[1], "list") == 0;
  void (*const judge)(const struct attack*, int, uint64_t) = is_virtual ? count_ops : try_attack;
  const uint64_t ns = (argc > 1 && !lists ? (uint64_t)atoi(argv[1]) : 40) * 1000000;
  open_null_file();
  const int stderr_before = (int)janus_syscall(SYS_dup, 2);
  janus_syscall(SYS_dup2, null_file, 2);
  for (int i = 0; i < 64; ++i) floods[i] = janus_channel_create(8, 16);
  static const int crowds[] = {1, 100, kMaxTasks};
  for (unsigned i = 0; i < sizeof attacks / sizeof *attacks; ++i)
    for (int k = 0; k < (attacks[i].in_crowds ? 3 : 1); ++k) {
      if (lists) janus_print(1, "%d %s\n", crowds[k], attacks[i].name);
      if (lists || (argc > 3 && (strcmp(argv[2], attacks[i].name) != 0 || atoi(argv[3]) != crowds[k]))) continue;
      judge(&attacks[i], crowds[k], ns);
    }
  janus_syscall(SYS_dup2, stderr_before, 2);
  return end();
}
