// SPDX-License-Identifier: Apache-2.0
// misuse_test.cpp — what the heap reports for wrong frees, and that it is unchanged afterwards, every byte and tag
// included.
#include "rt/mem/misuse.h"

#include "rt/mem/heap.h"
#include "tests/harness/test.h"

using namespace janus;

namespace {

constexpr std::uint32_t kTag = 5;
constexpr std::size_t kOfEveryKind[] = {16, 100, 2048, 32768, 50000, std::size_t{2} << 20};

struct Fixture {
  Heap heap;
  HeapCache cache{};
  Fixture() { CHECK(heap.init()); }
  ~Fixture() {
    heap.flush(cache);
    CHECK_EQ(heap.bytes_in_use(), 0u);
    heap.destroy();
  }
  void* take(std::size_t bytes, std::uint32_t tag = kTag) { return heap.allocate(&cache, bytes, 16, tag); }
  void give(void* block) { CHECK_EQ(heap.free(&cache, block).misuse, Misuse::kNone); }
  // Tries every wrong call, with a worker's cache and as a thread outside tasks: each must report `misuse` and change
  // nothing.
  void expect_refusal(void* block, Misuse misuse) {
    const std::size_t in_use = heap.bytes_in_use();
    const Heap::Found before = heap.look_at(block);
    CHECK_EQ(before.misuse, misuse);
    CHECK_EQ(heap.free(&cache, block).misuse, misuse);
    CHECK_EQ(heap.free(nullptr, block).misuse, misuse);
    CHECK_EQ(heap.take_over(block).misuse, misuse);
    const Heap::Found after = heap.look_at(block);
    CHECK(before.bytes == after.bytes && before.tag == after.tag && before.misuse == after.misuse);
    CHECK_EQ(heap.bytes_in_use(), in_use);
  }
};

}  // namespace

TEST(misuse, a_double_free_is_reported) {
  Fixture f;
  for (std::size_t bytes : kOfEveryKind) {
    void* block = f.take(bytes);
    const Heap::Found freed = f.heap.free(&f.cache, block);
    CHECK_EQ(freed.misuse, Misuse::kNone);
    CHECK_EQ(freed.tag, kTag);
    CHECK_EQ(freed.bytes, Heap::charge_for(bytes, 16));
    // The pages of a freed large block belong to no block.
    f.expect_refusal(block, bytes <= kMaxSmall ? Misuse::kFreed : Misuse::kNoBlock);
    CHECK_EQ(f.heap.size_of(block), 0u);
    // The block is in one free list, once.
    void* one = f.take(bytes);
    void* other = f.take(bytes);
    CHECK(one != other);
    f.give(one);
    f.give(other);
  }
}

