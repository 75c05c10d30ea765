// SPDX-License-Identifier: Apache-2.0
// alloc.c: allocates and frees blocks, in the patterns of blocks.h.
#include <sys/syscall.h>

#include "bench.h"

static inline void* take_block(size_t bytes) {
  void* block = janus_alloc(bytes);
  EXPECT(block != NULL);
  return block;
}
static inline void give_block(void* block) {
  janus_free(block);
}
static inline void let_other_thread_run(void) {
  (void)janus_syscall(SYS_sched_yield);
}

#include "blocks.h"

// `size` blocks of 64 bytes, one at a time.
void bench_alloc(long size, int workers) {
  (void)workers;
  one_by_one(size / 10);
  const uint64_t start = janus_now_ns();
  one_by_one(size);
  figure("ns", (int64_t)(janus_now_ns() - start), size);
}

// `size` blocks of 64 bytes, a thousand at a time.
void bench_alloc_batch(long size, int workers) {
  (void)workers;
  (void)in_batches(size / 10);
  const uint64_t start = janus_now_ns();
  const long done = in_batches(size);
  figure("ns", (int64_t)(janus_now_ns() - start), done);
}

// `size` blocks of random sizes and lifetimes.
void bench_alloc_mixed(long size, int workers) {
  (void)workers;
  of_mixed_sizes(size / 10);
  const uint64_t start = janus_now_ns();
  of_mixed_sizes(size);
  figure("ns", (int64_t)(janus_now_ns() - start), size);
}

static int64_t freeing_task(void* arg) {
  free_of_another(*(long*)arg);
  free_of_another(*(long*)arg);
  return 0;
}

// `size` blocks of 64 bytes, allocated by a task on one worker and freed by a task on the other.
void bench_alloc_elsewhere(long size, int workers) {
  EXPECT(workers >= 2);
  long count = size - size % kPart;
  EXPECT(janus_nursery_create() != NULL && janus_nursery_spawn(freeing_task, &count) == 0);
  allocate_for_another(count);
  const uint64_t start = janus_now_ns();
  allocate_for_another(count);
  figure("ns", (int64_t)(janus_now_ns() - start), count);
  EXPECT(janus_nursery_await_all() == 0);
}
