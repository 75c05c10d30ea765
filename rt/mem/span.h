// SPDX-License-Identifier: Apache-2.0
// rt/mem/span.h — how the heap's memory is laid out: chunks of 4 MiB, aligned to their size, each with a header that
// describes its pages. A span is a run of pages: blocks of one size class, or a single large block. docs/decisions/0020
//
// From a block's address, a mask leads to the chunk and one load to its page's entry, which gives the span's first page
// and its class; all else is constant for a class. A bit for each chunk of address space says whether the chunk is the
// heap's (page_heap.h), so no foreign address is ever read. The account that a block is charged to, its *tag*, is one
// word apart from the block: at the end of the span for blocks below kTagsApartFrom, otherwise in the chunk's header.
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
// INVARIANT tag-tells-holder: a block's tag is kFreeTag exactly while no caller of the heap holds it; any other tag has
// the bit kRuntimeTag exactly while the runtime itself holds the block. So the tag reveals a second free of a block, a
// user's free of a block of the runtime's, and a free list that leads to a held block. tests/mem/misuse_test.cpp
inline constexpr std::uint32_t kFreeTag = ~std::uint32_t{0};
inline constexpr std::uint32_t kRuntimeTag = std::uint32_t{1} << 31;

enum class Holder : std::uint8_t { kNobody, kUser, kRuntime };
[[nodiscard]] constexpr Holder holder_of(std::uint32_t tag) noexcept {
  if (tag < kRuntimeTag) return Holder::kUser;
  return tag == kFreeTag ? Holder::kNobody : Holder::kRuntime;
}

// A predicate that selects users' blocks by their tags. May be called twice for one block.
struct TagFilter {
  bool (*accepts)(const void* context, std::uint32_t tag) noexcept;
  const void* context;

  [[nodiscard]] bool operator()(std::uint32_t tag) const noexcept { return accepts(context, tag); }
};

class FreeBlock;  // free_block.h

// A span's record. Guarded by the lock of the central list of its class, or of the heap of its account (cage_heap.h); the
// record of a large span in no such heap belongs to the holder of its block. The data for freeing a block is in the page entries instead.
struct Span {
  std::uint16_t pages;
  std::uint16_t idle;        // blocks that are in this span: never cut, or in the free list
  std::uint16_t cut;         // blocks cut so far; those behind have never been touched
  std::uint16_t size_class;  // of a cage's span alone: the number of its list (cage_heap.h)
  FreeBlock* free_list;
  Span* next;  // among the spans of its class that have idle blocks
  Span* previous;
};

// The span that a page belongs to; all zero bits: none. Every page of a span of small blocks has an entry; of a large
// span only the first page has one. A *kind* is a size class plus one, so that zero is none.
class PageEntry {
 public:
  constexpr PageEntry() = default;
  constexpr PageEntry(unsigned first_page, unsigned kind) : bits_(first_page << kPageShift | kind << kKindShift) {}
  [[nodiscard]] constexpr unsigned first_page() const noexcept { return bits_ >> kPageShift; }
  [[nodiscard]] constexpr unsigned kind() const noexcept { return bits_ % kPageBytes >> kKindShift; }
  [[nodiscard]] constexpr unsigned scaled_kind() const noexcept { return bits_ % kPageBytes; }  // times kClassScale
  // The span's offset in the chunk.
  [[nodiscard]] constexpr std::uint32_t first_byte() const noexcept { return bits_ & ~std::uint32_t{kPageBytes - 1}; }
  [[nodiscard]] constexpr bool operator==(const PageEntry&) const = default;

