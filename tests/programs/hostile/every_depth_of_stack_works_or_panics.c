// SPDX-License-Identifier: Apache-2.0
// Every call at every remaining depth of stack, in steps of 16 bytes: it works, or its task panics, and no lock or
// memory is lost. The end of a stack is found by testing whether the kernel can read there. For stacks that grow
// (every_depth_of_a_growing_stack_works.c) this is the initial end, and no task panics. An argument multiplies the
// steps.
#include <alloca.h>

#include "calls.h"

#ifndef MAY_GROW
const janus_rt_config janus_config = {.stack_max = 8192};
#endif

enum { kEnough = 3600, kStep = 16, kPage = 4096 };

typedef struct place {
  const step* step;
  size_t left;
} place;

static long worked;
static int grows;
static size_t step_bytes = kStep;

// Whether the kernel, or its replacement, can read at `address`, which it gets as the name of a file.
static int is_readable(uintptr_t address) {
  char found[256];  // more than a struct stat
  return janus_syscall(SYS_newfstatat, -100 /* AT_FDCWD */, address, found, 0) != -14;
}

static __attribute__((noinline)) void work_at(const step* step, belongings* mine, size_t depth) {
  volatile char* below = (volatile char*)alloca(depth);
  (void)below;
  step->run(mine);
  __asm__ volatile("" : : "r"(below) : "memory");
}

static int64_t go_down(void* arg) {
  const place* here = (const place*)arg;
  belongings mine;
  if (prepare(&mine) < 0) return -77;
  uintptr_t end = (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)(kPage - 1);
  while (is_readable(end - 1)) end -= kPage;
  const size_t depth = (uintptr_t)__builtin_frame_address(0) - end;
  // Leaves room for the frame of work_at and its callers.
  if (depth > here->left + 512) work_at(here->step, &mine, depth - here->left - 256);
  __atomic_fetch_add(&worked, 1, __ATOMIC_RELAXED);
  release(&mine);
  return 0;
}

static int64_t scan(void* unused) {
  (void)unused;
  for (int i = 0; i < kSteps; ++i)
    for (size_t left = 0; left < kEnough; left += 64 * step_bytes) {
      janus_nursery* cage = open_plain();
      place places[64];
      for (int k = 0; k < 64; ++k) {
        places[k].step = &steps[i];
        places[k].left = left + (size_t)k * step_bytes;
        CHECK(spawn(cage, go_down, &places[k]).raw != 0);
      }
      const long status = close_cage(cage);
      if (status == 0 || (status == JANUS_PANIC && !grows)) continue;
      janus_print(1, "%s at %zu and more: ", steps[i].name, left);
      CHECK_EQ(status, 0);
    }
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1) step_bytes *= (size_t)strtol(argv[1], NULL, 10);
  const janus_stats sizes = read_accounts().stats;
  grows = sizes.stack_max > sizes.stack_size;
  open_null_file();
  const int stderr_before = (int)janus_syscall(SYS_dup, 2);
  if (!getenv("LOUD")) janus_syscall(SYS_dup2, null_file, 2);
  CHECK_EQ(beside_a_neighbour(2000, scan, NULL), 0);
  // Both outcomes must have occurred, or the depths were not covered.
  const janus_stats stats = read_accounts().stats;
  const long enough = argc > 1 ? kSteps : 10 * kSteps;
  CHECK_THAT(worked, worked > 2 * enough);
  if (!grows) CHECK_THAT(stats.tasks_panicked, (long)stats.tasks_panicked > enough);
  if (grows) CHECK_THAT(stats.stack_steps, (long)stats.stack_steps > enough);
  janus_print(1, "figure: calls at a depth of stack: %ld, %lu panics\n", worked, (unsigned long)stats.tasks_panicked);
  janus_syscall(SYS_dup2, stderr_before, 2);
  return end();
}
