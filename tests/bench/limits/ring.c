// SPDX-License-Identifier: Apache-2.0
// ring.c — many hand-written fibers, each of which switches to the next: the cost of a yield without a scheduler. All
// that a switch touches of a fiber is in one cache line, the lines of the fibers are in different cache sets, and each
// fiber prefetches the line of one that comes soon. Without that a hundred thousand fibers take four times as long.
#include "fiber.h"
#include "limits.h"

#include <stdint.h>
#include <string.h>

enum { kStackBytes = 8192, kLine = 64, kColours = 64, kSwitches = 4000000, kAhead = 16 };

void limit_ring_member(void);

// The last word of fiber i's cache line, which holds its stack pointer. Word 0 belongs to main.
static void** pointer_of(char* stacks, long i) {
  char* const top = stacks + (i + 1) * kStackBytes - i % kColours * kLine;
  return (void**)(top - sizeof(void*));
}

static void build_member(char* stacks, long i, long fibers) {
  void **const own = pointer_of(stacks, i), **const next = pointer_of(stacks, (i + 1) % fibers);
  void** const soon = pointer_of(stacks, (i + kAhead) % fibers);
  char* const frame = (char*)own - FRAME_BYTES;
  const uintptr_t start = (uintptr_t)limit_ring_member;
  memcpy(frame + FRAME_RBX, &own, sizeof own);
  memcpy(frame + FRAME_R12, &next, sizeof next);
  memcpy(frame + FRAME_R14, &soon, sizeof soon);
  memcpy(frame + FRAME_RIP, &start, sizeof start);
  *own = frame;
}

static long visits(char* stacks, long i) {
  long count;
  memcpy(&count, (char*)*pointer_of(stacks, i) + FRAME_R13, sizeof count);
  return count;
}

void limit_of_ring(long fibers, int workers) {
  pin(0, workers);
  if (fibers < 2) fail("a ring has two fibers at least");
  char* const stacks = pages((size_t)fibers * kStackBytes);
  void** const main_pointer = pointer_of(stacks, 0);
  for (long i = 1; i < fibers; ++i) build_member(stacks, i, fibers);
  void** const first = pointer_of(stacks, 1);
  const long warm_up = 2, rounds = fibers < kSwitches ? kSwitches / fibers : 1;
  for (long i = 0; i < warm_up; ++i) limit_switch(main_pointer, *first);
  const uint64_t start = now_ns();
  for (long i = 0; i < rounds; ++i) limit_switch(main_pointer, *first);
  const uint64_t spent = now_ns() - start;
  for (long i = 1; i < fibers; ++i)
    if (visits(stacks, i) != warm_up + rounds) fail("fiber %ld was not there in every round", i);
  figure("ns", (double)spent / ((double)rounds * (double)fibers));
}
