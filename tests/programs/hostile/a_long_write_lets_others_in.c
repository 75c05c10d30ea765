// SPDX-License-Identifier: Apache-2.0
// Seeded: no, there nobody gives way in the middle of a write
// Bare: no, there is no other descriptor to write to
// A caged task writes 32 MiB in one call. A neighbour's line does not wait for its end; the output is interleaved in
// whole pieces, and nothing is lost.
#include <sys/syscall.h>

#include "hostile.h"

enum { kBytes = 32 << 20, kPiece = 65536, kRounds = 20 };

static char block[kBytes];
static int descriptor;

static int64_t write_long(void* unused) {
  (void)unused;
  return janus_write(descriptor, block, sizeof block);
}

static long size_now(void) {
  return (long)janus_syscall(SYS_lseek, descriptor, 0, 2);
}

// The position of the neighbour's line.
static long place_of_line(void) {
  descriptor = (int)janus_syscall(SYS_memfd_create, "file", 0);
  if (!CHECK_THAT(descriptor, descriptor > 2)) return -1;
  janus_budget budget = roomy();
  budget.syscalls = 10;
  janus_nursery* cage = open_cage(budget);
  CHECK(spawn_roomy(cage, write_long, NULL).raw != 0);
  while (size_now() == 0) janus_yield();
  CHECK_EQ(janus_write(descriptor, "a line\n", 7), 0);
  CHECK_EQ(close_cage(cage), 0);
  CHECK_EQ(size_now(), kBytes + 7);
  long at = 0;
  char letter = 0;
  for (; at <= kBytes; at += kPiece) {
    CHECK_EQ(janus_syscall(SYS_pread64, descriptor, &letter, 1, at), 1);
    if (letter == 'a') break;
  }
  janus_syscall(SYS_close, descriptor);
  return at;
}

int main(void) {
  // The writer may end before the reader begins.
  long at = kBytes;
  for (int i = 0; i < kRounds && at >= kBytes; ++i) at = place_of_line();
  CHECK_THAT(at, at < kBytes);
  janus_print(1, "figure: of 32 MiB in one write, KiB before a neighbour's line: %ld\n", at >> 10);
  return end();
}
