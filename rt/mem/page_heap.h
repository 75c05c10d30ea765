// SPDX-License-Identifier: Apache-2.0
// rt/mem/page_heap.h — runs of pages for the heap, cut from chunks of 4 MiB: first fit in the order of chunks and
// pages, so that the last chunks become empty. An index (chunk_index.h) finds the chunk, however many there are. Chunks
// are mapped in growing groups and stay until destroy(); of idle pages, all but a small reserve go back to the machine.
// docs/decisions/0283
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rt/base/lock_rank.h"
#include "rt/mem/chunk_index.h"
#include "rt/mem/span.h"

namespace janus {

// INVARIANT nothing-idle-is-overlooked: while the lock is free, no aligned run of idle pages is longer than the index
// says for its chunk and alignment, and each chunk with a dirty idle page is marked. Taking pages changes neither, so
// both may be too large; a search that looks into a chunk in vain corrects them, and only giving pages back raises them
// again. So each free costs later searches at most one failed look into a chunk for each column. The total of dirty
// idle pages is exact. tests/mem/page_heap_test.cpp
class PageHeap {
 public:
  [[nodiscard]] bool init() noexcept;
  void destroy() noexcept;
  // Sets how many bytes of pages may be in use at once; without it there is no limit. Call it before the first run.
  void limit(std::uint64_t bytes) noexcept { most_pages_ = bytes / kPageBytes; }

  // Any thread. Takes a run of at most kMaxRunPages pages, whose first page is aligned to `align_pages` (a power of
  // two), and returns its record; the caller sets its size class and contents. nullptr: the machine has no memory, or
  // the limit is reached.
  [[nodiscard]] Span* take_run(unsigned pages, unsigned align_pages) noexcept;
  void give_run(Span* run) noexcept;
  // Makes the run of a large span longer or shorter without moving it. False: the pages behind it are in use, or a
  // limit is reached.
  [[nodiscard]] bool resize_run(Span* run, unsigned pages) noexcept;
  // Gives the pages of the reserve back to the machine, one chunk at a time.
  void trim() noexcept;

  // Whether the address is in one of the heap's chunks. Any thread, lock-free; does not access `address`.
  [[nodiscard]] bool owns(const void* address) const noexcept {
    const std::uintptr_t chunk = address_of(address) >> kChunkShift;
    if (chunk >= kAddressChunks) [[unlikely]]
      return false;
    return (ours_[chunk / 64].load(std::memory_order_acquire) >> chunk % 64 & 1) != 0;  // pairs with add_chunk()
  }

  // The chunks, in the order in which they were mapped; nullptr beyond the last.
  [[nodiscard]] HeapChunk* chunk_at(std::size_t number) noexcept {
    LockGuard guard(lock_);
    return number < chunk_count_ ? chunks_[number] : nullptr;
  }

  [[nodiscard]] std::size_t bytes_mapped() const noexcept { return mapped_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t mappings() const noexcept { return mappings_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t idle_dirty_bytes() noexcept;

 private:
  static constexpr std::size_t kAddressChunks = std::size_t{1} << (47 - kChunkShift);
  static constexpr std::size_t kMaxChunks = ChunkIndex::kChunks;  // 1 TiB
  // Columns of the index: the longest idle run at each alignment from 1 page to kMaxRunPages, and a mark (1) for chunks
  // that may have dirty idle pages.
  static constexpr unsigned kAlignments = 9;
  static_assert(1u << (kAlignments - 1) == kMaxRunPages);
  static constexpr unsigned kMayBeDirty = kAlignments;
  static_assert(ChunkIndex::kColumns == kAlignments + 1);
  static constexpr unsigned kMaxGroups = 1024;
  struct Group {
    std::byte* pages;
    std::size_t bytes;
  };
  enum class Search : std::uint8_t { kFound, kNowhere, kUnfinished };
  struct Position {
    Search result;
    HeapChunk* chunk;
    unsigned page;
  };

  [[nodiscard]] bool has_room_for(unsigned pages) const noexcept { return used_pages_ + pages <= most_pages_; }
  void count_mapping(std::size_t bytes) noexcept;
  [[nodiscard]] bool grow() noexcept;
  void add_chunk(std::byte* at) noexcept;
  [[nodiscard]] Position find_run(unsigned pages, unsigned alignment) noexcept;
  void occupy(HeapChunk* chunk, unsigned first, unsigned pages) noexcept;
  void vacate(HeapChunk* chunk, unsigned first, unsigned pages) noexcept;
  void keep_reserve(HeapChunk* chunk, unsigned first, unsigned pages) noexcept;
  void discard_run(HeapChunk* chunk, unsigned first, unsigned pages) noexcept;
  void discard_idle(HeapChunk* chunk, unsigned& calls_left) noexcept;

  // The tables, in one mapping of which only a few pages are ever touched: a bit for every 4 MiB of address space, the
  // chunks in the order in which they were mapped, their index, and the groups that they were mapped in.
  std::atomic<std::uint64_t>* ours_ = nullptr;
  HeapChunk** chunks_ = nullptr;
  ChunkIndex index_;
  Group* groups_ = nullptr;

  RankedLock<LockRank::kPages> lock_;
  std::size_t chunk_count_ = 0;
  unsigned group_count_ = 0;
  std::size_t used_pages_ = 0;
  std::size_t most_pages_ = ~std::size_t{0};
  std::size_t dirty_idle_pages_ = 0;
  std::atomic<std::size_t> mapped_{0};
  std::atomic<std::size_t> mappings_{0};
};

}  // namespace janus
