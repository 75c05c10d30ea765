// SPDX-License-Identifier: Apache-2.0
// refusal_test.cpp — the platform refuses memory: at each call in turn, beyond a limit, and when guard pages run out.
// Nothing may crash, leak or be handed out twice, and a refused request succeeds when there is memory again.
#include "rt/mem/heap.h"
#include "rt/mem/slab.h"
#include "rt/mem/stack_canary.h"
#include "rt/mem/stack_pool.h"
#include "tests/fake_platform/fake_platform.h"
#include "tests/harness/test.h"

using namespace janus;

TEST(refusal, init_fails_cleanly) {
  fake_platform::reset();
  fake_platform::refuse_maps(1);
  Heap heap;
  Slab slab;
  StackPool pool;
  CHECK(!heap.init());
  CHECK(!slab.init(128));
  CHECK(!pool.init());
  for (const std::size_t none : {heap.mappings(), slab.mappings(), pool.mappings()}) CHECK_EQ(none, 0u);
  heap.destroy();
  slab.destroy();
  pool.destroy();
  CHECK_EQ(fake_platform::stray_unmaps(), 0u);
}

TEST(refusal, the_heap_survives_it_at_every_call) {
  constexpr std::size_t kSizes[] = {16, 5000, 40000, 2 << 20};
  for (std::uint64_t first = 2; first < 12; first++) {
    fake_platform::reset();
    fake_platform::refuse_maps(first, 3);
    Heap heap;
    HeapCache cache{};
    REQUIRE(heap.init());
    void* blocks[64];
    unsigned count = 0, refused = 0;
    for (unsigned n = 0; n < 64; n++) {
      void* block = heap.allocate(&cache, kSizes[n % 4], 16, n);
      if (block != nullptr)
        blocks[count++] = block;
      else
        refused++;
    }
    CHECK_LT(refused, 10u);  // the heap recovers
    for (unsigned n = 0; n < count; n++) heap.free(&cache, blocks[n]);
    heap.flush(cache);
    CHECK_EQ(heap.bytes_in_use(), 0u);
    heap.destroy();
    CHECK_EQ(fake_platform::mapped_bytes(), 0u);
    CHECK_EQ(fake_platform::stray_unmaps(), 0u);
  }
}

TEST(refusal, a_heap_under_a_limit_fills_it_and_can_be_filled_again) {
  fake_platform::reset();
  fake_platform::limit_mapped_bytes(std::uint64_t{32} << 20);
  Heap heap;
  HeapCache cache{};
  REQUIRE(heap.init());
  std::size_t first = 0;
  for (unsigned round = 0; round < 3; round++) {
    static void* blocks[70000];
    std::size_t count = 0;
    while (count < 70000 && (blocks[count] = heap.allocate(&cache, 1000, 16, 1)) != nullptr) count++;
    CHECK_GT(count, 10000u);  // at least 10 of the 32 MiB
    CHECK_LT(count, 70000u);
    if (round == 0) first = count;
    CHECK_EQ(count, first);
    while (count != 0) heap.free(&cache, blocks[--count]);
  }
  heap.flush(cache);
  heap.destroy();
  CHECK_EQ(fake_platform::mapped_bytes(), 0u);
}

TEST(refusal, slabs_halve_what_they_ask_for) {
  fake_platform::reset();
  fake_platform::limit_mapped_bytes(std::uint64_t{8} << 20);
  Slab slab;
  SlabCache cache{};
  REQUIRE(slab.init(128));
  std::size_t count = 0;
  while (slab.take(&cache) != nullptr) count++;
  CHECK_GT(count, 40000u);  // at least 5 of the 8 MiB
  CHECK_EQ(slab.count(), count);
  CHECK_EQ(slab.take(nullptr), nullptr);
  slab.give(&cache, slab.at(0));
  CHECK_EQ(slab.take(&cache), slab.at(0));
  slab.destroy();
  CHECK_EQ(fake_platform::mapped_bytes(), 0u);
}

TEST(refusal, stack_slabs_shrink_under_a_limit) {
  fake_platform::reset();
  fake_platform::limit_mapped_bytes(std::uint64_t{64} << 20);
  StackPool pool;
  StackCache cache{};
  REQUIRE(pool.init());
  static Stack* stacks[8192];
  unsigned count = 0;
  while (count < 8192 && (stacks[count] = pool.take(&cache, 0)) != nullptr) count++;
  CHECK_GT(count, 3900u);  // 64 MiB would hold 4,096 stacks of 16 KiB
  CHECK_LT(count, 4096u);
  CHECK_EQ(pool.take(&cache, 7), nullptr);
  CHECK_EQ(pool.take(nullptr, 0), nullptr);
  pool.give(&cache, stacks[--count]);
  CHECK_EQ(pool.take(&cache, 0), stacks[count]);
  count++;
  while (count != 0) pool.give(&cache, stacks[--count]);
  pool.flush(cache);
  CHECK_EQ(pool.stacks_in_use(), 0u);
  pool.destroy();
  CHECK_EQ(fake_platform::mapped_bytes(), 0u);
  CHECK_EQ(fake_platform::stray_unmaps(), 0u);
}

