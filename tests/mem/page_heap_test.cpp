// SPDX-License-Identifier: Apache-2.0
// page_heap_test.cpp — runs of pages: first fit at every alignment, compared with a model that searches everything; the
// index of chunks; and that blocks with large alignments pay for the chunk headers that they cause.
#include "rt/mem/page_heap.h"

#include "rt/base/rng.h"
#include "rt/mem/heap.h"
#include "rt/platform.h"
#include "tests/harness/test.h"

using namespace janus;

namespace {

constexpr unsigned kModelChunks = 64;

// Which pages of each chunk are in use, and which were used before, computed from the requests alone.
struct Model {
  bool used[kModelChunks][kChunkPages], dirty[kModelChunks][kChunkPages];

  void mark(std::size_t chunk, unsigned first, unsigned pages, bool value) {
    for (unsigned n = 0; n < pages; n++) {
      used[chunk][first + n] = value;
      if (!value) dirty[chunk][first + n] = true;
    }
  }
  [[nodiscard]] std::size_t dirty_idle_pages() const {
    std::size_t sum = 0;
    for (std::size_t chunk = 0; chunk < kModelChunks; chunk++)
      for (unsigned n = 0; n < kChunkPages; n++) sum += dirty[chunk][n] && !used[chunk][n];
    return sum;
  }
  [[nodiscard]] unsigned first_fit(std::size_t chunk, unsigned pages, unsigned align) const {
    for (unsigned at = 0; at + pages <= kChunkPages; at += align) {
      unsigned n = 0;
      while (n < pages && !used[chunk][at + n]) n++;
      if (n == pages) return at;
    }
    return 0;
  }
};
Model model;

struct Pages {
  PageHeap heap;
  std::size_t chunks = 0;
  Pages() {
    CHECK(heap.init());
    for (auto& chunk : model.used)
      for (unsigned n = 0; n < kChunkPages; n++) chunk[n] = n < kHeaderPages;
    forget_dirty();
  }
  ~Pages() { heap.destroy(); }
  void forget_dirty() {
    for (auto& chunk : model.dirty)
      for (bool& page : chunk) page = false;
  }
  void look_for_new_chunks() {
    while (chunks < kModelChunks && heap.chunk_at(chunks) != nullptr) chunks++;
  }
};

struct Run {
  Span* span;
  std::size_t chunk;
  unsigned pages;
};

// Takes a run, and checks that it is where the model's first fit is, or else in a new chunk.
bool take(Pages& pages, unsigned count, unsigned align, Run& out) {
  std::size_t chunk = 0;
  unsigned page = 0;
  while (chunk < pages.chunks && (page = model.first_fit(chunk, count, align)) == 0) chunk++;
  const std::size_t before = pages.chunks;
  out = {pages.heap.take_run(count, align), chunk, count};
  pages.look_for_new_chunks();
  if (page == 0) page = model.first_fit(chunk, count, align);
  if (!CHECK(out.span != nullptr) || !CHECK_EQ(chunk_of(out.span), pages.heap.chunk_at(chunk))) return false;
  model.mark(chunk, first_page(out.span), count, true);
  return CHECK_EQ(first_page(out.span), page) && CHECK(chunk < before || pages.chunks > before);
}

void give(Pages& pages, const Run& run) {
  model.mark(run.chunk, first_page(run.span), run.pages, false);
  pages.heap.give_run(run.span);
}

void resize(Pages& pages, Run& run, unsigned count) {
  const unsigned first = first_page(run.span);
  bool fits = first + count <= kChunkPages;
  for (unsigned n = run.pages; n < count && fits; n++) fits = !model.used[run.chunk][first + n];
  if (!CHECK_EQ(pages.heap.resize_run(run.span, count), fits) || !fits) return;
  model.mark(run.chunk, first, run.pages, false);
  model.mark(run.chunk, first, count, true);
  run.pages = count;
}

}  // namespace

