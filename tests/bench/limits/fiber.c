// SPDX-License-Identifier: Apache-2.0
// fiber.c — fresh fibers, their memory, and the switch alone.
#define _GNU_SOURCE
#include "fiber.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "limits.h"

void* pages(size_t bytes) {
  void* const at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) fail("no memory: %zu bytes", bytes);
  return at;
}

static void put(char* frame, size_t offset, const void* value) {
  memcpy(frame + offset, &value, sizeof value);
}

void* fiber_on(void* stack_top, void (*entry)(void*), void* arg) {
  char* const frame = (char*)((uintptr_t)stack_top & ~(uintptr_t)15) - FRAME_BYTES;
  put(frame, FRAME_RBX, (void*)(uintptr_t)entry);
  put(frame, FRAME_R12, arg);
  put(frame, FRAME_RIP, (void*)(uintptr_t)limit_fiber_start);
  return frame;
}

static void *here, *there;

static void bounce(void* resumed) {
  for (;;) {
    ++*(long*)resumed;
    limit_switch(&there, here);
  }
}

// Two fibers, one way: each resumes at a place of its own, as in a real program.
void limit_of_switch(long switches, int workers) {
  pin(0, workers);
  static char stack[4096] __attribute__((aligned(16)));
  long resumed = 0;
  there = fiber_on(stack + sizeof stack, bounce, &resumed);
  for (long i = switches / 20; i > 0; --i) limit_switch(&here, there);
  resumed = 0;
  const long rounds = (switches + 1) / 2;
  const uint64_t start = now_ns();
  for (long i = 0; i < rounds; ++i) limit_switch(&here, there);
  const uint64_t spent = now_ns() - start;
  if (resumed != rounds) fail("%ld resumptions instead of %ld", resumed, rounds);
  figure("ns", (double)spent / (2.0 * (double)rounds));
}
