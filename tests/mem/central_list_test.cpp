// SPDX-License-Identifier: Apache-2.0
// central_list_test.cpp — batches that central lists keep whole: how many bytes they may be, and that nothing is refused
// because of them.
#include "rt/mem/central_list.h"

#include "rt/mem/heap.h"
#include "tests/harness/scale.h"
#include "tests/harness/test.h"
#include "tests/harness/thread_group.h"

using namespace janus;
using janus::test::ThreadGroup;

namespace {

constexpr unsigned kPages = 4096;
constexpr std::size_t kSmallBlock = 64;

// A heap with few pages, and the caches of two workers.
struct SmallHeap {
  Heap heap;
  HeapCache one{}, two{};
  SmallHeap() {
    CHECK(heap.init());
    heap.limit_pages(kPages * kPageBytes);
  }
  ~SmallHeap() {
    heap.flush(one);
    heap.flush(two);
    CHECK_EQ(heap.bytes_in_use(), 0u);
    heap.destroy();
  }

  // Allocates blocks until one is refused, and frees them all. Returns how many there were.
  std::size_t fill(HeapCache* cache, std::size_t bytes) {
    static void* blocks[kPages * kPageBytes / kMinBlock];
    std::size_t count = 0;
    while ((blocks[count] = heap.allocate(cache, bytes, 16, 1)) != nullptr) count++;
    for (std::size_t n = 0; n < count; n++) heap.free(cache, blocks[n]);
    return count;
  }
  // As fill(), after blocks of many small classes were freed and the caches emptied.
  std::size_t fill_after_others(HeapCache* cache, std::size_t bytes) {
    for (std::size_t other = test::scaled(64, 512); other <= 4096; other *= 2) CHECK_GT(fill(&one, other), 1000u);
    heap.flush(one);
    return fill(cache, bytes);
  }
};

// All runs of as many pages as spans of `size_class` have.
std::size_t count_of_idle_runs(PageHeap& pages, unsigned size_class) {
  static Span* runs[kPages];
  std::size_t count = 0;
  while ((runs[count] = pages.take_run(span_shape(size_class).pages, 1)) != nullptr) count++;
  for (std::size_t n = 0; n < count; n++) pages.give_run(runs[n]);
  return count;
}

}  // namespace

TEST(central_list, keeps_at_most_so_many_bytes) {
  for (unsigned c = 0; c < kSizeClasses; c++) {
    const std::size_t kept = std::size_t{span_shape(c).kept} * span_shape(c).batch * span_shape(c).block_bytes;
    CHECK_GE(unsigned{span_shape(c).kept}, 4u);
    CHECK_LE(kept, std::size_t{256} << 10);
  }
}

// A thousand blocks of a task that allocates and frees them in turn.
TEST(central_list, keeps_a_thousand_small_blocks) {
  const unsigned small = size_class_of(kSmallBlock);
  CHECK_GE(unsigned{span_shape(small).kept} * span_shape(small).batch, 1000u);
}

TEST(central_list, gives_batches_beyond_the_bound_to_their_spans_and_the_others_when_told_to) {
  for (const std::size_t bytes : {std::size_t{16}, kSmallBlock, std::size_t{1000}, std::size_t{9000}}) {
    const unsigned c = size_class_of(bytes);
    const SpanShape& shape = span_shape(c);
    PageHeap pages;
    REQUIRE(pages.init());
    pages.limit(kPages * kPageBytes);
    const std::size_t idle_at_first = count_of_idle_runs(pages, c);
    CentralList list;
    static CentralList::Chain chains[kPages * kPageBytes / 16 / 2];
    std::size_t batches = 0;
    while ((chains[batches] = list.take(pages, c, shape.batch)).count == shape.batch) batches++;
    CHECK_GT(batches, 2u * shape.kept);
    CHECK_EQ(count_of_idle_runs(pages, c), 0u);
    list.give(pages, c, chains[batches]);  // what was left of the last span
    for (std::size_t n = 0; n < batches; n++) list.give(pages, c, chains[n]);
    CHECK_EQ(list.blocks_out(), 0u);
    // Kept blocks are neighbours here, but for those at both ends.
    const std::size_t kept_blocks = std::size_t{shape.kept} * shape.batch;
    const std::size_t idle = count_of_idle_runs(pages, c);
    CHECK_GE(idle + kept_blocks / shape.blocks + 2, idle_at_first);
    CHECK_LT(idle, idle_at_first);
    unsigned given = 0;
    while (list.give_back_batch(pages, c)) given++;
    CHECK_EQ(given, unsigned{shape.kept});
    CHECK_EQ(count_of_idle_runs(pages, c), idle_at_first);
    pages.destroy();
  }
}

