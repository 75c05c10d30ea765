// SPDX-License-Identifier: Apache-2.0
// A cage without `syscalls` cannot write to any open file, such as its neighbour's; with three of them it writes three
// times. Standard output and error are open to all.
#include "calls.h"

static int64_t write_thrice(void* unused) {
  (void)unused;
  int64_t written = 0;
  for (int i = 0; i < 100; ++i) {
    written += janus_print(null_file, "%d\n", i) == 0;
    written += janus_write(null_file, "x\n", 2) == 0;
    written += janus_syscall(SYS_write, null_file, "x\n", 2) == 2;
  }
  return written;
}

static int64_t print_to_all(void* unused) {
  (void)unused;
  return janus_print(1, "%s", "") == 0 && janus_write(2, "", 0) == 0 ? 0 : -5;
}

static int64_t attack(void* granted) {
  janus_budget budget = roomy();
  budget.syscalls = (uint16_t)(uintptr_t)granted;
  janus_nursery* cage = open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, budget);
  int64_t written = -1;
  CHECK_EQ(janus_task_join(spawn_roomy(cage, write_thrice, NULL), &written), 0);
  CHECK_EQ(written, (int64_t)(uintptr_t)granted);
  CHECK_EQ(janus_task_join(spawn_roomy(cage, print_to_all, NULL), &written), 0);
  CHECK_EQ(written, 0);
  CHECK_EQ(close_cage(cage), 0);
  return 0;
}

int main(void) {
  open_null_file();
  CHECK_EQ(beside_a_neighbour(100, attack, (void*)0), 0);
  CHECK_EQ(beside_a_neighbour(100, attack, (void*)3), 0);
  return end();
}