 private:
  static constexpr unsigned kKindShift = 3;
  static_assert(1u << kKindShift == kClassScale);
  std::uint32_t bits_ = 0;
};
inline constexpr unsigned kNoKind = 0;
inline constexpr unsigned kLargeKind = kSizeClasses + 1;  // one block of whole pages
// A span of an account that pays for pages (cage_heap.h). find_block() finds no block there, and caches have no list.
inline constexpr unsigned kCageKind = kLargeKind + 1;
inline constexpr unsigned kKinds = kCageKind + 1;
static_assert(kCageKind * kClassScale < kPageBytes);
[[nodiscard]] constexpr unsigned kind_of_class(unsigned size_class) noexcept {
  return size_class + 1;
}

// Blocks of this size and more have their tags in the chunk's header, smaller ones at the end of their span.
inline constexpr std::size_t kTagsApartFrom = 1024;
inline constexpr unsigned kTagsPerPage = kPageBytes / kTagsApartFrom;

struct HeapChunk {
  // Guarded by the page heap's lock.
  std::uint64_t used[kChunkPages / 64];   // a bit for each page
  std::uint64_t dirty[kChunkPages / 64];  // pages that have been used and not given back since
  std::uint32_t number;                   // in the page heap's table

  std::atomic<PageEntry> entries[kChunkPages];  // read without a lock
  Tag tags[kChunkPages * kTagsPerPage];
  Span spans[kChunkPages];  // by first page
  std::atomic<std::uint32_t>
      owners[kChunkPages];  // by first page: the account whose span it is, if kCageKind (cage_heap.h)

  [[nodiscard]] std::byte* page(unsigned number_in_chunk) noexcept {
    return reinterpret_cast<std::byte*>(this) + std::size_t{number_in_chunk} * kPageBytes;
  }
};
inline constexpr unsigned kHeaderPages = round_up(sizeof(HeapChunk), kPageBytes) / kPageBytes;
inline constexpr unsigned kMaxRunPages = kChunkPages / 4;  // larger blocks get mappings of their own
static_assert(kHeaderPages < kChunkPages / 32 && std::atomic<PageEntry>::is_always_lock_free);

// --- Constants of a class --------------------------------------------------------------------------------------------

struct SpanShape {
  std::uint32_t reciprocal;  // ceil(2^32 / block_bytes): block number = offset * reciprocal >> 32
  std::uint32_t tag_offset;  // index of the tag of block n: (offset of the span >> tag_shift) + tag_offset + n
  std::uint16_t block_bytes;
  std::uint16_t blocks;
  std::uint8_t tag_shift;
  std::uint8_t pages;
  std::uint8_t batch;  // how many blocks move between a worker's cache and the central list at once
  std::uint8_t kept;   // how many batches the central list keeps whole
};
static_assert(sizeof(SpanShape) == 16);

inline constexpr unsigned kMaxKept = 64;