// The platform never maps more at once than one stack needs, so each slab holds one stack, and the table of slabs is
// full before memory runs out.
TEST(refusal, a_pool_whose_table_of_slabs_is_full_gives_no_more_stacks) {
  constexpr unsigned kSlabs = 4096;
  fake_platform::reset();
  fake_platform::limit_guards(0, platform::Guard::kNone);
  StackPool pool;
  REQUIRE(pool.init());
  static Stack* stacks[kSlabs];
  for (Stack*& stack : stacks) {
    fake_platform::limit_mapped_bytes(fake_platform::mapped_bytes() +
                                      StackSlab::mapped_bytes(1, stack_stride(0, fixed_extent(0))));
    stack = pool.take(nullptr, 0);
    REQUIRE(stack != nullptr);
  }
  CHECK_EQ(pool.mappings(), 1u + kSlabs);
  fake_platform::limit_mapped_bytes(fake_platform::kNever);
  CHECK_EQ(pool.take(nullptr, 0), nullptr);
  CHECK_EQ(pool.take(nullptr, 1), nullptr);
  pool.give(nullptr, stacks[0]);
  CHECK_EQ(pool.take(nullptr, 0), stacks[0]);
  for (Stack* stack : stacks) pool.give(nullptr, stack);
  pool.destroy();
  CHECK_EQ(fake_platform::mapped_bytes(), 0u);
}

TEST(refusal, stacks_beyond_the_last_guard_have_a_canary_that_detects_an_overrun) {
  fake_platform::reset();
  fake_platform::limit_guards(100);
  StackPool pool;
  REQUIRE(pool.init());
  constexpr unsigned kCount = 300;
  Stack* stacks[kCount];
  unsigned guarded = 0;
  for (Stack*& stack : stacks) {
    stack = pool.take(nullptr, 0);
    REQUIRE(stack != nullptr);
    guarded += stack->guard != platform::Guard::kNone;
    CHECK(canary_intact(stack));
  }
  CHECK_EQ(guarded, 100u);
  CHECK_EQ(pool.guard_pages(), 100u);
  CHECK_GE(pool.unguarded(), 200u);
  Stack* bare = stacks[kCount - 1];
  REQUIRE(bare->guard == platform::Guard::kNone);
  *bare->limit = std::byte{1};  // the lowest byte that the task may use
  CHECK(canary_intact(bare));
  for (unsigned n = 1; n <= kCanaryWords * 8; n++) {
    bare->limit[-static_cast<int>(n)] ^= std::byte{1};
    CHECK(!canary_intact(bare));
    bare->limit[-static_cast<int>(n)] ^= std::byte{1};
  }
  for (Stack* stack : stacks) pool.give(nullptr, stack);
  pool.destroy();
  CHECK_EQ(fake_platform::mapped_bytes(), 0u);
}

// A guard page made by mprotect splits the mapping around it.
TEST(refusal, each_kind_of_guard_is_counted_as_what_it_is) {
  for (const platform::Guard kind : {platform::Guard::kProtected, platform::Guard::kInstalled}) {
    fake_platform::reset();
    fake_platform::limit_guards(fake_platform::kNever, kind);
    StackPool pool;
    REQUIRE(pool.init());
    Stack* const stack = pool.take(nullptr, 0);
    REQUIRE(stack != nullptr);
    CHECK(stack->guard == kind);
    CHECK_GT(pool.guard_pages(), 0u);
    CHECK_EQ(pool.unguarded(), 0u);
    const std::size_t split = kind == platform::Guard::kProtected ? pool.guard_pages() : 0;
    CHECK_EQ(pool.mprotected(), split);
    CHECK_EQ(pool.mappings(), 2 + 2 * split);  // one for the table and one for a slab
    pool.give(nullptr, stack);
    pool.destroy();
    CHECK_EQ(fake_platform::mapped_bytes(), 0u);
  }
}

TEST(refusal, no_entropy_is_no_reason_to_stop) {
  fake_platform::reset();
  fake_platform::refuse_entropy();
  fake_platform::limit_guards(0, platform::Guard::kNone);
  StackPool pool;
  REQUIRE(pool.init());
  Stack* stack = pool.take(nullptr, 0);
  REQUIRE(stack != nullptr);
  CHECK_NE(stack->canary, 0u);
  CHECK(canary_intact(stack));
  pool.give(nullptr, stack);
  pool.destroy();
}

TEST(refusal, idle_memory_is_given_back_to_the_machine) {
  fake_platform::reset();
  StackPool pool;
  StackCache cache{};
  REQUIRE(pool.init());
  static Stack* stacks[8192];
  for (Stack*& stack : stacks) stack = pool.take(&cache, 0);
  for (Stack* stack : stacks) pool.give(&cache, stack);
  CHECK_EQ(fake_platform::discarded_bytes(), 0u);  // the pool keeps them for reuse
  pool.give_excess();
  CHECK_EQ(fake_platform::discarded_bytes(), 0u);  // they were in use in the period that ends
  pool.give_excess();
  // An idle pool keeps a reserve of 1,024 stacks of 16 KiB, and what the cache holds.
  CHECK_GE(fake_platform::discarded_bytes(), (8192 - 1024 - 128) * stack_stride(0, fixed_extent(0)));
  CHECK_LE(pool.stacks_cached(), 1024u + 64u);
  pool.flush(cache);
  pool.destroy();
}
