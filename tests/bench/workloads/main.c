// SPDX-License-Identifier: Apache-2.0
// bench WORKLOAD SIZE WORKERS: runs the workload once and prints lines `figure number`, in nanoseconds or bytes per
// operation. Exit status 3: no such workload. JANUS_WORKERS sets the number of workers; WORKERS is the expected number.
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { kUsage = 2, kUnknown = 3 };

static const struct {
  const char* name;
  workload* run;
} kWorkloads[] = {
    {"switch", bench_switch},
    {"yield", bench_yield},
    {"spawn", bench_spawn},
    {"spawn_10", bench_spawn_10},
    {"spawn_100", bench_spawn_100},
    {"spawn_10000", bench_spawn_10000},
    {"fib", bench_fib},
    {"skynet", bench_skynet},
    {"nqueens", bench_nqueens},
    {"uts", bench_uts},
    {"parked", bench_parked},
    {"channel", bench_channel},
    {"channel_16", bench_channel_16},
    {"channel_64", bench_channel_64},
    {"channel_in_cage", bench_channel_in_cage},
    {"wake", bench_wake},
    {"steal", bench_steal},
    {"deque", bench_deque},
    {"busy", bench_busy},
    {"check", bench_check},
    {"call", bench_call},
    {"crowd", bench_crowd},
    {"alloc", bench_alloc},
    {"spawned", bench_spawned},
    {"spawn_join", bench_spawn_join},
    {"alloc_batch", bench_alloc_batch},
    {"alloc_mixed", bench_alloc_mixed},
    {"alloc_elsewhere", bench_alloc_elsewhere},
    {"fork", bench_fork},
    {"sort", bench_sort},
    {"reduce", bench_reduce},
    {"deadline", bench_deadline},
    {"sleepers", bench_sleepers},
    {"late", bench_late},
    {"late_busy", bench_late_busy},
    {"select_2", bench_select_2},
    {"select_8", bench_select_8},
    {"select_64", bench_select_64},
    {"select_wait_2", bench_select_wait_2},
    {"select_wait_8", bench_select_wait_8},
    {"select_wait_64", bench_select_wait_64},
    {"lock", bench_lock},
    {"contend_2", bench_contend_2},
    {"contend_8", bench_contend_8},
};

static long number(const char* text) {
  char* end;
  const long value = strtol(text, &end, 10);
  return *end || value < 1 ? 0 : value;
}

int main(int argc, char** argv) {
  const long size = argc == 4 ? number(argv[2]) : 0, workers = argc == 4 ? number(argv[3]) : 0;
  if (!size || !workers) {
    janus_print(2, "usage: bench WORKLOAD SIZE WORKERS\n");
    return kUsage;
  }
  for (unsigned i = 0; i < sizeof kWorkloads / sizeof *kWorkloads; ++i) {
    if (strcmp(argv[1], kWorkloads[i].name) != 0) continue;
    if (statistics().workers != (uint64_t)workers)
      FAIL("%lu workers run, %ld were asked for: set JANUS_WORKERS\n", (unsigned long)statistics().workers, workers);
    kWorkloads[i].run(size, (int)workers);
    return 0;
  }
  return kUnknown;
}
