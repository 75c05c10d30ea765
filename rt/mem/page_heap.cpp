// SPDX-License-Identifier: Apache-2.0
#include "rt/mem/page_heap.h"

#include <bit>

#include "rt/base/assert.h"
#include "rt/platform.h"

namespace janus {

namespace {

constexpr std::size_t kMinReservePages = 1024;
constexpr std::size_t kMaxGroupChunks = 64;

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
  while (from < kChunkPages) {
    const std::uint64_t word = (wanted ? bits[from / 64] : ~bits[from / 64]) >> from % 64;
    if (word != 0) return from + static_cast<unsigned>(std::countr_zero(word));
    from = (from / 64 + 1) * 64;
  }
  return kChunkPages;
}

// Parts of the tables, one behind the other.
std::byte* carve(std::byte*& at, std::size_t bytes) noexcept {
  std::byte* here = at;
  at += bytes;
  return here;
}

}  // namespace

// --- Life ------------------------------------------------------------------------------------------------------------

bool PageHeap::init() noexcept {
  constexpr std::size_t ours = kAddressChunks / 8, chunks = kMaxChunks * sizeof(void*);
  constexpr std::size_t longest = kMaxChunks * sizeof(std::uint16_t), groups = kMaxGroups * sizeof(Group);
  constexpr std::size_t bytes = ours + chunks + longest + groups;
  static_assert(bytes % kPageBytes == 0);
  std::byte* at = platform::map(bytes);
  if (at == nullptr) return false;
  mapped_.store(bytes, std::memory_order_relaxed);
  mappings_.store(1, std::memory_order_relaxed);
  ours_ = reinterpret_cast<std::atomic<std::uint64_t>*>(carve(at, ours));
  chunks_ = reinterpret_cast<HeapChunk**>(carve(at, chunks));
  longest_ = reinterpret_cast<std::uint16_t*>(carve(at, longest));
  groups_ = reinterpret_cast<Group*>(at);
  return true;
}

