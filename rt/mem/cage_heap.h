// SPDX-License-Identifier: Apache-2.0
// rt/mem/cage_heap.h — the users' blocks of one account that pays for pages: in spans of its own, so that what a cage
// keeps is what it has paid for, and its end gives whole spans back without looking at any other block.
// docs/decisions/0353
//
// A span is as short as it can be, 1 to 13 pages, and its account pays for all of them. Which account that is stands in
// the chunk's header, once for the whole span (HeapChunk::owners), so a span changes its account in O(1). The tags of
// its blocks say only who holds them. Workers' caches have no such block: a free finds no list for its kind of page
// (kCageKind), and takes the general path.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <arch/cpu.h>
#include "rt/base/lock_rank.h"
#include "rt/mem/page_heap.h"
#include "rt/mem/span.h"
#include "rt/platform.h"

namespace janus {

// How the blocks of a size class lie in a cage's span. Their tags are at its end, or in the chunk's header for blocks of
// kTagsApartFrom and more.
struct CageShape {
  unsigned bytes;   // of a block
  unsigned blocks;  // at least 1
  unsigned pages;
};
// The shortest span that wastes at most a sixteenth.
[[nodiscard]] constexpr CageShape cage_shape(unsigned size_class) noexcept {
  const auto bytes = static_cast<unsigned>(size_class_bytes(size_class));
  const auto with_tag = static_cast<unsigned>(span_detail::bytes_with_tag(bytes));
  for (unsigned pages = 1;; pages++) {
    const unsigned all = pages * static_cast<unsigned>(kPageBytes), blocks = all / with_tag;
    if ((all - blocks * with_tag) * 16 <= all) return {bytes, blocks, pages};
  }
}

inline constexpr unsigned kCageClassBits = 0xff;  // of Span::size_class; kSizeClasses: a large block
// The tags of a span's blocks; a large block has one.
[[nodiscard]] inline Tag* cage_tags_of(Span* span, const CageShape& shape) noexcept {
  if (shape.bytes < kTagsApartFrom) return reinterpret_cast<Tag*>(start_of(span) + shape.blocks * shape.bytes);
  return &chunk_of(span)->tags[first_page(span) * kTagsPerPage];
}

// A large block is a span of its own.
[[nodiscard]] inline CageShape cage_shape_of(const Span* span) noexcept {
  const unsigned size_class = span->size_class & kCageClassBits;
  if (size_class < kSizeClasses) return cage_shape(size_class);
  return {static_cast<unsigned>(span->pages * kPageBytes), 1, span->pages};
}

// The index of the account whose span it is.
[[nodiscard]] inline std::atomic<std::uint32_t>& owner_of(Span* span) noexcept {
  return chunk_of(span)->owners[first_page(span)];
}

// One account's spans. All zero bytes are one without spans.
//
// INVARIANT idle-spans-first: in the list of a class, the spans with idle blocks come before those without.
//
// INVARIANT owner-under-lock: a span's owner and page entries change only under the lock of its owner's heap, but for
// spans on the way from one account to another, whose owner is kMoving. So whoever holds that lock and reads both
// unchanged has found a span that stays.
class alignas(arch::kCacheLine) CageHeap {
 public:
  // HeapChunk::owners of a span that is on its way from one account to another.
  static constexpr std::uint32_t kMoving = 0;

  // Takes an idle block of the class; nullptr: there is none.
  [[nodiscard]] void* take(unsigned size_class) noexcept;
  // Make a run of pages a span of the class, or one large block, and take a block of it. The caller has just taken the
  // run, and set its owner.
  [[nodiscard]] void* take_of_new(Span* span, unsigned size_class) noexcept;
  [[nodiscard]] void* take_large(Span* span) noexcept;

  // Spans that were unlinked, linked by `next`.
  struct Runs {
    Span* first = nullptr;
    unsigned count = 0;
    std::size_t pages = 0;

    void add(Span* span) noexcept {
      span->next = first;
      first = span;
      count++;
      pages += span->pages;
    }
    [[nodiscard]] bool is_full() const noexcept { return count >= kSpansAtOnce || pages >= kPagesAtOnce; }
  };
  static constexpr unsigned kSpansAtOnce = 64, kPagesAtOnce = 1024;

