// SPDX-License-Identifier: Apache-2.0
// neighbours_keep_their_share [MILLISECONDS [ATTACK TASKS [NEIGHBOUR]]], or list: a neighbour computes, sends messages,
// spawns, allocates, yields or computes in eight tasks, first alone, then beside a cage of k attacking tasks. Measures
// the fraction of its work that remains, and its longest wait for a turn. Timings are only printed; a fraction below a
// sixth is a failure with one worker, where time is the processor time of this process, so that a busy machine seldom
// causes a failure. With several workers the bound is a tenth, divided by the number of workers on a CPU. With a
// virtual clock operations are counted instead, and the bound is a quarter for each logical worker. Several logical
// workers take turns by dispatches, of any length, so only the computing neighbour is judged there.
#include "attacks.h"

enum { kRounds = 5, kMaxTasks = 20000, kOpsOfARound = 500, kMaxLoss = 6, kMaxLossOfOps = 4 };

static int workers, logical_workers;  // workers is 0 if the clock is virtual

// ---- The neighbour --------------------------------------------------------------------------------------------------

typedef struct share {
  uint64_t until_ns, rounds, longest_gap_ns, most, hash;
  janus_channel *there, *back;  // of a neighbour with a partner
  int is_over;
} share;

static int64_t echo(void* arg) {
  const share* with = (const share*)arg;
  uint64_t word;
  while (janus_channel_recv(with->there, &word) == 0 && janus_channel_send(with->back, &word) == 0) {
  }
  return 0;
}

static int64_t yield_until_closed(void* arg) {
  const share* with = (const share*)arg;
  while (!__atomic_load_n(&with->is_over, __ATOMIC_RELAXED) && janus_yield() == 0) {
  }
  return 0;
}

static uint64_t clock_ns(void) {
  struct {
    int64_t seconds, nanoseconds;
  } now;
  if (workers != 1 || janus_syscall(SYS_clock_gettime, 2 /* CLOCK_PROCESS_CPUTIME_ID */, &now) != 0)
    return janus_now_ns();
  return (uint64_t)now.seconds * 1000000000 + (uint64_t)now.nanoseconds;
}

// The neighbours' work. Each function does one round, of some microseconds; not 0: the task was told to end.

// 500 operations of some 10 ns, each like a small function or a loop iteration.
static int compute(share* mine) {
  for (int i = 0; i < kOpsOfARound; ++i) {
    for (int k = 0; k < 6; ++k) mine->hash = (mine->hash ^ (mine->hash >> 29)) * 0x9e3779b97f4a7c15u;
    if (janus_yield_check(1) < 0) return -1;
  }
  return 0;
}

static int talk(share* mine) {
  uint64_t word = 0;
  for (int i = 0; i < 50; ++i)
    if (janus_channel_send(mine->there, &word) != 0 || janus_channel_recv(mine->back, &word) != 0) return -1;
  return 0;
}

static int spawn_some(share* mine) {
  (void)mine;
  for (int i = 0; i < 10; ++i) {
    if (janus_nursery_create() == NULL) return -1;
    for (int k = 0; k < 4; ++k) janus_nursery_spawn(return_nothing, NULL);
    if (janus_nursery_await_all() != 0) return -1;
  }
  return 0;
}

static int take_and_free(share* mine) {
  (void)mine;
  for (int i = 0; i < 100; ++i) janus_free(janus_alloc(64 + 16 * (size_t)i));
  return 0;
}

static int give_way(share* mine) {
  (void)mine;
  for (int i = 0; i < 100; ++i)
    if (janus_yield() != 0) return -1;
  return 0;
}

// A further task of the neighbour, whose rounds count as well.
static int64_t compute_along(void* arg) {
  share* const with = (share*)arg;
  share mine = {.hash = 1};
  while (!__atomic_load_n(&with->is_over, __ATOMIC_RELAXED) && compute(&mine) == 0)
    __atomic_fetch_add(&with->rounds, 1, __ATOMIC_RELAXED);
  return mine.hash == 0;
}

static const struct kind {
  const char* name;
  int (*round)(share* mine);
  janus_task_fn partner;
  int partners;
  uint64_t rounds_of_many_ops;  // so many that their ops are many slices
} kinds[] = {
    {"computes", compute, NULL, 0, 40},
    {"talks", talk, echo, 1, 10},
    {"spawns", spawn_some, NULL, 0, 2000},
    {"allocates", take_and_free, NULL, 0, 1000},
    {"yields", give_way, yield_until_closed, 1, 1000},
    {"computes in eight tasks", compute, compute_along, 7, 40},
};
enum { kKinds = sizeof kinds / sizeof kinds[0] };
static const struct kind* kind = &kinds[0];

