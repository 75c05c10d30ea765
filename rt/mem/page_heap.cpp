// SPDX-License-Identifier: Apache-2.0
#include "rt/mem/page_heap.h"

#include <bit>

#include "rt/base/assert.h"
#include "rt/platform.h"

namespace janus {

namespace {

constexpr std::size_t kMinReservePages = 1024;
constexpr std::size_t kMaxGroupChunks = 64;
// Limits of the work done at once under the lock: calls that give pages back, and chunks looked into in vain.
constexpr unsigned kDiscardsAtOnce = 32, kLooksAtOnce = 64;

// --- Bits of a chunk's pages -----------------------------------------------------------------------------------------

bool bit(const std::uint64_t* bits, unsigned n) noexcept {
  return (bits[n / 64] >> n % 64 & 1) != 0;
}
// Calls f(word, mask) for the words that pages first ... first + count - 1 lie in.
template <class F>
void for_words(unsigned first, unsigned count, F f) noexcept {
  while (count != 0) {
    const unsigned here = 64 - first % 64 < count ? 64 - first % 64 : count;
    f(first / 64, (~std::uint64_t{0} >> (64 - here)) << first % 64);
    first += here;
    count -= here;
  }
}
void set_bits(std::uint64_t* bits, unsigned first, unsigned count) noexcept {
  for_words(first, count, [bits](unsigned word, std::uint64_t mask) { bits[word] |= mask; });
}
void clear_bits(std::uint64_t* bits, unsigned first, unsigned count) noexcept {
  for_words(first, count, [bits](unsigned word, std::uint64_t mask) { bits[word] &= ~mask; });
}
unsigned count_bits(const std::uint64_t* bits, unsigned first, unsigned count) noexcept {
  unsigned sum = 0;
  for_words(first, count, [&](unsigned word, std::uint64_t mask) { sum += count_ones(bits[word] & mask); });
  return sum;
}

// The first page from `from` on whose bit is `wanted`, or kChunkPages.
unsigned next_page(const std::uint64_t* bits, unsigned from, bool wanted) noexcept {
  if (from >= kChunkPages) return kChunkPages;
  const std::uint64_t flip = wanted ? 0 : ~std::uint64_t{0};
  unsigned word = from / 64;
  std::uint64_t here = (bits[word] ^ flip) >> from % 64 << from % 64;
  while (here == 0) {
    if (++word == kChunkPages / 64) return kChunkPages;
    here = bits[word] ^ flip;
  }
  return word * 64 + static_cast<unsigned>(std::countr_zero(here));
}

// The first page of the idle run that ends before `at`; `at` if there is none.
unsigned begin_of_idle(const std::uint64_t* used, unsigned at) noexcept {
  while (at > kHeaderPages) {
    const unsigned last = at - 1;
    const std::uint64_t word = used[last / 64] << (63 - last % 64);
    if (word != 0) return at - static_cast<unsigned>(std::countl_zero(word));
    at = last / 64 * 64;
  }
  return kHeaderPages;
}

// --- Idle runs of a chunk --------------------------------------------------------------------------------------------

// A run of idle pages, `end` not included.
struct IdleRun {
  unsigned begin, end;

