// SPDX-License-Identifier: Apache-2.0
#include "rt/mem/central_list.h"

#include "rt/mem/misuse.h"

namespace janus {

namespace {

// Cuts a run of pages into a span: sets up its record, tags and page table entries. No block is touched.
void make_span(Span* span, unsigned size_class) noexcept {
  const SpanShape& shape = kSpanShapes.of[size_class];
  HeapChunk* chunk = chunk_of(span);
  const unsigned first = first_page(span);
  span->block_bytes = shape.block_bytes;
  span->reciprocal = shape.reciprocal;
  span->size_class = static_cast<std::uint16_t>(size_class);
  span->blocks = span->idle = shape.blocks;
  span->cut = 0;
  span->free_list = nullptr;
  span->tags = shape.block_bytes < kTagsApartFrom
                   ? reinterpret_cast<Tag*>(start_of(span) + std::size_t{shape.blocks} * shape.block_bytes)
                   : &chunk->tags[first * kTagsPerPage];
  for (unsigned n = 0; n < shape.blocks; n++) span->tags[n].store(kFreeTag, std::memory_order_relaxed);
  for (unsigned page = first; page < first + shape.pages; page++)
    chunk->first[page].store(static_cast<std::uint16_t>(first), std::memory_order_relaxed);
}

FreeBlock* cut_block(Span* span) noexcept {
  std::byte* block = start_of(span) + std::size_t{span->cut++} * span->block_bytes;
  fill_free(block, span->block_bytes);
  return reinterpret_cast<FreeBlock*>(block);
}

void unmake_span(PageHeap& pages, Span* span) noexcept {
  HeapChunk* chunk = chunk_of(span);
  const unsigned first = first_page(span);
  for (unsigned page = first; page < first + span->pages; page++)
    chunk->first[page].store(0, std::memory_order_relaxed);
  span->size_class = kNoSpan;
  pages.give_run(span);
}

}  // namespace

// --- Taking ----------------------------------------------------------------------------------------------------------

CentralList::Chain CentralList::take(PageHeap& pages, unsigned size_class, unsigned wanted) noexcept {
  LockGuard guard(lock_);
  Chain chain{nullptr, 0};
  if (kept_ != 0 && wanted == kSpanShapes.of[size_class].batch) chain = {batches_[--kept_], wanted};
  while (chain.count < wanted) {
    Span* span = span_with_idle(pages, size_class);
    if (span == nullptr) break;
    take_from(span, chain, wanted);
    if (span->idle == 0) unlink(span);
  }
  count_out(chain.count);
  return chain;
}

Span* CentralList::span_with_idle(PageHeap& pages, unsigned size_class) noexcept {
  // A bent batch is lost here without a word: whoever bent it is long gone, and the caller is not to blame.
  while (spans_ == nullptr && kept_ != 0) (void)give_to_spans(pages, batches_[--kept_]);
  if (spans_ != nullptr) return spans_;
  Span* span = pages.take_run(kSpanShapes.of[size_class].pages, 1);
  if (span == nullptr) return nullptr;
  make_span(span, size_class);
  link(span);
  return span;
}

void CentralList::take_from(Span* span, Chain& chain, unsigned wanted) noexcept {
  for (; span->idle != 0 && chain.count < wanted; span->idle--, chain.count++) {
    FreeBlock* block = static_cast<FreeBlock*>(span->free_list);
    if (block != nullptr)
      span->free_list = block->next;
    else
      block = cut_block(span);
    block->next = chain.head;
    chain.head = block;
  }
}

// --- Giving ----------------------------------------------------------------------------------------------------------

void CentralList::give(PageHeap& pages, unsigned size_class, Chain chain) noexcept {
  if (chain.count == 0) return;
  FreeBlock* bent = nullptr;
  {
    LockGuard guard(lock_);
    count_out(-std::size_t{chain.count});
    if (chain.count == kSpanShapes.of[size_class].batch && kept_ < kKeptBatches)
      batches_[kept_++] = chain.head;
    else
      bent = give_to_spans(pages, chain.head);
  }
  if (bent != nullptr) heap_misuse(kWrittenAfterFree, bent);
}

// The first link that leads nowhere, or nullptr.
FreeBlock* CentralList::give_to_spans(PageHeap& pages, FreeBlock* head) noexcept {
  while (head != nullptr) {
    FreeBlock* block = head;
    Span* span = pages.owns(block) ? find_block(block).span : nullptr;
    if (span == nullptr) return block;
    head = head->next;
    block->next = static_cast<FreeBlock*>(span->free_list);
    span->free_list = block;
    if (span->idle++ == 0) link(span);
    if (span->idle == span->blocks) {
      unlink(span);
      unmake_span(pages, span);
    }
  }
  return nullptr;
}

void CentralList::trim(PageHeap& pages) noexcept {
  FreeBlock* bent = nullptr;
  {
    LockGuard guard(lock_);
    while (kept_ != 0 && bent == nullptr) bent = give_to_spans(pages, batches_[--kept_]);
  }
  if (bent != nullptr) heap_misuse(kWrittenAfterFree, bent);
}

// --- The list of spans -----------------------------------------------------------------------------------------------

void CentralList::link(Span* span) noexcept {
  span->previous = nullptr;
  span->next = spans_;
  if (spans_ != nullptr) spans_->previous = span;
  spans_ = span;
}

void CentralList::unlink(Span* span) noexcept {
  if (span->previous != nullptr)
    span->previous->next = span->next;
  else
    spans_ = span->next;
  if (span->next != nullptr) span->next->previous = span->previous;
}

}  // namespace janus
