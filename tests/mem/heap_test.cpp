// SPDX-License-Identifier: Apache-2.0
// heap_test.cpp — the heap as one worker uses it, or two workers by turns.
#include <iterator>

#include "rt/mem/heap.h"

#include "tests/harness/scale.h"

using namespace janus;

namespace {

// A heap with the caches of two workers.
struct Fixture {
  Heap heap;
  HeapCache one{}, two{};
  Fixture() { CHECK(heap.init()); }
  ~Fixture() {
    heap.flush(one);
    heap.flush(two);
    CHECK_EQ(heap.bytes_in_use(), 0u);
    heap.destroy();
    CHECK_EQ(heap.bytes_mapped(), 0u);
    CHECK_EQ(heap.mappings(), 0u);
  }
};

void write_pattern(void* block, std::size_t bytes, std::uint64_t seed) {
  auto* at = static_cast<unsigned char*>(block);
  for (std::size_t n = 0; n < bytes; n += n < 64 || n + 64 >= bytes ? 1 : 61)
    at[n] = static_cast<unsigned char>(seed + n);
}
bool has_pattern(const void* block, std::size_t bytes, std::uint64_t seed) {
  auto* at = static_cast<const unsigned char*>(block);
  for (std::size_t n = 0; n < bytes; n += n < 64 || n + 64 >= bytes ? 1 : 61)
    if (at[n] != static_cast<unsigned char>(seed + n)) return false;
  return true;
}

constexpr std::size_t kSizes[] = {0,    1,    15,    16,    17,    100,     128,     129,           1000,   1024,
                                  4096, 4097, 32768, 32769, 65536, 1 << 19, 1 << 20, (1 << 20) + 1, 3 << 20};

}  // namespace

TEST(heap, gives_blocks_of_every_size_that_do_not_overlap) {
  Fixture f;
  void* blocks[3 * std::size(kSizes)];
  std::size_t count = 0;
  for (int round = 0; round < 3; round++)
    for (std::size_t bytes : kSizes) {
      void* block = f.heap.allocate(&f.one, bytes, 16, 7);
      REQUIRE(block != nullptr);
      CHECK_EQ(address_of(block) % 16, 0u);
      CHECK_GE(f.heap.size_of(block), bytes);
      CHECK_EQ(f.heap.size_of(block), Heap::charge_for(bytes, 16));
      CHECK_EQ(f.heap.tag_of(block), 7u);
      write_pattern(block, f.heap.size_of(block), count);
      blocks[count++] = block;
    }
  for (std::size_t n = 0; n < count; n++) CHECK(has_pattern(blocks[n], f.heap.size_of(blocks[n]), n));
  for (std::size_t n = 0; n < count; n++) f.heap.free(&f.one, blocks[n]);
}

TEST(heap, aligns_as_asked) {
  Fixture f;
  for (std::size_t align = 1; align <= (std::size_t{8} << 20); align *= 2)
    for (std::size_t bytes : {std::size_t{1}, std::size_t{24}, align / 2 + 1, align, align + 1, 3 * align}) {
      void* block = f.heap.allocate(&f.one, bytes, align, 1);
      REQUIRE(block != nullptr);
      CHECK_EQ(address_of(block) % align, 0u);
      CHECK_GE(f.heap.size_of(block), bytes);
      CHECK_EQ(f.heap.size_of(block), Heap::charge_for(bytes, align));
      static_cast<char*>(block)[bytes - 1] = 1;
      f.heap.free(&f.one, block);
    }
}

TEST(heap, refuses_senseless_sizes_and_alignments) {
  Fixture f;
  for (std::size_t bytes : {~std::size_t{0}, ~std::size_t{0} - 4095, std::size_t{1} << 63, std::size_t{1} << 47}) {
    CHECK_EQ(f.heap.allocate(&f.one, bytes, 16, 1), nullptr);
    CHECK_EQ(Heap::charge_for(bytes, 16), 0u);
  }
  for (std::size_t align : {std::size_t{17}, std::size_t{24}, std::size_t{4097}, std::size_t{1} << 63})
    CHECK_EQ(f.heap.allocate(&f.one, 8, align, 1), nullptr);
}

TEST(heap, hands_out_the_block_that_was_freed_last) {
  Fixture f;
  void* a = f.heap.allocate(&f.one, 48, 16, 1);
  void* b = f.heap.allocate(&f.one, 48, 16, 1);
  f.heap.free(&f.one, a);
  f.heap.free(&f.one, b);
  CHECK_EQ(f.heap.allocate(&f.one, 48, 16, 1), b);
  CHECK_EQ(f.heap.allocate(&f.one, 48, 16, 1), a);
  f.heap.free(&f.one, a);
  f.heap.free(&f.one, b);
}

TEST(heap, remembers_the_tag_of_each_block_by_itself) {
  Fixture f;
  constexpr unsigned kCount = 5000;
  static void* blocks[kCount];
  for (unsigned n = 0; n < kCount; n++) blocks[n] = f.heap.allocate(&f.one, 1 + n % 300 * 7, 16, n);
  for (unsigned n = 0; n < kCount; n++)
    if (f.heap.tag_of(blocks[n]) != n) CHECK_EQ(f.heap.tag_of(blocks[n]), n);
  for (unsigned n = 0; n < kCount; n++) f.heap.free(&f.two, blocks[n]);
}