  // The end of a cage: unlinks the next spans, which are no spans any more. Those in which the runtime holds a block (a
  // task outside is just about to resize or free it) stay until it has freed that; all their other blocks are freed.
  // True: there are more.
  [[nodiscard]] bool reclaim(Runs& out) noexcept;
  // Unlinks the next spans; their owner is kMoving until end_move() has linked them in the heap of `account`. None are
  // left when it adds none.
  void begin_move(Runs& out) noexcept;
  void end_move(const Runs& spans, std::uint32_t account) noexcept;

 private:
  friend class Heap;
  static constexpr unsigned kLargeList = kSizeClasses;   // blocks of whole pages
  static constexpr unsigned kHeldList = kLargeList + 1;  // spans that reclaim() has left
  static constexpr unsigned kLists = kHeldList + 1;
  // In Span::size_class besides the class: it is in kHeldList.
  static constexpr unsigned kHeldBit = 1u << 15;

  [[nodiscard]] Span*& list_of(const Span* span) noexcept {
    return lists_[(span->size_class & kHeldBit) != 0 ? kHeldList : span->size_class];
  }
  void link(Span* span) noexcept;
  void unlink(Span* span) noexcept;
  [[nodiscard]] void* take_from(Span* span, const CageShape& shape, const void*& written_to, unsigned& lost) noexcept;
  // Frees a block of the span, which nobody holds any more. True: it was the last one; the span is unlinked.
  [[nodiscard]] bool free(Span* span, const CageShape& shape, std::size_t number) noexcept;

  RankedLock<LockRank::kCageHeap> lock_;
  // Some block may be a mapping of its own. Set before the first is allocated.
  std::atomic<bool> has_huge_;
  Span* lists_[kLists];  // circular, by size class; nullptr: empty
};

// The heaps of all accounts, by the account's index: segments that never move. A heap that was used once is kept for the
// next account with that index; it takes less than a sixth of the page that an account has to have paid for by then.
class CageHeaps {
 public:
  // nullptr: no account with that index, or near it, has had a heap.
  [[nodiscard]] CageHeap* find(std::uint32_t account) const noexcept {
    const Place place = place_of(account);
    CageHeap* const segment = segments_[place.segment].load(std::memory_order_acquire);  // pairs with at()
    return segment != nullptr ? segment + place.offset : nullptr;
  }
  // Makes it if need be; nullptr: the machine has no memory.
  [[nodiscard]] CageHeap* at(std::uint32_t account) noexcept;
  [[nodiscard]] std::size_t bytes_mapped() const noexcept {
    std::size_t bytes = 0;
    for (unsigned n = 0; n < kSegments; n++)
      if (segments_[n].load(std::memory_order_relaxed) != nullptr) bytes += segment_bytes(n);
    return bytes;
  }
  [[nodiscard]] std::size_t mappings() const noexcept {
    std::size_t count = 0;
    for (const auto& segment : segments_) count += segment.load(std::memory_order_relaxed) != nullptr;
    return count;
  }
  void destroy() noexcept {
    for (unsigned n = 0; n < kSegments; n++)
      if (CageHeap* const segment = segments_[n].exchange(nullptr, std::memory_order_relaxed))
        platform::unmap(reinterpret_cast<std::byte*>(segment), segment_bytes(n));
  }

 private:
  static constexpr unsigned kFirstBits = 6;  // segment s has 64 << s heaps
  static constexpr unsigned kSegments = 33 - kFirstBits;
  struct Place {
    unsigned segment;
    std::size_t offset;
  };
  [[nodiscard]] static Place place_of(std::uint32_t account) noexcept {
    const std::uint64_t number = std::uint64_t{account} + (1u << kFirstBits);
    const auto segment = static_cast<unsigned>(std::bit_width(number)) - 1 - kFirstBits;
    return {segment, number - (std::uint64_t{1} << (segment + kFirstBits))};
  }
  [[nodiscard]] static std::size_t segment_bytes(unsigned number) noexcept {
    return round_up((std::size_t{1} << (kFirstBits + number)) * sizeof(CageHeap), kPageBytes);
  }

  std::atomic<CageHeap*> segments_[kSegments];
};

}  // namespace janus