  // How many pages the run has from its first aligned one on.
  [[nodiscard]] unsigned aligned_pages(unsigned alignment) const noexcept {
    const auto from = static_cast<unsigned>(round_up(begin, std::size_t{1} << alignment));
    return from < end ? end - from : 0;
  }
};
// The idle run that the idle pages `first` ... `first + pages - 1` are part of.
IdleRun idle_around(const std::uint64_t* used, unsigned first, unsigned pages) noexcept {
  return {begin_of_idle(used, first), next_page(used, first + pages, true)};
}

// Calls f(page, pages) for the aligned idle runs by rising address, until f returns true.
template <class F>
void for_aligned_runs(const std::uint64_t* used, unsigned alignment, F f) noexcept {
  const std::size_t unit = std::size_t{1} << alignment;
  unsigned at = kHeaderPages;
  while ((at = static_cast<unsigned>(round_up(next_page(used, at, false), unit))) < kChunkPages) {
    const unsigned end = next_page(used, at, true);
    if (end != at && f(at, end - at)) return;
    if (end == kChunkPages) return;
    at = end == at ? at + 1 : end;  // end == at: rounding up has led to a used page
  }
}

unsigned find_in(const std::uint64_t* used, unsigned pages, unsigned alignment) noexcept {
  unsigned found = 0;
  for_aligned_runs(used, alignment, [&](unsigned page, unsigned length) {
    found = length >= pages ? page : 0;
    return found != 0;
  });
  return found;
}

// The longest aligned idle run; the search stops at one of `most` pages.
unsigned longest_in(const std::uint64_t* used, unsigned alignment, unsigned most) noexcept {
  unsigned longest = 0;
  for_aligned_runs(used, alignment, [&](unsigned, unsigned length) {
    longest = length > longest ? length : longest;
    return longest >= most;
  });
  return longest;
}

// Cuts the next part off the tables' mapping.
std::byte* carve(std::byte*& at, std::size_t bytes) noexcept {
  std::byte* here = at;
  at += bytes;
  return here;
}

}  // namespace

// --- Life ------------------------------------------------------------------------------------------------------------

bool PageHeap::init() noexcept {
  constexpr std::size_t ours = kAddressChunks / 8, chunks = kMaxChunks * sizeof(void*);
  constexpr std::size_t groups = kMaxGroups * sizeof(Group);
  constexpr std::size_t bytes = ours + chunks + groups + ChunkIndex::kBytes;
  static_assert(bytes % kPageBytes == 0);
  std::byte* at = platform::map(bytes);
  if (at == nullptr) return false;
  mapped_.store(bytes, std::memory_order_relaxed);
  mappings_.store(1, std::memory_order_relaxed);
  ours_ = reinterpret_cast<std::atomic<std::uint64_t>*>(carve(at, ours));
  chunks_ = reinterpret_cast<HeapChunk**>(carve(at, chunks));
  groups_ = reinterpret_cast<Group*>(carve(at, groups));
  index_.init(at);
  return true;
}

void PageHeap::destroy() noexcept {
  if (ours_ == nullptr) return;
  std::size_t tables = mapped_.load(std::memory_order_relaxed) - index_.bytes_mapped();
  index_.destroy();
  for (unsigned g = 0; g < group_count_; g++) {
    platform::unmap(groups_[g].pages, groups_[g].bytes);
    tables -= groups_[g].bytes;
  }
  platform::unmap(reinterpret_cast<std::byte*>(ours_), tables);
  ours_ = nullptr;
  chunk_count_ = used_pages_ = dirty_idle_pages_ = 0;
  group_count_ = 0;
  mapped_.store(0, std::memory_order_relaxed);
  mappings_.store(0, std::memory_order_relaxed);
}

// --- Chunks ----------------------------------------------------------------------------------------------------------

void PageHeap::count_mapping(std::size_t bytes) noexcept {
  mapped_.store(mapped_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  mappings_.store(mappings_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// Maps half as many chunks as there are, or fewer if the machine refuses. Alignment costs address space for one more.
bool PageHeap::grow() noexcept {
  if (group_count_ == kMaxGroups || chunk_count_ == kMaxChunks) return false;
  std::size_t wanted = chunk_count_ / 2 < 1 ? 1 : chunk_count_ / 2;
  if (wanted > kMaxGroupChunks) wanted = kMaxGroupChunks;
  if (wanted > kMaxChunks - chunk_count_) wanted = kMaxChunks - chunk_count_;
  const std::size_t covered_before = index_.bytes_mapped();
  const bool is_covered = index_.cover(chunk_count_ + wanted - 1);
  const std::size_t covered = index_.bytes_mapped() - covered_before;
  if (covered != 0) count_mapping(covered);
  if (!is_covered) return false;
  for (; wanted != 0; wanted /= 2) {
    const std::size_t bytes = (wanted + 1) * kChunkBytes;
    std::byte* pages = platform::map(bytes);
    if (pages == nullptr) continue;
    groups_[group_count_++] = {pages, bytes};
    count_mapping(bytes);
    std::byte* chunk = align_up(pages, kChunkBytes);
    for (std::size_t n = 0; n < wanted; n++) add_chunk(chunk + n * kChunkBytes);
    return true;
  }
  return false;
}

void PageHeap::add_chunk(std::byte* at) noexcept {
  const std::uintptr_t position = address_of(at) >> kChunkShift;
  if (position >= kAddressChunks) return;  // owns() would not find it; no machine that we run on maps there
  HeapChunk* chunk = reinterpret_cast<HeapChunk*>(at);  // the mapping is zeroed, as all its tables have to be
  chunk->number = static_cast<std::uint32_t>(chunk_count_);
  set_bits(chunk->used, 0, kHeaderPages);
  const IdleRun all = {kHeaderPages, kChunkPages};
  for (unsigned alignment = 0; alignment < kAlignments; alignment++)
    index_.set(chunk_count_, alignment, all.aligned_pages(alignment));
  chunks_[chunk_count_++] = chunk;
  std::atomic<std::uint64_t>& word = ours_[position / 64];
  word.store(word.load(std::memory_order_relaxed) | std::uint64_t{1} << position % 64,
             std::memory_order_release);  // pairs with owns()
}

// --- Runs ------------------------------------------------------------------------------------------------------------

PageHeap::Position PageHeap::find_run(unsigned pages, unsigned alignment) noexcept {
  for (unsigned looks = 0; looks < kLooksAtOnce; looks++) {
    const std::size_t number = index_.first(alignment, pages);
    if (number == ChunkIndex::kNone) return {Search::kNowhere, nullptr, 0};
    const std::uint64_t* const used = chunks_[number]->used;
    if (const unsigned page = find_in(used, pages, alignment); page != 0)
      return {Search::kFound, chunks_[number], page};
    index_.set(number, alignment, longest_in(used, alignment, kChunkPages));
  }
  return {Search::kUnfinished, nullptr, 0};
}

void PageHeap::occupy(HeapChunk* chunk, unsigned first, unsigned pages) noexcept {
  JANUS_ASSERT(count_bits(chunk->used, first, pages) == 0);
  set_bits(chunk->used, first, pages);
  used_pages_ += pages;
  dirty_idle_pages_ -= count_bits(chunk->dirty, first, pages);
}

void PageHeap::vacate(HeapChunk* chunk, unsigned first, unsigned pages) noexcept {
  JANUS_ASSERT(pages != 0 && count_bits(chunk->used, first, pages) == pages);
  clear_bits(chunk->used, first, pages);
  set_bits(chunk->dirty, first, pages);
  used_pages_ -= pages;
  dirty_idle_pages_ += pages;
  const IdleRun now = idle_around(chunk->used, first, pages);
  unsigned known[ChunkIndex::kColumns];
  for (unsigned alignment = 0; alignment < kAlignments; alignment++) known[alignment] = now.aligned_pages(alignment);
  known[kMayBeDirty] = 1;
  index_.raise(chunk->number, known);
}

Span* PageHeap::take_run(unsigned pages, unsigned align_pages) noexcept {
  const auto alignment = static_cast<unsigned>(std::countr_zero(align_pages));
  for (;;) {
    LockGuard guard(lock_);
    if (!has_room_for(pages)) return nullptr;
    const Position at = find_run(pages, alignment);
    if (at.result == Search::kNowhere && !grow()) return nullptr;
    if (at.result != Search::kFound) continue;  // kUnfinished: other threads have waited for the lock for long enough
    occupy(at.chunk, at.page, pages);
    Span* run = &at.chunk->spans[at.page];
    run->pages = static_cast<std::uint16_t>(pages);
    return run;
  }
}

void PageHeap::give_run(Span* run) noexcept {
  HeapChunk* chunk = chunk_of(run);
  LockGuard guard(lock_);
  vacate(chunk, first_page(run), run->pages);
  keep_reserve(chunk, first_page(run), run->pages);
}

bool PageHeap::resize_run(Span* run, unsigned pages) noexcept {
  HeapChunk* chunk = chunk_of(run);
  const unsigned first = first_page(run), old = run->pages;
  if (pages > kMaxRunPages || first + pages > kChunkPages) return false;
  LockGuard guard(lock_);
  if (pages > old) {
    if (!has_room_for(pages - old) || next_page(chunk->used, first + old, true) < first + pages) return false;
    occupy(chunk, first + old, pages - old);
  } else if (pages < old) {
    vacate(chunk, first + pages, old - pages);
    keep_reserve(chunk, first + pages, old - pages);
  }
  run->pages = static_cast<std::uint16_t>(pages);
  return true;
}

// --- Giving back -----------------------------------------------------------------------------------------------------

void PageHeap::discard_run(HeapChunk* chunk, unsigned first, unsigned pages) noexcept {
  platform::discard(chunk->page(first), pages * kPageBytes);
  clear_bits(chunk->dirty, first, pages);
  dirty_idle_pages_ -= pages;
}

void PageHeap::discard_idle(HeapChunk* chunk, unsigned& calls_left) noexcept {
  unsigned at = kHeaderPages;
  while ((at = next_page(chunk->dirty, at, true)) < kChunkPages) {
    unsigned end = at;
    while (end < kChunkPages && bit(chunk->dirty, end) && !bit(chunk->used, end)) end++;
    if (end == at) {
      at++;
      continue;
    }
    if (calls_left == 0) return;
    calls_left--;
    discard_run(chunk, at, end - at);
    at = end;
  }
  index_.set(chunk->number, kMayBeDirty, 0);
}

// The reserve of dirty idle pages is an eighth of the pages in use: enough that a program whose use goes up and down
// makes no system calls, and in proportion to its use. Once it is exceeded, it is reduced to half, so that this is
// rare. Each call does only as much as other threads can wait for, and leaves the rest to the next pages that are given
// back.
void PageHeap::keep_reserve(HeapChunk* chunk, unsigned first, unsigned pages) noexcept {
  const std::size_t reserve = used_pages_ / 8 > kMinReservePages ? used_pages_ / 8 : kMinReservePages;
  if (dirty_idle_pages_ <= reserve) return;
  unsigned calls_left = kDiscardsAtOnce;
  discard_run(chunk, first, pages);
  discard_idle(chunk, calls_left);
  for (unsigned looks = 0; looks < kLooksAtOnce && calls_left != 0 && dirty_idle_pages_ > reserve / 2; looks++) {
    const std::size_t number = index_.last(kMayBeDirty, 1);
    if (number == ChunkIndex::kNone) return;
    discard_idle(chunks_[number], calls_left);
  }
}

void PageHeap::trim() noexcept {
  for (;;) {
    LockGuard guard(lock_);
    const std::size_t number = index_.last(kMayBeDirty, 1);
    if (number == ChunkIndex::kNone) return;
    unsigned calls_left = kChunkPages;
    discard_idle(chunks_[number], calls_left);
  }
}

std::size_t PageHeap::idle_dirty_bytes() noexcept {
  LockGuard guard(lock_);
  return dirty_idle_pages_ * kPageBytes;
}

}  // namespace janus