TEST(heap, another_worker_may_free_and_reuse) {
  Fixture f;
  constexpr unsigned kCount = 3000;
  static void* blocks[kCount];
  std::size_t mapped = 0;
  for (unsigned round = 0; round < 20; round++) {
    for (unsigned n = 0; n < kCount; n++) blocks[n] = f.heap.allocate(&f.one, 200, 16, n);
    for (unsigned n = 0; n < kCount; n++) f.heap.free(&f.two, blocks[n]);
    if (round == 1) mapped = f.heap.bytes_mapped();
  }
  CHECK_EQ(f.heap.bytes_mapped(), mapped);  // one worker's freed blocks serve the other: no growth
}

TEST(heap, a_thread_without_a_cache_is_served_too) {
  Fixture f;
  for (std::size_t bytes : kSizes) {
    void* block = f.heap.allocate(nullptr, bytes, 16, 3);
    REQUIRE(block != nullptr);
    CHECK_EQ(f.heap.tag_of(block), 3u);
    f.heap.free(nullptr, block);
  }
}

TEST(heap, counts_what_callers_hold_to_the_byte) {
  Fixture f;
  std::size_t held = 0;
  void* blocks[std::size(kSizes)];
  for (std::size_t n = 0; n < std::size(kSizes); n++) {
    blocks[n] = f.heap.allocate(n % 2 ? &f.one : &f.two, kSizes[n], 16, 1);
    held += f.heap.size_of(blocks[n]);
    CHECK_EQ(f.heap.bytes_in_use(), held);
  }
  for (std::size_t n = 0; n < std::size(kSizes); n++) {
    held -= f.heap.size_of(blocks[n]);
    f.heap.free(&f.one, blocks[n]);
    CHECK_EQ(f.heap.bytes_in_use(), held);
  }
}

// The table of blocks with their own mappings grows as needed; each block is found, whatever is freed in between.
TEST(heap, holds_any_number_of_blocks_with_mappings_of_their_own) {
  Fixture f;
  constexpr unsigned kCount = 80;  // the table has room for 64 at first
  constexpr std::size_t kBytes = Heap::kMaxLarge + 1;
  static void* blocks[kCount];
  const std::size_t mappings = f.heap.mappings(), mapped = f.heap.bytes_mapped();
  for (unsigned n = 0; n < kCount; n++) {
    blocks[n] = f.heap.allocate(&f.one, kBytes, 16, n + 1);
    REQUIRE(blocks[n] != nullptr);
    CHECK_EQ(f.heap.mappings() - mappings, n + 2);  // and one mapping for the grown table
  }
  CHECK_GE(f.heap.bytes_in_use(), kCount * kBytes);
  CHECK_GT(f.heap.bytes_mapped() - mapped, f.heap.bytes_in_use());
  CHECK_LE(f.heap.bytes_mapped() - mapped, f.heap.bytes_in_use() + (std::size_t{1} << 20));
  for (unsigned n = 0; n < kCount; n += 3) f.heap.free(&f.one, blocks[n]);
  for (unsigned n = 0; n < kCount; n++) CHECK_EQ(f.heap.tag_of(blocks[n]), n % 3 == 0 ? kFreeTag : n + 1);
  for (unsigned n = 0; n < kCount; n++)
    if (n % 3 != 0) f.heap.free(&f.one, blocks[n]);
}

TEST(heap, knows_what_is_not_a_block) {
  Fixture f;
  int local = 0;
  char* small = static_cast<char*>(f.heap.allocate(&f.one, 100, 16, 1));
  char* large = static_cast<char*>(f.heap.allocate(&f.one, 100000, 16, 1));
  char* huge = static_cast<char*>(f.heap.allocate(&f.one, 5 << 20, 16, 1));
  const void* not_blocks[] = {nullptr,
                              &local,
                              small + 1,
                              small + 16,
                              large + 4096,
                              large + 8,
                              huge + 4096,
                              reinterpret_cast<void*>(~std::uintptr_t{0}),
                              reinterpret_cast<void*>(std::uintptr_t{1} << 50)};
  for (const void* address : not_blocks) {
    CHECK_EQ(f.heap.size_of(address), 0u);
    CHECK_EQ(f.heap.tag_of(address), kFreeTag);
  }
  for (char* block : {small, large, huge}) f.heap.free(&f.one, block);
  for (char* block : {small, large, huge}) CHECK_EQ(f.heap.tag_of(block), kFreeTag);
}