namespace span_detail {

inline constexpr std::size_t kMinSpanPages = 16, kMaxSpanPages = 64;
inline constexpr std::size_t kBatchBytes = 16384;
// Of blocks that janus_alloc and janus_free serve without a call: tasks allocate and free these in any order, and each
// batch that changes hands meanwhile is a branch that the processor did not predict.
inline constexpr std::size_t kTabledBatchBytes = 32768;
inline constexpr std::size_t kMinBatch = 2, kMaxBatch = 64;
inline constexpr std::size_t kKeptBytes = std::size_t{256} << 10;

constexpr std::size_t bytes_with_tag(std::size_t block) noexcept {
  return block + (block < kTagsApartFrom ? sizeof(Tag) : 0);
}

// The shortest span that wastes at most a sixteenth, or else the one that wastes least.
constexpr std::size_t pages_for(std::size_t block) noexcept {
  std::size_t best = kMinSpanPages, best_waste = ~std::size_t{0};
  for (std::size_t pages = kMinSpanPages; pages <= kMaxSpanPages; pages++) {
    const std::size_t bytes = pages * kPageBytes, waste = bytes % bytes_with_tag(block) * 1024 / bytes;
    if (waste < best_waste) best = pages, best_waste = waste;
    if (waste <= 64) break;
  }
  return best;
}

constexpr std::size_t kept_for(std::size_t batch_bytes) noexcept {
  const std::size_t fitting = kKeptBytes / batch_bytes;
  return fitting < kMaxKept ? fitting : kMaxKept;
}

constexpr std::size_t batch_for(std::size_t block) noexcept {
  const std::size_t fitting = (block <= kMaxTabled ? kTabledBatchBytes : kBatchBytes) / block;
  return fitting < kMinBatch ? kMinBatch : fitting > kMaxBatch ? kMaxBatch : fitting;
}

inline constexpr std::uint8_t kWordShift = 2;  // from an offset to the index of a word
// From an offset to the index of the tag of a block that begins there: chunks have kTagsPerPage tags for each page.
inline constexpr std::uint8_t kApartShift = 10;
static_assert(kPageBytes >> kApartShift == kTagsPerPage && 1 << kWordShift == sizeof(Tag));

constexpr SpanShape shape_of(unsigned size_class) noexcept {
  const std::size_t block = size_class_bytes(size_class), pages = pages_for(block);
  const std::size_t blocks = pages * kPageBytes / bytes_with_tag(block);
  const bool apart = block >= kTagsApartFrom;
  SpanShape shape{};
  shape.reciprocal = static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + block - 1) / block);
  shape.tag_offset = static_cast<std::uint32_t>((apart ? offsetof(HeapChunk, tags) : blocks * block) / sizeof(Tag));
  shape.tag_shift = apart ? kApartShift : kWordShift;
  shape.block_bytes = static_cast<std::uint16_t>(block);
  shape.blocks = static_cast<std::uint16_t>(blocks);
  shape.pages = static_cast<std::uint8_t>(pages);
  shape.batch = static_cast<std::uint8_t>(batch_for(block));
  shape.kept = static_cast<std::uint8_t>(kept_for(batch_for(block) * block));
  return shape;
}

// With these numbers (and zeroes for kNoKind) the arithmetic of find_block() needs no branch to find that a large block
// starts at offset 0 only, and that no block starts in a page of no span.
constexpr SpanShape large_shape() noexcept {
  SpanShape shape{};
  shape.reciprocal = 1;
  shape.tag_offset = offsetof(HeapChunk, tags) / sizeof(Tag);
  shape.tag_shift = kApartShift;
  shape.blocks = 1;
  return shape;
}

struct Shapes {
  SpanShape by_kind[kKinds];
};
constexpr Shapes all_shapes() noexcept {
  Shapes shapes{};
  for (unsigned c = 0; c < kSizeClasses; c++) shapes.by_kind[kind_of_class(c)] = shape_of(c);
  shapes.by_kind[kLargeKind] = large_shape();
  return shapes;
}

// For find_block(): the product of an offset in a span and the reciprocal is less than the reciprocal, modulo 2^32,
// exactly if a block begins there. Let e = reciprocal * block_bytes - 2^32. For offset = n * block_bytes + r the product
// is n * e + r * reciprocal modulo 2^32; the largest, for r = block_bytes - 1, is n * e + 2^32 + e - reciprocal.
constexpr bool is_start_exact(const SpanShape& shape) noexcept {
  const std::uint64_t excess = std::uint64_t{shape.reciprocal} * shape.block_bytes - (std::uint64_t{1} << 32);
  const std::uint64_t most = shape.pages * kPageBytes / shape.block_bytes;
  return (most + 1) * excess < shape.reciprocal;
}
constexpr bool are_starts_exact(const Shapes& shapes) noexcept {
  for (unsigned c = 0; c < kSizeClasses; c++)
    if (!is_start_exact(shapes.by_kind[kind_of_class(c)])) return false;
  return true;
}

}  // namespace span_detail

