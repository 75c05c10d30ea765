// SPDX-License-Identifier: Apache-2.0
// rt/mem/cage_heap.cpp — see cage_heap.h. docs/decisions/0353
#include "rt/mem/cage_heap.h"

#include "rt/mem/free_block.h"
#include "rt/mem/misuse.h"
#include "rt/platform.h"

namespace janus {

namespace {

constexpr unsigned longest_span() noexcept {
  unsigned pages = 0;
  for (unsigned c = 0; c < kSizeClasses; c++) pages = cage_shape(c).pages > pages ? cage_shape(c).pages : pages;
  return pages;
}
static_assert(longest_span() <= 13);

std::uint64_t tag_index_of(const Span* span, const Tag& tag) noexcept {
  return static_cast<std::uint64_t>(&tag - reinterpret_cast<const Tag*>(chunk_of(span)));
}

// Every page of a span has an entry, but of a large block only the first one.
void set_entries(Span* span, unsigned pages, PageEntry entry) noexcept {
  HeapChunk* const chunk = chunk_of(span);
  const unsigned first = first_page(span);
  for (unsigned page = first; page < first + pages; page++)
    chunk->entries[page].store(entry, std::memory_order_release);  // after the owner; pairs with claim_in_cage()
}
void clear_entries(Span* span) noexcept {
  set_entries(span, (span->size_class & kCageClassBits) < kSizeClasses ? span->pages : 1, PageEntry());
}
}  // namespace

// --- Lists -----------------------------------------------------------------------------------------------------------

void CageHeap::link(Span* span) noexcept {
  Span*& first = list_of(span);
  if (first == nullptr) {
    span->next = span->previous = first = span;
    return;
  }
  span->next = first;
  span->previous = first->previous;
  first->previous->next = span;
  first->previous = span;
  if (span->idle != 0) first = span;  // otherwise it is the last one
}

void CageHeap::unlink(Span* span) noexcept {
  Span*& first = list_of(span);
  if (first == span) first = span->next != span ? span->next : nullptr;
  span->next->previous = span->previous;
  span->previous->next = span->next;
}

// --- Taking ----------------------------------------------------------------------------------------------------------

namespace {

// Whether the address that a free list has led to is that of a free block, which nobody has written to.
bool is_sound(Span* span, const CageShape& shape, const void* block) noexcept {
  const std::uintptr_t offset = address_of(block) - address_of(start_of(span));
  if (offset >= std::size_t{shape.blocks} * shape.bytes || offset % shape.bytes != 0) return false;
  const Tag& tag = cage_tags_of(span, shape)[offset / shape.bytes];
  return static_cast<const FreeBlock*>(block)->tag_index() == tag_index_of(span, tag) &&
         tag.load(std::memory_order_relaxed) == kFreeTag;
}

}  // namespace

// nullptr: all blocks of the free list were lost, since a link was overwritten. Precondition: the span has idle blocks.
void* CageHeap::take_from(Span* span, const CageShape& shape, const void*& written_to, unsigned& lost) noexcept {
  std::byte* block;
  if (FreeBlock* const free = span->free_list) {
    block = reinterpret_cast<std::byte*>(free);
    if (!is_sound(span, shape, free)) {
      const unsigned never_cut = shape.blocks - span->cut;
      written_to = free;
      lost = span->idle - never_cut;
      span->free_list = nullptr;
      span->idle = static_cast<std::uint16_t>(never_cut);
      return nullptr;
    }
    if (!is_still_filled(free, shape.bytes)) written_to = free;
    span->free_list = free->next();
  } else {
    block = start_of(span) + std::size_t{span->cut++} * shape.bytes;
  }
  span->idle--;
  const auto number = static_cast<std::size_t>(block - start_of(span)) / shape.bytes;
  cage_tags_of(span, shape)[number].store(0, std::memory_order_relaxed);
  return block;
}

void* CageHeap::take(unsigned size_class) noexcept {
  const CageShape shape = cage_shape(size_class);
  for (;;) {
    const void* written_to = nullptr;
    unsigned lost = 0;
    void* block = nullptr;
    {
      LockGuard guard(lock_);
      Span*& first = lists_[size_class];
      if (first == nullptr || first->idle == 0) return nullptr;
      block = take_from(first, shape, written_to, lost);
      if (first->idle == 0) first = first->next;  // idle-spans-first: it is the last one now
    }
    if (written_to != nullptr) [[unlikely]]
      report_written_after_free(written_to, lost);
    if (block != nullptr) return block;
  }
}

void* CageHeap::take_of_new(Span* span, unsigned size_class) noexcept {
  const CageShape shape = cage_shape(size_class);
  span->size_class = static_cast<std::uint16_t>(size_class);
  span->idle = static_cast<std::uint16_t>(shape.blocks);
  span->cut = 0;
  span->free_list = nullptr;
  Tag* const tags = cage_tags_of(span, shape);
  for (unsigned n = 0; n < shape.blocks; n++) tags[n].store(kFreeTag, std::memory_order_relaxed);
  const void* written_to = nullptr;
  unsigned lost = 0;
  void* const block = take_from(span, shape, written_to, lost);
  LockGuard guard(lock_);
  set_entries(span, span->pages, PageEntry(first_page(span), kCageKind));
  link(span);
  return block;
}

void* CageHeap::take_large(Span* span) noexcept {
  span->size_class = kLargeList;
  span->idle = 0;
  span->cut = 1;
  span->free_list = nullptr;
  cage_tags_of(span, cage_shape_of(span))[0].store(0, std::memory_order_relaxed);
  LockGuard guard(lock_);
  set_entries(span, 1, PageEntry(first_page(span), kCageKind));
  link(span);
  return start_of(span);
}

// --- The end of a cage -----------------------------------------------------------------------------------------------

namespace {

bool has_held_by_runtime(Span* span) noexcept {
  const Tag* const tags = cage_tags_of(span, cage_shape_of(span));
  for (unsigned n = 0; n < span->cut; n++)
    if (holder_of(tags[n].load(std::memory_order_relaxed)) == Holder::kRuntime) return true;
  return false;
}

void put_free(Span* span, const CageShape& shape, std::size_t number) noexcept {
  Tag& tag = cage_tags_of(span, shape)[number];
  tag.store(kFreeTag, std::memory_order_relaxed);
  auto* const block = reinterpret_cast<FreeBlock*>(start_of(span) + number * shape.bytes);
  fill_free(block, shape.bytes);
  block->set(span->free_list, tag_index_of(span, tag));
  span->free_list = block;
  span->idle++;
}

void free_users_blocks(Span* span) noexcept {
  const CageShape shape = cage_shape_of(span);
  const Tag* const tags = cage_tags_of(span, shape);
  for (unsigned n = 0; n < span->cut; n++)
    if (holder_of(tags[n].load(std::memory_order_relaxed)) == Holder::kUser) put_free(span, shape, n);
}

}  // namespace

bool CageHeap::reclaim(Runs& out) noexcept {
  LockGuard guard(lock_);
  for (unsigned list = 0; list < kHeldList; list++) {
    while (Span* const span = lists_[list]) {
      if (out.is_full()) return true;
      unlink(span);
      if (has_held_by_runtime(span)) {
        free_users_blocks(span);
        span->size_class |= kHeldBit;
        link(span);
      } else {
        clear_entries(span);
        out.add(span);
      }
    }
  }
  return false;
}

void CageHeap::begin_move(Runs& out) noexcept {
  LockGuard guard(lock_);
  for (Span*& first : lists_) {
    while (Span* const span = first) {
      if (out.is_full()) return;
      unlink(span);
      owner_of(span).store(kMoving, std::memory_order_relaxed);
      out.add(span);
    }
  }
}

void CageHeap::end_move(const Runs& spans, std::uint32_t account) noexcept {
  LockGuard guard(lock_);
  for (Span *span = spans.first, *next = nullptr; span != nullptr; span = next) {
    next = span->next;
    span->size_class &= kCageClassBits;
    link(span);
    owner_of(span).store(account, std::memory_order_relaxed);
  }
}

// --- Freeing ---------------------------------------------------------------------------------------------------------

bool CageHeap::free(Span* span, const CageShape& shape, std::size_t number) noexcept {
  if (span->idle + 1u == shape.blocks) {
    unlink(span);
    clear_entries(span);
    return true;
  }
  const bool was_full = span->idle == 0;
  if (was_full) unlink(span);
  put_free(span, shape, number);
  if (was_full) link(span);  // idle-spans-first
  return false;
}

// --- The heaps of all accounts ---------------------------------------------------------------------------------------

CageHeap* CageHeaps::at(std::uint32_t account) noexcept {
  if (CageHeap* const heap = find(account)) return heap;
  const Place place = place_of(account);
  std::byte* const zeroes = platform::map(segment_bytes(place.segment));
  if (zeroes == nullptr) return nullptr;
  CageHeap* expected = nullptr;
  if (!segments_[place.segment].compare_exchange_strong(expected, reinterpret_cast<CageHeap*>(zeroes),
                                                        std::memory_order_acq_rel, std::memory_order_acquire))
    platform::unmap(zeroes, segment_bytes(place.segment));
  return find(account);
}

}  // namespace janus