TEST(page_heap, a_run_goes_where_it_fits_first_at_every_alignment) {
  Pages pages;
  Rng rng(4711);
  constexpr unsigned kMax = 600;
  static Run held[kMax];
  unsigned count = 0;
  for (unsigned step = 0; step < 20000; step++) {
    const bool growing = step / 2500 % 2 == 0;
    const auto dice = static_cast<unsigned>(rng.next() % 16);
    if (count < kMax && (count == 0 || dice < (growing ? 10u : 5u))) {
      const unsigned align = 1u << rng.next() % 9;
      const unsigned wanted = rng.next() % 4 == 0 ? 1 + rng.next() % kMaxRunPages : 1 + rng.next() % 20;
      if (!take(pages, wanted, align, held[count])) return;
      count++;
    } else if (dice < 15) {
      Run& run = held[rng.next() % count];
      give(pages, run);
      run = held[--count];
    } else {
      Run& run = held[rng.next() % count];
      resize(pages, run, 1 + static_cast<unsigned>(rng.next() % kMaxRunPages));
    }
    if (!CHECK(pages.chunks < kModelChunks)) return;
  }
  while (count != 0) give(pages, held[--count]);
  pages.heap.trim();
  CHECK_EQ(pages.heap.idle_dirty_bytes(), 0u);
}

// While idle pages are fewer than the reserve, none is given back without a request.
TEST(page_heap, idle_pages_that_were_used_are_counted_exactly_and_all_go_back) {
  Pages pages;
  Rng rng(1702);
  constexpr unsigned kMax = 24;  // of up to 40 pages each, so fewer than the 1,024 pages of the reserve
  static Run held[kMax];
  unsigned count = 0;
  for (unsigned step = 0; step < 3000; step++) {
    const auto dice = static_cast<unsigned>(rng.next() % 16);
    if (count == 0 || (dice < 8 && count < kMax)) {
      if (!take(pages, 1 + static_cast<unsigned>(rng.next() % 40), 1u << rng.next() % 4, held[count])) return;
      count++;
    } else if (dice < 14) {
      Run& run = held[rng.next() % count];
      give(pages, run);
      run = held[--count];
    } else {
      resize(pages, held[rng.next() % count], 1 + static_cast<unsigned>(rng.next() % 40));
    }
    if (!CHECK_EQ(pages.heap.idle_dirty_bytes(), model.dirty_idle_pages() * kPageBytes)) return;
    if (step % 200 != 199) continue;
    pages.heap.trim();
    pages.forget_dirty();
    CHECK_EQ(pages.heap.idle_dirty_bytes(), 0u);
  }
}

// The index may have stale entries for chunks whose pages are in use again; idle pages of other chunks must be found
// nevertheless.
TEST(page_heap, idle_pages_go_back_beyond_the_reserve_wherever_they_are) {
  PageHeap heap;
  REQUIRE(heap.init());
  constexpr unsigned kRuns = 2400, kPages = 80;  // a dozen runs per chunk
  constexpr std::size_t kReserve = kRuns * kPages / 8;
  static Span* runs[kRuns];
  for (Span*& run : runs) run = heap.take_run(kPages, 1);
  for (unsigned round = 0; round < 3; round++) {
    std::size_t before = 0, most_at_once = 0;
    for (unsigned n = 0; n < kRuns; n += 8) {
      heap.give_run(runs[n]);
      const std::size_t now = heap.idle_dirty_bytes();
      if (now < before && before - now > most_at_once) most_at_once = before - now;
      before = now;
    }
    CHECK_LE(before, kReserve * kPageBytes);
    CHECK_GE(most_at_once, std::size_t{10} * kPages * kPageBytes);  // so that few calls give pages back
    for (unsigned n = 0; n < kRuns; n += 8) runs[n] = heap.take_run(kPages, 1);
    CHECK_EQ(heap.idle_dirty_bytes(), 0u);
  }
  for (unsigned n = 0; n < kRuns; n++) {
    heap.give_run(runs[(n * 7) % kRuns]);
    if (!CHECK_LE(heap.idle_dirty_bytes(), kReserve * kPageBytes)) break;
  }
  CHECK_LE(heap.idle_dirty_bytes(), std::size_t{1024} * kPageBytes);
  heap.destroy();
}

