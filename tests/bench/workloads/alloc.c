// SPDX-License-Identifier: Apache-2.0
// alloc.c: allocates and frees a block of 64 bytes.
#include "bench.h"

static void take_and_give(long count) {
  for (long i = 0; i < count; ++i) {
    void* block = janus_alloc(64);
    EXPECT(block != NULL);
    __asm__ volatile("" : : "r"(block) : "memory");  // makes the compiler keep the block
    janus_free(block);
  }
}

// `size` blocks.
void bench_alloc(long size, int workers) {
  (void)workers;
  take_and_give(size / 10);
  const uint64_t start = janus_now_ns();
  take_and_give(size);
  figure("ns", (int64_t)(janus_now_ns() - start), size);
}
