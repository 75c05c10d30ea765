// SPDX-License-Identifier: Apache-2.0
#include "rt/mem/central_list.h"

#include "rt/base/assert.h"
#include "rt/mem/misuse.h"

namespace janus {

namespace {

void set_entries(Span* span, PageEntry entry) noexcept {
  HeapChunk* chunk = chunk_of(span);
  const unsigned first = first_page(span);
  for (unsigned page = first; page < first + span->pages; page++)
    chunk->entries[page].store(entry, std::memory_order_relaxed);
}

// Makes a run of pages a span: initialises its record, tags and page entries. Touches no block.
void make_span(Span* span, unsigned size_class) noexcept {
  const SpanShape& shape = span_shape(size_class);
  const unsigned first = first_page(span);
  span->idle = shape.blocks;
  span->cut = 0;
  span->free_list = nullptr;
  Tag* tags = &tag_at(chunk_of(span), first_tag(first, shape));
  for (unsigned n = 0; n < shape.blocks; n++) tags[n].store(kFreeTag, std::memory_order_relaxed);
  set_entries(span, PageEntry(first, kind_of_class(size_class)));
}

void unmake_span(PageHeap& pages, Span* span) noexcept {
  set_entries(span, PageEntry());
  pages.give_run(span);
}

// Cuts the next block that was never used. The caller sets its link.
FreeBlock* cut_block(Span* span, const SpanShape& shape) noexcept {
  const unsigned number = span->cut++;
  FreeBlock* block = reinterpret_cast<FreeBlock*>(start_of(span) + std::size_t{number} * shape.block_bytes);
  fill_free(block, shape.block_bytes);
  block->set(nullptr, first_tag(first_page(span), shape) + number);
  return block;
}

}  // namespace

// --- Taking ----------------------------------------------------------------------------------------------------------

CentralList::Chain CentralList::take(PageHeap& pages, unsigned size_class, unsigned wanted) noexcept {
  Chain chain{nullptr, 0};
  Lost lost{nullptr, 0};
  {
    LockGuard guard(lock_);
    if (kept_ != 0 && wanted == span_shape(size_class).batch) chain = take_kept(size_class);
    while (chain.count < wanted) {
      Span* span = span_with_idle(pages, size_class, lost);
      if (span == nullptr) break;
      take_from(span, span_shape(size_class), chain, wanted, lost);
      if (span->idle == 0) unlink(span);
    }
    count_out(chain.count);
  }
  lost.report();
  return chain;
}

Span* CentralList::span_with_idle(PageHeap& pages, unsigned size_class, Lost& lost) noexcept {
  while (spans_ == nullptr && kept_ != 0) give_to_spans(pages, size_class, take_kept(size_class), lost);
  if (spans_ != nullptr) return spans_;
  Span* span = pages.take_run(span_shape(size_class).pages, 1);
  if (span == nullptr) return nullptr;
  make_span(span, size_class);
  link(span);
  return span;
}

void CentralList::take_from(Span* span, const SpanShape& shape, Chain& chain, unsigned wanted, Lost& lost) noexcept {
  while (span->idle != 0 && chain.count < wanted) {
    FreeBlock* block = span->free_list != nullptr ? reuse_block(span, shape, lost) : cut_block(span, shape);
    if (block == nullptr) continue;
    block->relink(chain.head);
    chain.head = block;
    chain.count++;
    span->idle--;
  }
}

// Takes a block from the span's free list; nullptr: its link was overwritten, and it is lost with all behind it.
FreeBlock* CentralList::reuse_block(Span* span, const SpanShape& shape, Lost& lost) noexcept {
  FreeBlock* block = span->free_list;
  const bool intact = block->is_intact();
  span->free_list = intact ? block->next() : nullptr;
  if (intact) return block;
  const unsigned never_cut = shape.blocks - span->cut;
  lost.add(block, span->idle - never_cut);
  span->idle = static_cast<std::uint16_t>(never_cut);
  return nullptr;
}

// --- Giving ----------------------------------------------------------------------------------------------------------

void CentralList::give(PageHeap& pages, unsigned size_class, Chain chain) noexcept {
  if (chain.count == 0) return;
  Lost lost{nullptr, 0};
  {
    LockGuard guard(lock_);
    count_out(-std::size_t{chain.count});
    const SpanShape& shape = span_shape(size_class);
    if (chain.count == shape.batch && kept_ < shape.kept)
      batches_[kept_++] = chain.head;
    else
      give_to_spans(pages, size_class, chain, lost);
  }
  lost.report();
}

void CentralList::give_to_spans(PageHeap& pages, unsigned size_class, Chain chain, Lost& lost) noexcept {
  for (; chain.head != nullptr; chain.count--) {
    FreeBlock* block = chain.head;
    BlockRef ref;
    if (!block->is_intact() || !find_block(block, ref)) return lost.add(block, chain.count);
    chain.head = block->next();
    Span* span = ref.span();
    block->relink(span->free_list);
    span->free_list = block;
    JANUS_ASSERT(span->idle < span_shape(size_class).blocks);
    if (span->idle++ == 0) link(span);
    if (span->idle == span_shape(size_class).blocks) {
      unlink(span);
      unmake_span(pages, span);
    }
  }
}

// One at a time, since other threads may wait for the lock.
[[gnu::noinline, gnu::cold]] bool CentralList::give_back_batch(PageHeap& pages, unsigned size_class) noexcept {
  Lost lost{nullptr, 0};
  bool has_given;
  {
    LockGuard guard(lock_);
    has_given = kept_ != 0;
    if (has_given) give_to_spans(pages, size_class, take_kept(size_class), lost);
  }
  lost.report();
  return has_given;
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
