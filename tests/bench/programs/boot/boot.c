// SPDX-License-Identifier: Apache-2.0
// boot: prints the time stamp counter at the program's first instruction (entry.S, ../start.S), at main (the root
// task), and at the first task that main spawns; and how many ticks a millisecond has.
#include <janus/rt.h>

// Not in .bss, which is cleared after the first instruction where there is no kernel.
__attribute__((section(".data"))) uint64_t bench_entered_at;
static uint64_t ran_at;

static int64_t first_task(void* arg) {
  (void)arg;
  ran_at = __builtin_ia32_rdtsc();
  return 0;
}

static uint64_t ticks_of_a_millisecond(void) {
  enum { kNs = 10000000 };
  uint64_t elapsed;
  const uint64_t start = janus_now_ns(), ticks = __builtin_ia32_rdtsc();
  while ((elapsed = janus_now_ns() - start) < kNs) {
  }
  return (__builtin_ia32_rdtsc() - ticks) * 1000000 / elapsed;
}

int main(void) {
  const uint64_t main_at = __builtin_ia32_rdtsc();
  if (!janus_nursery_create() || janus_nursery_spawn(first_task, NULL) < 0 || janus_nursery_await_all() < 0) return 1;
  janus_stats stats = {.size = sizeof stats};
  janus_rt_stats(NULL, &stats);
  return janus_print(1, "entered %lu\nmain %lu\nfirst_task %lu\nticks_per_ms %lu\nworkers %lu\n",
                     (unsigned long)bench_entered_at, (unsigned long)main_at, (unsigned long)ran_at,
                     (unsigned long)ticks_of_a_millisecond(), (unsigned long)stats.workers) < 0;
}
