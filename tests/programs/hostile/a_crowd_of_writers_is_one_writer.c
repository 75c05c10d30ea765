// SPDX-License-Identifier: Apache-2.0
// Seeded: no, there nobody gives way in the middle of a write
// Bare: no, there is no other descriptor to write to
// Many caged tasks write to a descriptor all the time, and let others run in the middle of a write. A neighbour's line
// waits for one or two of them, not for all.
#include <sys/syscall.h>

#include "hostile.h"

enum { kWriters = 200, kLines = 100, kBytes = 192 << 10 };

static int descriptor;
static char block[kBytes];
static volatile int stop;
static volatile long writes;

static int64_t write_on(void* unused) {
  (void)unused;
  while (!stop && janus_write(descriptor, block, sizeof block) == 0) __atomic_fetch_add(&writes, 1, __ATOMIC_RELAXED);
  return 0;
}

static int64_t write_lines(void* unused) {
  (void)unused;
  while (writes < kWriters && !stop) janus_yield();
  const long before = writes;
  int late = 0;
  for (int i = 0; i < kLines; ++i) {
    const long before_it = writes;
    CHECK_EQ(janus_write(descriptor, "a line\n", 7), 0);
    janus_yield();
    late += writes - before_it > 8;
  }
  const long others = writes - before;
  stop = 1;
  // Some lines are late if the kernel preempts our worker while others write.
  CHECK_THAT(late, late <= kLines / 2);
  janus_print(1, "figure: writes of %d caged tasks beside %d lines: %ld\n", kWriters, kLines, others);
  return 0;
}

int main(void) {
  descriptor = (int)janus_syscall(SYS_open, "/dev/null", 1);
  if (!CHECK_THAT(descriptor, descriptor > 2)) return end();
  janus_budget budget = roomy();
  budget.syscalls = 65534;
  janus_nursery* cage = open_cage(budget);
  for (int i = 0; i < kWriters; ++i) CHECK(spawn_roomy(cage, write_on, NULL).raw != 0);
  janus_nursery* street = open_plain();
  spawn_roomy(street, write_lines, NULL);
  CHECK_EQ(close_cage(street), 0);
  janus_nursery_cancel(cage);
  (void)close_cage(cage);
  return end();
}