TEST(central_list, a_kept_batch_is_given_out_first_and_whole) {
  const unsigned c = size_class_of(kSmallBlock), batch = span_shape(c).batch;
  PageHeap pages;
  REQUIRE(pages.init());
  CentralList list;
  const CentralList::Chain first = list.take(pages, c, batch), second = list.take(pages, c, batch);
  list.give(pages, c, first);
  list.give(pages, c, second);
  CHECK_EQ(list.take(pages, c, batch).head, second.head);
  CHECK_EQ(list.take(pages, c, batch).head, first.head);
  CHECK_EQ(list.blocks_out(), 2u * batch);
  pages.destroy();
}

// Whoever needs pages gets those of kept batches of all classes: small and large blocks, with a cache or without.
TEST(central_list, nothing_is_refused_because_of_kept_batches) {
  for (const std::size_t bytes : {kSmallBlock, std::size_t{20000}, std::size_t{100000}, Heap::kMaxLarge}) {
    std::size_t fresh;
    {
      SmallHeap f;
      fresh = f.fill(&f.two, bytes);
    }
    {
      SmallHeap f;
      CHECK_EQ(f.fill_after_others(&f.two, bytes), fresh);
    }
    SmallHeap f;
    CHECK_EQ(f.fill_after_others(nullptr, bytes), fresh);
  }
}

// One worker allocates and another frees, with few blocks on their way: what is freed is allocated again, so few pages
// are enough for any number of blocks.
TEST(central_list, blocks_freed_elsewhere_come_back) {
  SmallHeap f;
  f.heap.limit_pages(64 * kPageBytes);
  constexpr unsigned kOnTheirWay = 700;
  static void* blocks[kOnTheirWay];
  const auto count = static_cast<unsigned>(test::scaled(400'000, 40'000));
  for (unsigned n = 0; n < count + kOnTheirWay; n++) {
    void*& place = blocks[n % kOnTheirWay];
    if (n >= kOnTheirWay) CHECK(f.heap.free(&f.two, place).misuse == Misuse::kNone);
    place = n < count ? f.heap.allocate(&f.one, kSmallBlock, 16, n) : nullptr;
    if (n < count) REQUIRE(place != nullptr);
    const std::size_t on_their_way = n < kOnTheirWay ? n + 1 : n < count ? kOnTheirWay : count + kOnTheirWay - 1 - n;
    if (n % 1000 == 0) CHECK_EQ(f.heap.bytes_in_use(), on_their_way * kSmallBlock);
  }
}

// --- Several workers that run out of pages -------------------------------------------------------------------------------

namespace {

constexpr unsigned kWorkers = 4;
SmallHeap* g_small;
HeapCache g_caches[kWorkers];
std::atomic<unsigned> g_wrong;

// Fills the heap with blocks of one class after the other and frees them, together with the other workers.
void filling_worker(unsigned self) {
  constexpr unsigned kMost = 20000;
  static void* held[kWorkers][kMost];
  void** const mine = held[self];
  for (unsigned round = 0; round < static_cast<unsigned>(test::scaled(12, 4)); round++) {
    const std::size_t bytes = std::size_t{64} << (round + self) % 7;
    unsigned count = 0;
    while (count < kMost && (mine[count] = g_small->heap.allocate(&g_caches[self], bytes, 16, self)) != nullptr) {
      *static_cast<unsigned*>(mine[count]) = self;
      count++;
    }
    while (count != 0) {
      if (*static_cast<unsigned*>(mine[--count]) != self) g_wrong.fetch_add(1);
      if (g_small->heap.free(&g_caches[self], mine[count]).tag != self) g_wrong.fetch_add(1);
    }
  }
  g_small->heap.flush(g_caches[self]);
}

}  // namespace

TEST(central_list, workers_that_run_out_of_pages_together_lose_nothing) {
  SmallHeap fresh, used;
  g_small = &used;
  g_wrong = 0;
  REQUIRE(ThreadGroup::run(kWorkers, filling_worker));
  CHECK_EQ(g_wrong.load(), 0u);
  CHECK_EQ(used.heap.bytes_in_use(), 0u);
  CHECK_EQ(used.fill(&used.one, Heap::kMaxLarge), fresh.fill(&fresh.one, Heap::kMaxLarge));
}
