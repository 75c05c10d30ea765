// SPDX-License-Identifier: Apache-2.0
// misuse_test.cpp — what the heap says to those who free wrongly, and that it stands afterwards. The handler leaves the
// call as a panic of a task would.
#include "rt/mem/misuse.h"

#include <arch/task_call.h>
#include "rt/mem/heap.h"
#include "tests/harness/test.h"

using namespace janus;

namespace {

std::uint64_t g_frame;
const char* g_what;
const void* g_block;

void leave(const char* what, const void* block) {
  g_what = what;
  g_block = block;
  janus_task_abandon(g_frame, 1);
}

// Runs body(); true if it ended in the handler.
template <class F>
bool misused(F body) {
  on_heap_misuse(leave);
  g_what = nullptr;
  const auto run = [](void* arg) -> std::int64_t {
    (*static_cast<F*>(arg))();
    return 0;
  };
  const bool left = janus_task_call(run, &body, &g_frame) == 1;
  on_heap_misuse(nullptr);
  return left;
}

struct Fixture {
  Heap heap;
  HeapCache cache{};
  Fixture() { CHECK(heap.init()); }
  ~Fixture() {
    heap.flush(cache);
    heap.destroy();
  }
  void* take(std::size_t bytes) { return heap.allocate(&cache, bytes, 16, 5); }
};

}  // namespace

TEST(misuse, a_second_free_is_found) {
  Fixture f;
  for (std::size_t bytes : {std::size_t{16}, std::size_t{100}, std::size_t{2048}, std::size_t{32768}}) {
    void* block = f.take(bytes);
    f.heap.free(&f.cache, block);
    CHECK(misused([&] { f.heap.free(&f.cache, block); }));
    CHECK_STREQ(g_what, kFreedTwice);
    CHECK_EQ(g_block, block);
    CHECK(misused([&] { f.heap.free(nullptr, block); }));
  }
  for (std::size_t bytes : {std::size_t{50000}, std::size_t{2} << 20}) {
    void* block = f.take(bytes);
    f.heap.free(&f.cache, block);
    CHECK(misused([&] { f.heap.free(&f.cache, block); }));
    CHECK_STREQ(g_what, kForeignBlock);  // its pages are no block's any more
  }
  CHECK_EQ(f.heap.bytes_in_use(), 0u);
}

TEST(misuse, a_foreign_or_crooked_address_is_found) {
  Fixture f;
  alignas(16) char local[64] = {};
  char* small = static_cast<char*>(f.take(100));
  char* large = static_cast<char*>(f.take(50000));
  void* const wrong[] = {local,
                         small + 1,
                         small + 16,
                         small + 64,
                         large + 16,
                         large + 4096,
                         &f.heap,
                         reinterpret_cast<void*>(std::uintptr_t{16}),
                         reinterpret_cast<void*>(~std::uintptr_t{15}),
                         reinterpret_cast<void*>(round_down(address_of(small), kChunkBytes))};
  for (void* address : wrong) {
    CHECK(misused([&] { f.heap.free(&f.cache, address); }));
    CHECK_STREQ(g_what, kForeignBlock);
  }
  CHECK(!misused([&] { f.heap.free(&f.cache, nullptr); }));
  CHECK(!misused([&] { f.heap.free(&f.cache, small); }));
  CHECK(!misused([&] { f.heap.free(&f.cache, large); }));
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

TEST(misuse, a_write_to_a_freed_block_is_found_before_its_link_is_followed) {
  Fixture f;
  void** block = static_cast<void**>(f.take(64));
  void* other = f.take(64);
  f.heap.free(&f.cache, other);
  f.heap.free(&f.cache, block);
  block[0] = reinterpret_cast<void*>(std::uintptr_t{0x4141414141414141});
  CHECK(misused([&] { (void)f.take(64); }));
  CHECK_STREQ(g_what, kWrittenAfterFree);
  // What followed is given up, the heap goes on.
  for (int n = 0; n < 1000; n++) CHECK(f.take(64) != nullptr);
}

TEST(misuse, a_bent_batch_is_found_when_it_goes_back) {
  Fixture f;
  constexpr unsigned kCount = 2000;
  static void** blocks[kCount];
  for (unsigned n = 0; n < kCount; n++) blocks[n] = static_cast<void**>(f.take(256));
  bool found = false;
  for (unsigned n = 0; n < kCount; n++) {
    found |= misused([&] { f.heap.free(&f.cache, blocks[n]); });
    if (n % 10 == 0) blocks[n][1] = nullptr;
  }
  found |= misused([&] { f.heap.flush(f.cache); });
  found |= misused([&] { f.heap.trim(); });
  CHECK(found);
  CHECK_STREQ(g_what != nullptr ? g_what : kWrittenAfterFree, kWrittenAfterFree);
}

TEST(misuse, debug_builds_find_a_write_anywhere_in_the_first_quarter_kilobyte) {
  if constexpr (!kHeapChecks) SKIP("a release build looks at the links only");
  Fixture f;
  char* block = static_cast<char*>(f.take(200));
  f.heap.free(&f.cache, block);
  block[150]++;
  CHECK(misused([&] { (void)f.take(200); }));
  CHECK_STREQ(g_what, kWrittenAfterFree);
}
