// SPDX-License-Identifier: Apache-2.0
// malloc.c: the patterns of ../../workloads/blocks.h with malloc and free of the library that it is linked with.
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "../measure.h"

static inline void* take_block(size_t bytes) {
  void* block = malloc(bytes);
  if (!block) fail("no memory");
  return block;
}
static inline void give_block(void* block) {
  free(block);
}
static inline void let_other_thread_run(void) {
  sched_yield();
}

#include "../../workloads/blocks.h"

static void alloc(long size, int workers) {
  pin(0, workers);
  one_by_one(size / 10);
  const uint64_t start = now_ns();
  one_by_one(size);
  figure("ns", (double)(now_ns() - start) / (double)size);
}

static void alloc_batch(long size, int workers) {
  pin(0, workers);
  in_batches(size / 10);
  const uint64_t start = now_ns();
  const long done = in_batches(size);
  figure("ns", (double)(now_ns() - start) / (double)done);
}

static void alloc_mixed(long size, int workers) {
  pin(0, workers);
  of_mixed_sizes(size / 10);
  const uint64_t start = now_ns();
  of_mixed_sizes(size);
  figure("ns", (double)(now_ns() - start) / (double)size);
}

static void* freeing_thread(void* arg) {
  pin(1, 2);
  free_of_another(*(long*)arg);
  free_of_another(*(long*)arg);
  return NULL;
}

static void alloc_elsewhere(long size, int workers) {
  pin(0, workers);
  long count = size - size % kPart;
  pthread_t thread;
  if (pthread_create(&thread, NULL, freeing_thread, &count) != 0) fail("no thread");
  allocate_for_another(count);
  const uint64_t start = now_ns();
  allocate_for_another(count);
  figure("ns", (double)(now_ns() - start) / (double)count);
  pthread_join(thread, NULL);
}

static const struct workload kWorkloads[] = {
    {"alloc", alloc}, {"alloc_batch", alloc_batch}, {"alloc_mixed", alloc_mixed}, {"alloc_elsewhere", alloc_elsewhere},
    {0, 0},
};

int main(int argc, char** argv) {
  return run_workload(kWorkloads, argc, argv);
}
