// SPDX-License-Identifier: Apache-2.0
// Seeded: no, there the one thread of all workers does what the order says, also where that has to wait
// Bare: no, there are no pipes
// A task writes into a pipe that no process reads. Tasks that print to other descriptors go on, and so do all others.
#include <sys/syscall.h>

#include "hostile.h"

enum { kEmpty = -11, kSetFlags = 4, kNonBlocking = 04000 };

static int pipe_ends[2], other_ends[2];

static int64_t fill(void* unused) {
  (void)unused;
  char block[4096];
  memset(block, 'x', sizeof block);
  int status = 0;
  for (int i = 0; i < 64 && status == 0; ++i) status = janus_write(pipe_ends[1], block, sizeof block);
  return status == JANUS_CANCELLED ? 0 : status;
}

// Prints to another descriptor and reads the text back.
static int64_t print_elsewhere(void* unused) {
  (void)unused;
  char line[64];
  for (int i = 0; i < 500; ++i) {
    if (!CHECK_EQ(janus_print(other_ends[1], "line %d\n", i), 0)) return -1;
    if (!CHECK(janus_syscall(SYS_read, other_ends[0], line, sizeof line) > 0)) return -1;
    janus_yield();
  }
  return 0;
}

static int64_t empty_it(void* unused) {
  (void)unused;
  char block[4096];
  long taken = 0;
  while (taken < 64 * 4096) {
    const int64_t read = janus_syscall(SYS_read, pipe_ends[0], block, sizeof block);
    if (read == kEmpty && janus_yield() == 0) continue;  // a call that waits would hold the worker
    if (!CHECK(read > 0)) return -1;
    taken += read;
  }
  return 0;
}

int main(void) {
  CHECK_EQ(janus_syscall(SYS_pipe2, pipe_ends, 0), 0);
  CHECK_EQ(janus_syscall(SYS_fcntl, pipe_ends[0], kSetFlags, kNonBlocking), 0);
  CHECK_EQ(janus_syscall(SYS_pipe2, other_ends, 0), 0);
  janus_nursery* street = open_plain();
  const janus_task writer = spawn_roomy(street, fill, NULL);
  for (int i = 0; i < 200; ++i) janus_yield();
  int64_t value = -1;
  CHECK_EQ(janus_task_join(spawn_roomy(street, print_elsewhere, NULL), &value), 0);
  CHECK_EQ(value, 0);
  neighbour next_door = {janus_channel_create(sizeof(int), 0), 500, 0};
  CHECK_EQ(janus_task_join(spawn_roomy(street, live, &next_door), &value), 0);
  CHECK_EQ(value, 0);
  CHECK(janus_task_state(writer) < JANUS_TASK_COMPLETED);
  CHECK_EQ(janus_task_join(spawn_roomy(street, empty_it, NULL), &value), 0);
  CHECK_EQ(value, 0);
  CHECK_EQ(close_cage(street), 0);
  return end();
}