TEST(misuse, a_foreign_or_misaligned_address_is_reported) {
  Fixture f;
  alignas(16) char local[64] = {};
  static char apart[64];
  char* small = static_cast<char*>(f.take(100));
  char* large = static_cast<char*>(f.take(50000));
  char* huge = static_cast<char*>(f.take(std::size_t{2} << 20));
  void* const wrong[] = {local,
                         apart,
                         small + 1,
                         small + 16,
                         small + 64,
                         large + 16,
                         large + 4096,
                         huge + 16,
                         huge + 4096,
                         &f.heap,
                         reinterpret_cast<void*>(std::uintptr_t{8}),
                         reinterpret_cast<void*>(std::uintptr_t{16}),
                         reinterpret_cast<void*>(~std::uintptr_t{0}),
                         reinterpret_cast<void*>(~std::uintptr_t{15}),
                         reinterpret_cast<void*>(std::uintptr_t{1} << 47),
                         reinterpret_cast<void*>(std::uintptr_t{0x8000'0000'0000'0010}),
                         reinterpret_cast<void*>(round_down(address_of(small), kChunkBytes))};
  for (void* address : wrong) f.expect_refusal(address, Misuse::kNoBlock);
  CHECK_EQ(f.heap.free(&f.cache, nullptr).misuse, Misuse::kNone);
  for (void* block : {small, large, huge}) f.give(block);
}

TEST(misuse, blocks_of_the_runtime_are_freed_by_the_runtime_alone) {
  Fixture f;
  for (std::size_t bytes : kOfEveryKind) {
    void* block = f.take(bytes, kTag | kRuntimeTag);
    f.expect_refusal(block, Misuse::kRuntimes);
    CHECK_EQ(f.heap.size_of(block), Heap::charge_for(bytes, 16));
    const Heap::Found freed = f.heap.free_own(bytes % 32 == 0 ? &f.cache : nullptr, block);
    CHECK_EQ(freed.tag, kTag);
    CHECK_EQ(freed.bytes, Heap::charge_for(bytes, 16));
  }
}

TEST(misuse, blocks_that_the_runtime_took_over_cannot_be_freed_by_users) {
  Fixture f;
  for (std::size_t bytes : kOfEveryKind) {
    void* block = f.take(bytes);
    const Heap::Found taken = f.heap.take_over(block);
    CHECK_EQ(taken.misuse, Misuse::kNone);
    CHECK_EQ(taken.tag, kTag);
    CHECK_EQ(taken.bytes, Heap::charge_for(bytes, 16));
    f.expect_refusal(block, Misuse::kRuntimes);
    CHECK_EQ(f.heap.free_own(&f.cache, block).tag, kTag);
  }
}

TEST(misuse, the_space_behind_the_last_block_of_a_span_is_no_block) {
  Fixture f;
  for (unsigned c = 0; c < kSizeClasses; c++) {
    const SpanShape& shape = span_shape(c);
    char* block = static_cast<char*>(f.take(shape.block_bytes));
    BlockRef ref;
    REQUIRE(find_block(block, ref));
    std::byte* start = start_of(ref.span());
    for (std::size_t n = shape.blocks; (n + 1) * shape.block_bytes <= shape.pages * kPageBytes; n++)
      CHECK_EQ(f.heap.size_of(start + n * shape.block_bytes), 0u);
    CHECK_EQ(f.heap.tag_of(start + shape.pages * kPageBytes - 16), kFreeTag);
    f.heap.free(&f.cache, block);
  }
}

// The task that wrote cannot be found any more. The heap reports the damage on stderr, and goes on without the blocks
// of the damaged list.
TEST(misuse, a_write_to_a_freed_block_is_found_before_its_link_is_followed) {
  Fixture f;
  void** block = static_cast<void**>(f.take(64));
  void* other = f.take(64);
  f.give(other);
  f.give(block);
  block[0] = reinterpret_cast<void*>(std::uintptr_t{0x4141414141414141});
  constexpr unsigned kCount = 1000;
  static void* blocks[kCount];
  for (unsigned n = 0; n < kCount; n++) {
    blocks[n] = f.take(64);
    CHECK(blocks[n] != nullptr && blocks[n] != block && blocks[n] != other);
  }
  CHECK_EQ(f.heap.bytes_in_use(), kCount * 64);
  for (void* taken : blocks) f.give(taken);
}

TEST(misuse, a_thread_outside_reports_it_too) {
  Fixture f;
  void* kept = f.heap.allocate(nullptr, 64, 16, kTag);  // keeps the span in use
  void** block = static_cast<void**>(f.heap.allocate(nullptr, 64, 16, kTag));
  CHECK_EQ(f.heap.free(nullptr, block).misuse, Misuse::kNone);
  block[1] = nullptr;
  void* another = f.heap.allocate(nullptr, 64, 16, kTag);
  CHECK(another != nullptr && another != block);
  CHECK_EQ(f.heap.bytes_in_use(), 128u);
  for (void* held : {kept, another}) CHECK_EQ(f.heap.free(nullptr, held).misuse, Misuse::kNone);
}

TEST(misuse, a_corrupted_batch_is_found_when_it_is_returned) {
  Fixture f;
  constexpr unsigned kCount = 2000;
  static void** blocks[kCount];
  for (unsigned round = 0; round < 3; round++) {
    for (unsigned n = 0; n < kCount; n++) {
      blocks[n] = static_cast<void**>(f.take(256));
      for (unsigned before = n < 64 ? 0 : n - 64; before < n; before++) CHECK(blocks[n] != blocks[before]);
    }
    CHECK_EQ(f.heap.bytes_in_use(), kCount * 256);
    for (unsigned n = 0; n < kCount; n++) {
      f.give(blocks[n]);
      if (n % 100 == 0) blocks[n][1] = nullptr;
    }
    if (round == 1) f.heap.trim();
    CHECK_EQ(f.heap.bytes_in_use(), 0u);
  }
}

TEST(misuse, debug_builds_find_a_write_anywhere_in_the_first_quarter_kilobyte_and_go_on) {
  if constexpr (!kHeapChecks) SKIP("a release build looks at the links only");
  Fixture f;
  char* block = static_cast<char*>(f.take(200));
  f.give(block);
  block[150]++;
  CHECK(f.take(200) == block);
  f.give(block);
}
