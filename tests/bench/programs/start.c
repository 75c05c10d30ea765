// SPDX-License-Identifier: Apache-2.0
// start WORKLOAD SIZE WORKERS: the time from this process's first instruction (start.S) to main (the root task), and to
// the first task that main spawns. Measured with the time stamp counter, since there is no clock at the first
// instruction.
#include <string.h>

#include <janus/rt.h>

uint64_t bench_entered_at;
static uint64_t ran_at;

static int64_t first_task(void* arg) {
  (void)arg;
  ran_at = __builtin_ia32_rdtsc();
  return 0;
}

// The ticks of some two milliseconds; the exact time goes to `*elapsed`, in nanoseconds.
static uint64_t ticks_in(uint64_t* elapsed) {
  const uint64_t start = janus_now_ns(), ticks = __builtin_ia32_rdtsc();
  while ((*elapsed = janus_now_ns() - start) < 2000000) {
  }
  return __builtin_ia32_rdtsc() - ticks;
}

static int print_figure(const char* name, uint64_t ticks, uint64_t ticks_known, uint64_t nanoseconds) {
  return janus_print(1, "%s %lu\n", name, (unsigned long)(ticks * nanoseconds / ticks_known));
}

int main(int argc, char** argv) {
  const uint64_t main_at = __builtin_ia32_rdtsc();
  if (argc != 4) return 2;
  if (strcmp(argv[1], "start") != 0) return 3;
  if (!janus_nursery_create() || janus_nursery_spawn(first_task, NULL) < 0 || janus_nursery_await_all() < 0) return 1;
  uint64_t nanoseconds;
  const uint64_t ticks = ticks_in(&nanoseconds);
  return bench_entered_at == 0 || ran_at <= main_at ||
         print_figure("main", main_at - bench_entered_at, ticks, nanoseconds) < 0 ||
         print_figure("first_task", ran_at - bench_entered_at, ticks, nanoseconds) < 0;
}
