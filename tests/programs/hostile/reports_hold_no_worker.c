// SPDX-License-Identifier: Apache-2.0
// Bare: no, there are no pipes
// stderr is a pipe that nobody empties, and tasks panic by the thousand: their reports are dropped, not waited for.
#include <sys/syscall.h>

#include "hostile.h"

static int64_t panic(void* unused) {
  (void)unused;
  janus_task_panic("a reason that is long enough to fill a pipe of 64 KiB some time before all have been printed");
}

static int64_t attack(void* unused) {
  (void)unused;
  for (int round = 0; round < 20; ++round) {
    janus_nursery* cage = open_cage(roomy());
    for (int i = 0; i < 100; ++i) spawn_roomy(cage, panic, NULL);
    CHECK_EQ(close_cage(cage), JANUS_PANIC);
  }
  return 0;
}

int main(void) {
  int ends[2];
  CHECK_EQ(janus_syscall(SYS_pipe2, ends, 0), 0);
  CHECK_EQ(janus_syscall(SYS_dup2, ends[1], 2), 2);
  const uint64_t start = janus_now_ns();
  CHECK_EQ(beside_a_neighbour(500, attack, NULL), 0);
  // 100 ms for one report at the most, not for each.
  CHECK_THAT((janus_now_ns() - start) / 1000000, janus_now_ns() - start < 10000000000u);
  return end();
}