inline constexpr span_detail::Shapes kSpanShapes = span_detail::all_shapes();
static_assert(span_detail::are_starts_exact(kSpanShapes));
[[nodiscard]] constexpr const SpanShape& span_shape(unsigned size_class) noexcept {
  return kSpanShapes.by_kind[kind_of_class(size_class)];
}

// --- Lookups by address ----------------------------------------------------------------------------------------------

[[nodiscard]] inline HeapChunk* chunk_of(const void* address) noexcept {
  return reinterpret_cast<HeapChunk*>(round_down(address_of(address), kChunkBytes));
}
[[nodiscard]] inline HeapChunk* chunk_before(std::uintptr_t last_byte) noexcept {
  return reinterpret_cast<HeapChunk*>(last_byte - (kChunkBytes - 1));
}
[[nodiscard]] inline unsigned page_of(const void* address) noexcept {
  return (address_of(address) >> kPageShift) % kChunkPages;
}
// Span records are in their chunk's header, one for each page; a span has that of its first page.
[[nodiscard]] inline unsigned first_page(const Span* span) noexcept {
  return static_cast<unsigned>(span - chunk_of(span)->spans);
}
[[nodiscard]] inline std::byte* start_of(Span* span) noexcept {
  return chunk_of(span)->page(first_page(span));
}

// A tag's index is its offset in the chunk, in words: less than 2^20.
inline constexpr unsigned kTagIndexBits = kChunkShift - 2;
[[nodiscard]] inline std::uint64_t first_tag(unsigned first_page, const SpanShape& shape) noexcept {
  return (std::uint64_t{first_page} << kPageShift >> shape.tag_shift) + shape.tag_offset;
}
[[nodiscard]] inline Tag& tag_at(HeapChunk* chunk, std::uint64_t index) noexcept {
  return reinterpret_cast<Tag*>(chunk)[index];
}

// The heap's data of a block that was found by its address.
struct BlockRef {
  HeapChunk* chunk;
  std::uint64_t number;  // of the block in its span
  PageEntry entry;

  [[nodiscard]] const SpanShape& shape() const noexcept { return kSpanShapes.by_kind[entry.kind()]; }
  [[nodiscard]] std::uint64_t tag_index() const noexcept {
    return std::uint64_t{entry.first_byte() >> shape().tag_shift} + shape().tag_offset + number;
  }
  [[nodiscard]] Tag& tag() const noexcept { return tag_at(chunk, tag_index()); }
  // Whether the pages are still what they were when the block was found.
  [[nodiscard]] bool is_current(const void* block) const noexcept {
    return chunk->entries[page_of(block)].load(std::memory_order_relaxed) == entry;
  }
  [[nodiscard]] bool is_large() const noexcept { return entry.kind() == kLargeKind; }
  [[nodiscard]] unsigned size_class() const noexcept { return entry.kind() - 1; }
  [[nodiscard]] Span* span() const noexcept { return &chunk->spans[entry.first_page()]; }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return is_large() ? span()->pages * kPageBytes : shape().block_bytes;
  }
};

[[nodiscard]] inline std::uint64_t offset_in_span(const void* address, PageEntry entry) noexcept {
  return (static_cast<std::uint32_t>(address_of(address)) - entry.first_byte()) % kChunkBytes;
}

// Any thread; the block itself is not touched. Precondition: `address` is in one of the heap's chunks. False: no block
// starts there.
[[nodiscard, gnu::always_inline]] inline bool find_block(const void* address, BlockRef& out) noexcept {
  HeapChunk* chunk = chunk_of(address);
  const PageEntry entry = chunk->entries[page_of(address)].load(std::memory_order_relaxed);
  const SpanShape& shape = kSpanShapes.by_kind[entry.kind()];
  const std::uint64_t product = offset_in_span(address, entry) * shape.reciprocal;
  out = {chunk, product >> 32, entry};
  return static_cast<std::uint32_t>(product) < shape.reciprocal && product >> 32 < shape.blocks;  // is_start_exact()
}

}  // namespace janus
