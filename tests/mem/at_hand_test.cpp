// SPDX-License-Identifier: Apache-2.0
// at_hand_test.cpp — the usual cases of allocate() and free(), by the steps of which janus_alloc and janus_free are made:
// they do what the general functions do, or nothing.
#include "rt/mem/heap.h"
#include "tests/harness/test.h"

using namespace janus;

namespace {

constexpr std::uint32_t kTag = 5;

struct AtHand {
  Heap heap, other;
  HeapCache cache{};
  AtHand() {
    CHECK(heap.init());
    CHECK(other.init());
  }
  ~AtHand() {
    heap.flush(cache);
    CHECK_EQ(heap.bytes_in_use(), 0u);
    heap.destroy();
    other.destroy();
  }
  // Makes the cache belong to the heap, with room in all lists.
  void link(std::size_t bytes = 16) {
    CHECK(heap.free(&cache, heap.allocate(&cache, bytes, 16, kTag)).misuse == Misuse::kNone);
  }
};

bool free_at_hand(HeapCache& cache, void* block, std::size_t bytes, std::uint32_t with_tag = kTag) {
  Heap::AtHand found;
  if (!Heap::find_at_hand(cache, block, found) || !Heap::free_found(found, block, with_tag)) return false;
  CHECK_EQ(Heap::bytes_of(*found.list), bytes);
  return true;
}

}  // namespace

TEST(at_hand, frees_a_block_by_its_first_address_alone) {
  for (unsigned c = 0; c < kSizeClasses; c++) {
    AtHand f;
    f.link(c == 0 ? 32 : 16);  // takes no block of this class
    const SpanShape& shape = span_shape(c);
    static std::byte* blocks[kMaxRunPages * kPageBytes / kMinBlock];
    for (unsigned n = 0; n < shape.blocks; n++)
      blocks[n] = static_cast<std::byte*>(f.heap.allocate(nullptr, shape.block_bytes, 16, kTag));
    std::byte* const start = blocks[0];  // of the span
    CHECK_EQ(address_of(start) % kPageBytes, 0u);
    // What would be the tags of blocks behind the last one is not zero, as it may be in a heap that has been used.
    const std::uint64_t tags = first_tag(page_of(start), shape);
    for (unsigned n = shape.blocks; n * std::size_t{shape.block_bytes} < shape.pages * kPageBytes; n++)
      tag_at(chunk_of(start), tags + n).store(kTag);
    for (std::size_t offset = 0; offset < shape.pages * kPageBytes; offset += offset % 64 == 0 ? 1 : 5) {
      const bool is_block = offset % shape.block_bytes == 0 && offset / shape.block_bytes < shape.blocks;
      if (!CHECK_EQ(free_at_hand(f.cache, start + offset, shape.block_bytes), is_block)) break;
      if (!is_block) continue;
      CHECK(!free_at_hand(f.cache, start + offset, shape.block_bytes));
      CHECK(f.heap.look_at(start + offset).misuse == Misuse::kFreed);
      CHECK_EQ(f.heap.allocate(&f.cache, shape.block_bytes, 16, kTag), static_cast<void*>(start + offset));
    }
    for (unsigned n = 0; n < shape.blocks; n++) CHECK(f.heap.free(nullptr, blocks[n]).misuse == Misuse::kNone);
  }
}

TEST(at_hand, leaves_everything_unusual_alone) {
  AtHand f;
  int local = 0;
  void* const small = f.heap.allocate(nullptr, 64, 16, kTag);
  CHECK(!free_at_hand(f.cache, small, 64));  // the cache belongs to no heap yet
  f.link();
  void* const others_tag = f.heap.allocate(nullptr, 64, 16, kTag + 1);
  void* const runtimes = f.heap.allocate(nullptr, 64, 16, kTag | kRuntimeTag);
  void* const large = f.heap.allocate(nullptr, 100'000, 16, kTag);
  void* const huge = f.heap.allocate(nullptr, 3 << 20, 16, kTag);
  void* const foreign = f.other.allocate(nullptr, 64, 16, kTag);
  void* const nowhere = reinterpret_cast<void*>(~std::uintptr_t{15});
  void* const header = chunk_of(small);
  const std::size_t in_use = f.heap.bytes_in_use();
  for (void* const block :
       {runtimes, large, huge, foreign, nowhere, header, static_cast<void*>(&local), static_cast<void*>(nullptr)})
    CHECK(!free_at_hand(f.cache, block, 0));
  CHECK_EQ(f.heap.bytes_in_use(), in_use);
  CHECK(free_at_hand(f.cache, small, 64));
  CHECK(free_at_hand(f.cache, others_tag, 64, kTag + 1));
  for (void* const block : {large, huge}) CHECK(f.heap.free(nullptr, block).misuse == Misuse::kNone);
  CHECK_EQ(f.heap.free_own(nullptr, runtimes).tag, kTag);
  CHECK(f.other.free(nullptr, foreign).misuse == Misuse::kNone);
}

TEST(at_hand, a_full_list_takes_no_more) {
  AtHand f;
  f.link();
  constexpr unsigned kBatch = span_shape(size_class_of(64)).batch;
  void* blocks[kBatch + 1];
  for (void*& block : blocks) block = f.heap.allocate(nullptr, 64, 16, kTag);
  for (unsigned n = 0; n < kBatch; n++) CHECK(free_at_hand(f.cache, blocks[n], 64));
  CHECK(!free_at_hand(f.cache, blocks[kBatch], 64));
  CHECK(f.heap.free(&f.cache, blocks[kBatch]).misuse == Misuse::kNone);
}

TEST(at_hand, a_flushed_cache_forgets_the_chunks_of_its_heap) {
  AtHand f;
  f.link();
  void* const block = f.heap.allocate(nullptr, 64, 16, kTag);
  void* const foreign = f.other.allocate(nullptr, 64, 16, kTag);
  void* const first = f.heap.allocate(nullptr, 64, 16, kTag);
  CHECK(free_at_hand(f.cache, first, 64));
  f.heap.flush(f.cache);
  CHECK(f.other.free(&f.cache, foreign).misuse == Misuse::kNone);  // belongs to the other heap now
  CHECK(!free_at_hand(f.cache, block, 64));
  f.other.flush(f.cache);
  CHECK(f.heap.free(nullptr, block).misuse == Misuse::kNone);
}

// More chunks than a cache remembers.
TEST(at_hand, frees_in_any_number_of_chunks) {
  AtHand f;
  f.link();
  constexpr unsigned kCount = 6000;
  constexpr std::size_t kBytes = 32768;
  static void* blocks[kCount];
  for (void*& block : blocks) block = f.heap.allocate(nullptr, kBytes, 16, kTag);
  std::uintptr_t lowest = ~std::uintptr_t{0}, highest = 0;
  for (void* const block : blocks) {
    lowest = address_of(block) < lowest ? address_of(block) : lowest;
    highest = address_of(block) > highest ? address_of(block) : highest;
  }
  CHECK_GT((highest - lowest) / kChunkBytes, 40u);
  for (unsigned n = 0; n < kCount; n++) {
    void* const block = blocks[n * 1009u % kCount];
    if (!free_at_hand(f.cache, block, kBytes)) CHECK(f.heap.free(&f.cache, block).misuse == Misuse::kNone);
    CHECK(f.heap.look_at(block).misuse != Misuse::kNone);
    CHECK(!free_at_hand(f.cache, block, kBytes));
  }
  CHECK_EQ(f.heap.bytes_in_use(), 0u);
}
