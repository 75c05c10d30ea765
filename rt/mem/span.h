// SPDX-License-Identifier: Apache-2.0
// rt/mem/span.h — how the heap's memory is laid out: chunks of 4 MiB, aligned to their size, each with a header that
// describes its pages. A span is a run of pages: blocks of one size class, or a single large block.
//
// From a block's address, one mask leads to the chunk and one table to the span; whether the chunk is ours at all, a
// bit a chunk says (page_heap.h), so that no foreign address is ever read. The account that a block is charged to, its
// *tag*, lies apart from the block: one word each, at the end of a span of small blocks, else in the header.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rt/mem/pages.h"
#include "rt/mem/size_class.h"

namespace janus {

inline constexpr std::size_t kChunkShift = 22;
inline constexpr std::size_t kChunkBytes = std::size_t{1} << kChunkShift;
inline constexpr unsigned kChunkPages = kChunkBytes / kPageBytes;

using Tag = std::atomic<std::uint32_t>;
// The tag of a block that nobody holds. INVARIANT tag-tells-free: a block's tag is kFreeTag exactly while no caller of
// the heap holds it; so a second free of a block finds it, and so does an allocation that was handed a held block.
inline constexpr std::uint32_t kFreeTag = ~std::uint32_t{0};

inline constexpr std::uint16_t kLargeSpan = 0xffff;  // as size class: one block of whole pages
inline constexpr std::uint16_t kNoSpan = 0xfffe;

struct alignas(64) Span {
  // Constant while any block is out. A large span has block_bytes = its size and reciprocal 0: its only start is 0.
  std::uint32_t block_bytes;
  std::uint32_t reciprocal;
  Tag* tags;
  std::uint16_t size_class;
  std::uint16_t pages;
  std::uint16_t blocks;

  // Under the lock of its class's central list.
  std::uint16_t idle;  // blocks that lie in this span: never cut, or in the free list
  std::uint16_t cut;   // blocks cut so far; those behind have never been touched
  void* free_list;
  Span* next;  // among the spans of its class that have idle blocks
  Span* previous;
};
static_assert(sizeof(Span) == 64);

inline constexpr unsigned kTagsPerPage = kPageBytes / kTagsApartFrom;

struct HeapChunk {
  // Under the page heap's lock.
  std::uint64_t used[kChunkPages / 64];   // a bit a page
  std::uint64_t dirty[kChunkPages / 64];  // pages that have been used and not given back since
  std::uint32_t number;                   // in the page heap's table
  std::uint32_t dirty_idle;               // pages that are dirty and not used

  // The page that the span of this page begins with; 0 (a header page) where there is none. Read without a lock.
  std::atomic<std::uint16_t> first[kChunkPages];
  Span spans[kChunkPages];  // by first page
  Tag tags[kChunkPages * kTagsPerPage];

  [[nodiscard]] std::byte* page(unsigned number_in_chunk) noexcept {
    return reinterpret_cast<std::byte*>(this) + std::size_t{number_in_chunk} * kPageBytes;
  }
};
inline constexpr unsigned kHeaderPages = round_up(sizeof(HeapChunk), kPageBytes) / kPageBytes;
inline constexpr unsigned kMaxRunPages = kChunkPages / 4;  // larger blocks get mappings of their own
static_assert(kHeaderPages < kChunkPages / 32);

[[nodiscard]] inline HeapChunk* chunk_of(const void* address) noexcept {
  return reinterpret_cast<HeapChunk*>(round_down(address_of(address), kChunkBytes));
}
[[nodiscard]] inline unsigned page_of(const void* address) noexcept {
  return (address_of(address) >> kPageShift) % kChunkPages;
}
[[nodiscard]] inline HeapChunk* chunk_of(const Span* span) noexcept {
  return chunk_of(static_cast<const void*>(span));  // spans are records in their chunk's header
}
[[nodiscard]] inline unsigned first_page(const Span* span) noexcept {
  return static_cast<unsigned>(span - chunk_of(span)->spans);
}
[[nodiscard]] inline std::byte* start_of(Span* span) noexcept {
  return chunk_of(span)->page(first_page(span));
}

// A block as the heap sees it: its span and its number in it.
struct BlockRef {
  Span* span;  // nullptr: the address is not the start of a block
  std::uint32_t number;
  [[nodiscard]] Tag& tag() const noexcept { return span->tags[number]; }
};

// `address` lies in one of our chunks. Any thread; never touches the block.
[[nodiscard]] inline BlockRef find_block(const void* address) noexcept {
  HeapChunk* chunk = chunk_of(address);
  const unsigned first = chunk->first[page_of(address)].load(std::memory_order_relaxed);
  if (first == 0) [[unlikely]]
    return {nullptr, 0};
  Span* span = &chunk->spans[first];
  const std::uint64_t offset = address_of(address) % kChunkBytes - std::uint64_t{first} * kPageBytes;
  const std::uint32_t number = static_cast<std::uint32_t>(offset * span->reciprocal >> 32);
  if (std::uint64_t{number} * span->block_bytes != offset || number >= span->blocks) [[unlikely]]
    return {nullptr, 0};
  return {span, number};
}

}  // namespace janus