static int64_t live_beside(void* arg) {
  share* mine = (share*)arg;
  uint64_t last = clock_ns();
  while (last < mine->until_ns && __atomic_load_n(&mine->rounds, __ATOMIC_RELAXED) < mine->most) {
    if (kind->round(mine) != 0) return -1;
    __atomic_fetch_add(&mine->rounds, 1, __ATOMIC_RELAXED);
    const uint64_t now = clock_ns();
    if (now - last > mine->longest_gap_ns) mine->longest_gap_ns = now - last;
    last = now;
  }
  __atomic_store_n(&mine->is_over, 1, __ATOMIC_RELAXED);
  if (mine->there != NULL) janus_channel_close(mine->there);
  return mine->hash == 0 ? -1 : 0;
}

static share run_neighbour(uint64_t until_ns, uint64_t most) {
  share mine = {until_ns, 0, 0, most, 1, NULL, NULL, 0};
  janus_nursery* house = open_plain();
  if (kind->partner != NULL) {
    mine.there = janus_channel_create(sizeof(uint64_t), 1);
    mine.back = janus_channel_create(sizeof(uint64_t), 1);
    for (int i = 0; i < kind->partners; ++i) spawn(house, kind->partner, &mine);
  }
  spawn(house, live_beside, &mine);
  CHECK_EQ(close_cage(house), 0);
  if (kind->partner != NULL) {
    janus_channel_release(mine.there);
    janus_channel_release(mine.back);
  }
  return mine;
}

static share measure(uint64_t ns) {
  return run_neighbour(clock_ns() + ns, UINT64_MAX);
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

// The number of workers for each CPU, which share its time.
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

// Measures alone and beside the attack alternately; takes the median of the ratios, and of the longest gaps.
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
  janus_print(1, "figure: %s, %d, a neighbour that %s: 1/%ld.%ld %ld.%ld ms\n", attack->name, tasks, kind->name,
              tenths / 10, tenths % 10, gap / 10, gap % 10);
  // The machine may be busy in most rounds, but a starving neighbour starves in each.
  if (least > kMaxLoss * workers_on_a_cpu()) check_that(0, attack->name, tasks, __LINE__);
}

// The ops of all tasks while the neighbour does some rounds.
static uint64_t ops_of_rounds(void) {
  const uint64_t before = read_accounts().stats.ops_used;
  run_neighbour(UINT64_MAX, kind->rounds_of_many_ops);
  return read_accounts().stats.ops_used - before;
}

// Measures by ops, for a virtual clock.
static void count_ops(const struct attack* attack, int tasks) {
  const uint64_t alone = ops_of_rounds();
  open_the_cage(attack, tasks);
  for (int i = 0; i < 3; ++i) janus_yield();
  const uint64_t all = ops_of_rounds();
  close_the_cage();
  const long tenths = (long)(10 * all / alone);
  janus_print(1, "figure: %s, %d, a neighbour that %s: 1/%ld.%ld ops\n", attack->name, tasks, kind->name, tenths / 10,
              tenths % 10);
  if (tenths > 10 * kMaxLossOfOps * logical_workers) check_that(0, attack->name, tasks, __LINE__);
}

static void judge(const struct attack* attack, int tasks, uint64_t ns) {
  workers == 0 ? count_ops(attack, tasks) : try_attack(attack, tasks, ns);
}

// Whether the arguments behind the milliseconds select this case, or are missing.
static int is_asked_for(int argc, char** argv, const struct attack* attack, int tasks) {
  const int is_named = argc > 3 && strcmp(argv[2], attack->name) == 0 && atoi(argv[3]) == tasks;
  if (argc > 4) return is_named && strcmp(argv[4], kind->name) == 0;
  return argc > 3 ? is_named && kind == &kinds[0] : kind == &kinds[0] || (attack->in_crowds && tasks <= 100);
}

int main(int argc, char** argv) {
  const janus_stats stats = read_accounts().stats;
  logical_workers = (int)stats.workers;
  workers = stats.order_hash != 0 ? 0 : logical_workers;
  const int lists = argc == 2 && strcmp(argv[1], "list") == 0;
  const uint64_t ns = (argc > 1 && !lists ? (uint64_t)atoi(argv[1]) : 40) * 1000000;
  open_null_file();
  const int stderr_before = (int)janus_syscall(SYS_dup, 2);
  janus_syscall(SYS_dup2, null_file, 2);
  for (int i = 0; i < 64; ++i) {
    floods[i] = janus_channel_create(8, 16);
    meetings[i] = janus_channel_create(8, 0);
  }
  static const int crowds[] = {1, 100, kMaxTasks};
  const int judged = workers == 0 && logical_workers > 1 ? 1 : kKinds;
  for (kind = kinds; kind < kinds + judged; ++kind)
    for (unsigned i = 0; i < sizeof attacks / sizeof *attacks; ++i)
      for (int k = 0; k < (attacks[i].in_crowds ? 3 : 1); ++k) {
        if (lists && kind == kinds) janus_print(1, "%d %s\n", crowds[k], attacks[i].name);
        if (!lists && is_asked_for(argc, argv, &attacks[i], crowds[k])) judge(&attacks[i], crowds[k], ns);
      }
  janus_syscall(SYS_dup2, stderr_before, 2);
  return end();
}
