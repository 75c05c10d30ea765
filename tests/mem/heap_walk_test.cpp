// SPDX-License-Identifier: Apache-2.0
// heap_walk_test.cpp — a walk over the heap finds every block with a matching tag once, and takes no other block,
// whatever other threads do meanwhile.
#include <iterator>

#include "rt/mem/heap.h"
#include "tests/harness/test.h"
#include "tests/harness/thread_group.h"

using namespace janus;
using janus::test::ThreadGroup;

namespace {

constexpr std::uint32_t kMeant = 5, kOther = 6;
constexpr std::size_t kOfEveryKind[] = {16, 100, 1024, 2048, 32768, 50000, std::size_t{2} << 20};
constexpr unsigned kPerWalk = 7;  // fewer than a span has blocks, so that walks stop within a span

bool is_five(const void*, std::uint32_t tag) noexcept {
  return tag == kMeant;
}
constexpr TagFilter kFives{is_five, nullptr};

// Frees all blocks with a matching tag; returns their bytes.
std::size_t take_back(Heap& heap, HeapCache* cache) {
  std::size_t bytes = 0;
  for (Heap::Walk walk; !walk.is_over;) {
    void* blocks[kPerWalk];
    const unsigned count = heap.take_over_next(walk, kFives, blocks, kPerWalk);
    for (unsigned i = 0; i < count; i++) {
      const Heap::Found found = heap.free_own(cache, blocks[i]);
      CHECK_EQ(found.tag, kMeant);
      bytes += found.bytes;
    }
  }
  return bytes;
}

}  // namespace

TEST(heap_walk, finds_all_that_is_meant_and_nothing_else) {
  Heap heap;
  HeapCache cache{};
  REQUIRE(heap.init());
  constexpr unsigned kRounds = 300;
  std::size_t meant = 0;
  static void* others[kRounds * std::size(kOfEveryKind)];
  unsigned count = 0;
  for (unsigned n = 0; n < kRounds; n++) {
    for (std::size_t bytes : kOfEveryKind) {
      if (bytes > 100'000 && n % 50 != 0) continue;
      void* const block = heap.allocate(&cache, bytes, 16, kMeant);
      REQUIRE(block != nullptr);
      meant += heap.size_of(block);
      void* const other = heap.allocate(&cache, bytes, 16, n % 2 != 0 ? kOther : kMeant | kRuntimeTag);
      REQUIRE(other != nullptr);
      *static_cast<unsigned*>(other) = n;
      others[count++] = other;
      if (n % 3 == 0) {
        meant -= heap.size_of(block);
        CHECK_EQ(heap.free(&cache, block).misuse, Misuse::kNone);
      }
    }
  }
  CHECK_EQ(take_back(heap, &cache), meant);
  CHECK_EQ(take_back(heap, nullptr), 0u);
  for (unsigned i = 0; i < count; i++) {
    const std::uint32_t tag = heap.tag_of(others[i]);
    const unsigned n = *static_cast<unsigned*>(others[i]);
    CHECK_EQ(tag, n % 2 != 0 ? kOther : kMeant | kRuntimeTag);
    if (tag == kOther)
      CHECK_EQ(heap.free(&cache, others[i]).misuse, Misuse::kNone);
    else
      CHECK_EQ(heap.free_own(&cache, others[i]).tag, kMeant);
  }
  heap.flush(cache);
  CHECK_EQ(heap.bytes_in_use(), 0u);
  heap.destroy();
}

// Three workers allocate blocks, and free those whose tag does not match; a fourth takes back those whose tag matches.
// Each block must be freed exactly once.
namespace {

constexpr unsigned kWorkers = 4;
Heap g_heap;
HeapCache g_caches[kWorkers];
std::atomic<unsigned> g_at_work{0};
std::atomic<std::uint64_t> g_wrong{0}, g_left{0}, g_taken_back{0};

void allocate_and_free(HeapCache& cache, unsigned self) {
  constexpr unsigned kHeld = 64;
  void* held[kHeld] = {};
  std::uint64_t state = self;
  for (unsigned n = 0; n < 100'000; n++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    void*& place = held[state >> 33 & (kHeld - 1)];
    if (place != nullptr && g_heap.free(&cache, place).misuse != Misuse::kNone) g_wrong.fetch_add(1);
    const std::size_t bytes = 16 + (state >> 40) % (n % 512 == 0 ? 60'000 : 900);
    place = g_heap.allocate(&cache, bytes, 16, kOther);
    if (n % 8 == 0 && g_heap.allocate(&cache, bytes, 16, kMeant) != nullptr) g_left.fetch_add(1);
  }
  for (void* block : held)
    if (block != nullptr && g_heap.free(&cache, block).misuse != Misuse::kNone) g_wrong.fetch_add(1);
}

std::uint64_t take_back_counted(HeapCache& cache) {
  std::uint64_t count = 0;
  for (Heap::Walk walk; !walk.is_over;) {
    void* blocks[kPerWalk];
    const unsigned found = g_heap.take_over_next(walk, kFives, blocks, kPerWalk);
    for (unsigned i = 0; i < found; i++)
      if (g_heap.free_own(&cache, blocks[i]).tag != kMeant) g_wrong.fetch_add(1);
    count += found;
  }
  return count;
}

void work(unsigned self) {
  HeapCache& cache = g_caches[self];
  if (self != 0) {
    allocate_and_free(cache, self);
    g_at_work.fetch_sub(1, std::memory_order_release);
  } else {
    while (g_at_work.load(std::memory_order_acquire) != 0) g_taken_back.fetch_add(take_back_counted(cache));
  }
}

}  // namespace

TEST(heap_walk, a_walk_runs_beside_tasks_that_allocate_and_free) {
  REQUIRE(g_heap.init());
  g_at_work = kWorkers - 1;
  REQUIRE(ThreadGroup::run(kWorkers, work));
  g_taken_back.fetch_add(take_back_counted(g_caches[0]));
  CHECK_EQ(g_wrong.load(), 0u);
  CHECK_EQ(g_taken_back.load(), g_left.load());
  for (HeapCache& cache : g_caches) g_heap.flush(cache);
  CHECK_EQ(g_heap.bytes_in_use(), 0u);
  g_heap.destroy();
}