TEST(heap, resizes_where_it_can) {
  Fixture f;
  void* small = f.heap.allocate(&f.one, 100, 16, 1);
  CHECK(f.heap.resize_in_place(small, 112));
  CHECK(!f.heap.resize_in_place(small, 113));
  CHECK(!f.heap.resize_in_place(small, 20));  // too much of the block would be wasted
  char* large = static_cast<char*>(f.heap.allocate(&f.one, 200000, 16, 9));
  const std::size_t before = f.heap.bytes_in_use();
  REQUIRE(f.heap.resize_in_place(large, 100000));
  CHECK_EQ(f.heap.size_of(large), Heap::charge_for(100000, 16));
  CHECK_LT(f.heap.bytes_in_use(), before);
  REQUIRE(f.heap.resize_in_place(large, 150000));  // the pages behind are still free
  CHECK_EQ(f.heap.size_of(large), Heap::charge_for(150000, 16));
  CHECK_EQ(f.heap.tag_of(large), 9u);
  large[149999] = 1;
  void* behind = f.heap.allocate(&f.one, 40000, 16, 1);
  CHECK(!f.heap.resize_in_place(large, 400000) || f.heap.size_of(behind) != 0);
  CHECK(!f.heap.resize_in_place(large, 2 << 20));
  for (void* block : {small, static_cast<void*>(large), behind}) f.heap.free(&f.one, block);
}

TEST(heap, takes_the_first_hole_that_is_large_enough) {
  Fixture f;
  constexpr std::size_t kSmall = 64 << 10, kLarge = 512 << 10;
  void* blocks[7];
  for (int i = 0; i < 7; ++i) blocks[i] = f.heap.allocate(&f.one, i % 2 == 0 ? kSmall : kLarge, 16, 0);
  const std::size_t mapped = f.heap.bytes_mapped();
  for (const int freed : {0, 1, 4, 5}) f.heap.free(&f.one, blocks[freed]);
  // Blocks 0 and 1 left one hole as large as both, blocks 4 and 5 another.
  void* const first = f.heap.allocate(&f.one, kLarge + kSmall, 16, 0);
  CHECK(first == blocks[0]);
  f.heap.free(&f.one, blocks[2]);
  void* const second = f.heap.allocate(&f.one, kLarge, 16, 0);
  CHECK(second == blocks[4]);
  void* const third = f.heap.allocate(&f.one, kSmall, 16, 0);
  CHECK(third == blocks[2]);
  CHECK_EQ(f.heap.bytes_mapped(), mapped);
  for (void* block : {first, second, third, blocks[3], blocks[6]}) f.heap.free(&f.one, block);
}

TEST(heap, gives_memory_back_beyond_a_small_reserve) {
  Fixture f;
  constexpr unsigned kCount = 2000;
  static void* blocks[kCount];
  for (unsigned n = 0; n < kCount; n++) {
    blocks[n] = f.heap.allocate(&f.one, 16384, 16, 1);
    static_cast<char*>(blocks[n])[8000] = 1;
  }
  for (unsigned n = 0; n < kCount; n++) f.heap.free(&f.one, blocks[n]);
  CHECK_LE(f.heap.idle_bytes(), std::size_t{4} << 20);
  f.heap.flush(f.one);
  f.heap.trim();
  CHECK_EQ(f.heap.idle_bytes(), 0u);
}

// Compares the heap with a model that knows the size, tag and contents of each held block. Each free checks all of
// these.
TEST(heap, agrees_with_a_model_over_a_random_history) {
  Fixture f;
  struct Held {
    void* block;
    std::size_t bytes;
    std::uint32_t tag;
  };
  constexpr unsigned kMax = 4000;
  static Held held[kMax];
  unsigned count = 0;
  std::size_t in_use = 0;
  std::uint64_t state = 42;
  auto random = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
  };
  const auto steps = static_cast<unsigned>(test::scaled(200000, 40000));  // enough to grow and to shrink at least once
  for (unsigned step = 0; step < steps; step++) {
    HeapCache* cache = random() % 64 == 0 ? nullptr : random() % 2 ? &f.one : &f.two;
    const bool growing = step / 20000 % 2 == 0;
    if (count < kMax && (count == 0 || random() % 8 < (growing ? 5u : 3u))) {
      const unsigned kind = random() % 1000;
      const std::size_t bytes = kind < 950 ? random() % 600 : kind < 995 ? random() % 40000 : random() % 1500000;
      const std::size_t align = random() % 16 == 0 ? std::size_t{1} << random() % 14 : 16;
      Held& h = held[count] = {f.heap.allocate(cache, bytes, align, step), bytes, step};
      REQUIRE(h.block != nullptr);
      write_pattern(h.block, bytes, step);
      in_use += f.heap.size_of(h.block);
      if (f.heap.size_of(h.block) != Heap::charge_for(bytes, align)) CHECK_EQ(bytes, align);
      count++;
    } else {
      Held& h = held[random() % count];
      REQUIRE(f.heap.tag_of(h.block) == h.tag && has_pattern(h.block, h.bytes, h.tag));
      in_use -= f.heap.size_of(h.block);
      f.heap.free(cache, h.block);
      h = held[--count];
    }
    if (step % 5000 == 0) CHECK_EQ(f.heap.bytes_in_use(), in_use);
  }
  while (count != 0) f.heap.free(&f.one, held[--count].block);
}
