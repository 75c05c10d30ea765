// SPDX-License-Identifier: Apache-2.0
// given_twice_sample.cpp — what the runtime must never do with its own records, stacks and blocks. aborts_test.py runs
// each test and expects it to abort.
#include "rt/mem/heap.h"
#include "rt/mem/slab.h"
#include "rt/mem/stack_pool.h"
#include "tests/harness/test.h"

using namespace janus;

TEST(given_twice, a_record) {
  static Slab slab;
  static SlabCache cache;
  REQUIRE(slab.init(64));
  void* const record = slab.take(&cache);
  slab.give(&cache, record);
  slab.give(&cache, record);
}

TEST(given_twice, a_record_by_two) {
  static Slab slab;
  static SlabCache one, two;
  REQUIRE(slab.init(192));
  void* const record = slab.take(&one);
  slab.give(&two, record);
  slab.give(nullptr, record);
}

TEST(given_twice, a_stack) {
  static StackPool pool;
  static StackCache cache;
  REQUIRE(pool.init());
  Stack* const stack = pool.take(&cache, 0);
  pool.give(&cache, stack);
  pool.give(nullptr, stack);
}

TEST(given_twice, a_block_of_the_runtimes_own) {
  static Heap heap;
  REQUIRE(heap.init());
  void* const block = heap.allocate(nullptr, 64, 16, kRuntimeTag);
  (void)heap.free_own(nullptr, block);
  (void)heap.free_own(nullptr, block);
}

// Only a bug of the heap, or a stray write into its tables, can make a free list lead to a held block.
TEST(given_twice, a_held_block_in_a_list) {
  static Heap heap;
  static HeapCache cache;
  REQUIRE(heap.init());
  void* const block = heap.allocate(&cache, 64, 16, 1);
  (void)heap.free(&cache, block);
  BlockRef ref;
  REQUIRE(find_block(block, ref));
  ref.tag().store(1, std::memory_order_relaxed);
  (void)heap.allocate(&cache, 64, 16, 1);
}