void PageHeap::destroy() noexcept {
  if (ours_ == nullptr) return;
  std::size_t tables = mapped_.load(std::memory_order_relaxed);
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

// Half as many chunks as there are, fewer when the machine refuses. One more goes to alignment, as addresses only.
bool PageHeap::grow() noexcept {
  if (group_count_ == kMaxGroups || chunk_count_ == kMaxChunks) return false;
  std::size_t wanted = chunk_count_ / 2 < 1 ? 1 : chunk_count_ / 2;
  if (wanted > kMaxGroupChunks) wanted = kMaxGroupChunks;
  if (wanted > kMaxChunks - chunk_count_) wanted = kMaxChunks - chunk_count_;
  for (; wanted != 0; wanted /= 2) {
    const std::size_t bytes = (wanted + 1) * kChunkBytes;
    std::byte* pages = platform::map(bytes);
    if (pages == nullptr) continue;
    groups_[group_count_++] = {pages, bytes};
    mapped_.store(mapped_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
    mappings_.store(mappings_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    std::byte* chunk = align_up(pages, kChunkBytes);
    for (std::size_t n = 0; n < wanted; n++) add_chunk(chunk + n * kChunkBytes);
    return true;
  }
  return false;
}

void PageHeap::add_chunk(std::byte* at) noexcept {
  const std::uintptr_t position = address_of(at) >> kChunkShift;
  if (position >= kAddressChunks) return;  // no machine of ours maps there; such a chunk would not be found again
  HeapChunk* chunk = reinterpret_cast<HeapChunk*>(at);  // the machine's zeroes are what every table begins with
  chunk->number = static_cast<std::uint32_t>(chunk_count_);
  set_bits(chunk->used, 0, kHeaderPages);
  longest_[chunk_count_] = kChunkPages - kHeaderPages;
  chunks_[chunk_count_++] = chunk;
  std::atomic<std::uint64_t>& word = ours_[position / 64];
  word.store(word.load(std::memory_order_relaxed) | std::uint64_t{1} << position % 64,
             std::memory_order_release);  // pairs with owns()
}

// --- Runs ------------------------------------------------------------------------------------------------------------

unsigned PageHeap::find_in(const HeapChunk* chunk, unsigned pages, unsigned align_pages) noexcept {
  unsigned at = kHeaderPages;
  while ((at = static_cast<unsigned>(round_up(next_page(chunk->used, at, false), align_pages))) < kChunkPages) {
    const unsigned end = next_page(chunk->used, at, true);
    if (end >= at + pages) return at;
    if (end == kChunkPages) break;
    at = end == at ? at + 1 : end;  // rounding up may have landed on a used page
  }
  return 0;
}

PageHeap::Position PageHeap::find_run(unsigned pages, unsigned align_pages) noexcept {
  for (std::size_t n = 0; n < chunk_count_; n++) {
    if (longest_[n] < pages) continue;
    if (const unsigned page = find_in(chunks_[n], pages, align_pages); page != 0) return {chunks_[n], page};
    if (align_pages == 1) longest_[n] = static_cast<std::uint16_t>(pages - 1);  // the bound was too high
  }
  return {nullptr, 0};
}

void PageHeap::occupy(HeapChunk* chunk, unsigned first, unsigned pages) noexcept {
  JANUS_ASSERT(count_bits(chunk->used, first, pages) == 0);
  const unsigned dirty = count_bits(chunk->dirty, first, pages);
  set_bits(chunk->used, first, pages);
  chunk->dirty_idle -= dirty;
  dirty_idle_pages_ -= dirty;
  used_pages_ += pages;
}

void PageHeap::vacate(HeapChunk* chunk, unsigned first, unsigned pages) noexcept {
  JANUS_ASSERT(pages != 0 && count_bits(chunk->used, first, pages) == pages);
  clear_bits(chunk->used, first, pages);
  set_bits(chunk->dirty, first, pages);
  chunk->dirty_idle += pages;
  dirty_idle_pages_ += pages;
  used_pages_ -= pages;
  longest_[chunk->number] = kChunkPages - kHeaderPages;  // no bound known; the next search finds one
}

Span* PageHeap::take_run(unsigned pages, unsigned align_pages) noexcept {
  LockGuard guard(lock_);
  Position at = find_run(pages, align_pages);
  while (at.chunk == nullptr) {
    if (!grow()) return nullptr;
    at = find_run(pages, align_pages);
  }
  occupy(at.chunk, at.page, pages);
  Span* run = &at.chunk->spans[at.page];
  run->pages = static_cast<std::uint16_t>(pages);
  return run;
}

void PageHeap::give_run(Span* run) noexcept {
  HeapChunk* chunk = chunk_of(run);
  LockGuard guard(lock_);
  vacate(chunk, first_page(run), run->pages);
  keep_reserve(chunk);
}

bool PageHeap::resize_run(Span* run, unsigned pages) noexcept {
  HeapChunk* chunk = chunk_of(run);
  const unsigned first = first_page(run), old = run->pages;
  if (pages > kMaxRunPages || first + pages > kChunkPages) return false;
  LockGuard guard(lock_);
  if (pages > old) {
    if (next_page(chunk->used, first + old, true) < first + pages) return false;
    occupy(chunk, first + old, pages - old);
  } else if (pages < old) {
    vacate(chunk, first + pages, old - pages);
    keep_reserve(chunk);
  }
  run->pages = static_cast<std::uint16_t>(pages);
  return true;
}

// --- Giving back -----------------------------------------------------------------------------------------------------

void PageHeap::discard_idle(HeapChunk* chunk) noexcept {
  unsigned at = kHeaderPages;
  while ((at = next_page(chunk->dirty, at, true)) < kChunkPages) {
    unsigned end = at;
    while (end < kChunkPages && bit(chunk->dirty, end) && !bit(chunk->used, end)) end++;
    if (end == at) {
      at++;
      continue;
    }
    platform::discard(chunk->page(at), (end - at) * kPageBytes);
    clear_bits(chunk->dirty, at, end - at);
    at = end;
  }
  dirty_idle_pages_ -= chunk->dirty_idle;
  chunk->dirty_idle = 0;
}

// The reserve is an eighth of what is in use: enough that a program that breathes makes no system calls, and in
// proportion to what it holds anyway. Beyond it half goes back, so that the work comes rarely.
void PageHeap::keep_reserve(HeapChunk* begin_with) noexcept {
  const std::size_t reserve = used_pages_ / 8 > kMinReservePages ? used_pages_ / 8 : kMinReservePages;
  if (dirty_idle_pages_ <= reserve) return;
  discard_idle(begin_with);
  for (std::size_t n = chunk_count_; n-- > 0 && dirty_idle_pages_ > reserve / 2;)
    if (chunks_[n]->dirty_idle != 0) discard_idle(chunks_[n]);
}

void PageHeap::trim() noexcept {
  LockGuard guard(lock_);
  for (std::size_t n = 0; n < chunk_count_; n++)
    if (chunks_[n]->dirty_idle != 0) discard_idle(chunks_[n]);
}

std::size_t PageHeap::idle_dirty_bytes() noexcept {
  LockGuard guard(lock_);
  return dirty_idle_pages_ * kPageBytes;
}

}  // namespace janus
