// SPDX-License-Identifier: Apache-2.0
// A cage writes a large untouched block: to a descriptor for which it has no right, and to one for which it has, with
// ops for only a part. The runtime does not read the part that was not paid for, so its pages are not made.
#include <sys/syscall.h>

#include "hostile.h"

enum { kPage = 4096, kPages = 16384, kOps = 1000 };
static char* block;
static unsigned char is_there[kPages];

static int64_t write_without_right(void* unused) {
  (void)unused;
  block = (char*)janus_alloc((size_t)kPages * kPage);
  return janus_write(1000, block, (size_t)kPages * kPage) == JANUS_E_NO_CAP ? 0 : -5;
}

static int64_t write_without_ops(void* unused) {
  (void)unused;
  block = (char*)janus_alloc((size_t)kPages * kPage);
  return janus_write(1, block, (size_t)kPages * kPage) == 0 ? 0 : -5;
}

// The number of present pages, if the machine reports it.
static long pages_of_block(void) {
  char* const first = (char*)(((uintptr_t)block + kPage - 1) & ~(uintptr_t)(kPage - 1));
  if (block == NULL || janus_syscall(SYS_mincore, first, (size_t)(kPages - 1) * kPage, is_there) != 0) return 0;
  long count = 0;
  for (long i = 0; i < kPages - 1; ++i) count += is_there[i] & 1;
  return count;
}

static void write_in_cage(janus_task_fn fn, uint32_t ops, long status) {
  janus_budget budget = roomy();
  budget.memory = (size_t)80 << 20;
  budget.ops = ops;
  janus_nursery* cage = open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, budget);
  spawn_roomy(cage, fn, NULL);
  CHECK_EQ(janus_nursery_await(cage, NULL), status);
  const long pages = pages_of_block();
  CHECK_THAT(pages, pages < 2 * kOps);  // one page may come with 511 neighbours
  janus_nursery_destroy(cage);
  janus_free(block);
}

static int64_t attack(void* unused) {
  (void)unused;
  for (int i = 0; i < 20; ++i) {
    write_in_cage(write_without_right, roomy().ops, 0);
    write_in_cage(write_without_ops, kOps, JANUS_BUDGET_EXCEEDED);
  }
  return 0;
}

int main(void) {
  CHECK_EQ(beside_a_neighbour(300, attack, NULL), 0);
  return end();
}
