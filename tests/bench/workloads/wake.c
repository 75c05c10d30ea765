// SPDX-License-Identifier: Apache-2.0
// wake.c: how long it takes until another worker runs a task that this one spawns. The spawner stays on its worker and
// reads the clock, so the task can only run on the thief.
#include <stdlib.h>
#include <sys/syscall.h>

#include "bench.h"

static struct {
  uint64_t ran_at;  // 0: not yet
} mail;

static int64_t note_the_time(void* arg) {
  (void)arg;
  __atomic_store_n(&mail.ran_at, janus_now_ns(), __ATOMIC_RELEASE);
  return 0;
}

static void spin_until(uint64_t time) {
  while (janus_now_ns() < time) __builtin_ia32_pause();
}

static uint64_t sample(void) {
  __atomic_store_n(&mail.ran_at, 0, __ATOMIC_RELAXED);
  const uint64_t spawned_at = janus_now_ns();
  EXPECT(janus_nursery_spawn(note_the_time, NULL) == 0);
  uint64_t ran_at;
  while (!(ran_at = __atomic_load_n(&mail.ran_at, __ATOMIC_ACQUIRE))) __builtin_ia32_pause();
  return ran_at - spawned_at;
}

// Linux's clocks of the processor time of the process and of the calling thread.
enum { kOfProcess = 2, kOfThread = 3 };

static int64_t processor_ns(int whose) {
  struct {
    int64_t seconds, nanoseconds;
  } time;
  EXPECT(janus_syscall(SYS_clock_gettime, whose, &time) == 0);
  return time.seconds * 1000000000 + time.nanoseconds;
}

static int64_t others_processor_ns(void) {
  return processor_ns(kOfProcess) - processor_ns(kOfThread);
}

// Takes up to `most` samples, within a time limit. The other workers are left idle for `idle_ns` before each.
static void sample_often(long most, uint64_t idle_ns) {
  const uint64_t enough = 1000000000;
  uint64_t* samples = malloc((size_t)most * sizeof *samples);
  EXPECT(samples != NULL && janus_nursery_create() != NULL);
  for (int i = 0; i < 10; ++i) sample();
  const int64_t before = others_processor_ns();
  const uint64_t start = janus_now_ns();
  long count = 0;
  while (count < most && janus_now_ns() - start < enough) {
    if (idle_ns) spin_until(janus_now_ns() + idle_ns);
    samples[count++] = sample();
  }
  const int64_t wall = (int64_t)(janus_now_ns() - start), others = others_processor_ns() - before;
  EXPECT(janus_nursery_await_all() == 0);
  percentiles(samples, count);
  figure("others_percent", others * 100, wall);  // of one CPU
  free(samples);
}

// The other worker has slept for `size` microseconds.
void bench_wake(long size, int workers) {
  enum { kMicroseconds = 400000, kMin = 200 };
  EXPECT(workers == 2);
  const long count = kMicroseconds / size;
  sample_often(count > kMin ? count : kMin, (uint64_t)size * 1000);
}

// Takes `size` samples. The spawner does not return to the scheduler, and spawns the next task as soon as the last one
// has run.
void bench_busy(long size, int workers) {
  EXPECT(workers == 2);
  sample_often(size, 0);
}