// A second chunk is taken only when no aligned place of the first is free.
TEST(page_heap, every_aligned_place_of_a_chunk_is_used) {
  for (unsigned alignment = 0; alignment <= 8; alignment++) {
    Pages pages;
    const unsigned align = 1u << alignment;
    const unsigned places = kChunkPages / align - static_cast<unsigned>(round_up(kHeaderPages, align)) / align;
    for (unsigned n = 0; n < places; n++) CHECK(pages.heap.take_run(1, align) != nullptr);
    CHECK_EQ(pages.heap.chunk_at(1), nullptr);
    CHECK(pages.heap.take_run(1, align) != nullptr);
    CHECK(pages.heap.chunk_at(1) != nullptr);
  }
}

TEST(page_heap, no_more_pages_are_in_use_than_the_limit_says) {
  PageHeap heap;
  REQUIRE(heap.init());
  heap.limit(100 * kPageBytes);
  Span* const first = heap.take_run(60, 1);
  REQUIRE(first != nullptr);
  CHECK(heap.take_run(41, 1) == nullptr);
  Span* const second = heap.take_run(40, 8);
  REQUIRE(second != nullptr);
  CHECK(heap.take_run(1, 1) == nullptr);
  CHECK(!heap.resize_run(second, 41));
  CHECK(heap.resize_run(second, 30));
  CHECK(heap.resize_run(second, 40));
  heap.give_run(first);
  CHECK(heap.resize_run(second, 50));
  Span* const third = heap.take_run(50, 1);
  CHECK(third != nullptr);
  CHECK(heap.take_run(1, 1) == nullptr);
  heap.destroy();
}

TEST(page_heap, the_index_finds_the_first_and_the_last) {
  std::byte* const zeroes = platform::map(ChunkIndex::kBytes);
  REQUIRE(zeroes != nullptr);
  ChunkIndex index;
  index.init(zeroes);
  REQUIRE(index.cover(ChunkIndex::kChunks - 1));
  constexpr unsigned kPlaces = 12;
  constexpr std::size_t chunks[kPlaces] = {0,    1,    63,    64,     65,     4095,
                                           4096, 4097, 70000, 131071, 262142, ChunkIndex::kChunks - 1};
  unsigned values[kPlaces] = {};
  Rng rng(7);
  for (unsigned step = 0; step < 20000; step++) {
    const unsigned column = 3;
    const auto place = static_cast<unsigned>(rng.next() % kPlaces);
    values[place] = rng.next() % 3 == 0 ? 0 : static_cast<unsigned>(rng.next() % 1025);
    index.set(chunks[place], column, values[place]);
    CHECK_EQ(index.at(chunks[place], column), values[place]);
    const auto least = 1 + static_cast<unsigned>(rng.next() % 1024);
    std::size_t first = ChunkIndex::kNone, last = ChunkIndex::kNone;
    for (unsigned n = 0; n < kPlaces; n++)
      if (values[n] >= least) {
        if (first == ChunkIndex::kNone) first = chunks[n];
        last = chunks[n];
      }
    if (!CHECK_EQ(index.first(column, least), first) || !CHECK_EQ(index.last(column, least), last)) break;
    CHECK_EQ(index.first(column + 1, 1), ChunkIndex::kNone);
  }
  index.destroy();
  CHECK_EQ(index.bytes_mapped(), 0u);
  platform::unmap(zeroes, ChunkIndex::kBytes);
}

// For every alignment, the chunk headers are a small part of what a budget pays.
TEST(page_heap, aligned_blocks_pay_for_the_headers_of_their_chunks) {
  for (std::size_t align = kPageBytes; align <= std::size_t{kMaxRunPages} * kPageBytes; align *= 2) {
    Heap heap;
    REQUIRE(heap.init());
    constexpr std::size_t kBudget = std::size_t{16} << 20;
    std::uintptr_t last_chunk = 0;
    std::size_t paid = 0, chunks = 0;
    for (std::size_t charge = Heap::charge_for(1, align); paid + charge <= kBudget; paid += charge) {
      void* const block = heap.allocate(nullptr, 1, align, 1);
      REQUIRE(block != nullptr);
      CHECK_EQ(heap.size_of(block), charge);
      chunks += address_of(chunk_of(block)) != last_chunk ? 1 : 0;
      last_chunk = address_of(chunk_of(block));
    }
    CHECK_LE(chunks * kHeaderPages * kPageBytes, paid / 2);
    heap.destroy();
  }
}
