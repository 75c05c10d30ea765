// SPDX-License-Identifier: Apache-2.0
#include "rt/mem/central_list.h"

#include "rt/mem/misuse.h"

namespace janus {

namespace {

void set_entries(Span* span, PageEntry entry) noexcept {
  HeapChunk* chunk = chunk_of(span);
  const unsigned first = first_page(span);
  for (unsigned page = first; page < first + span->pages; page++)
    chunk->entries[page].store(entry, std::memory_order_relaxed);
}

// Makes a span of a run of pages: its record, tags and page entries. No block is touched.
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

// The next block that was never out. Its link is the caller's to set.
FreeBlock* cut_block(Span* span, const SpanShape& shape) noexcept {
  const unsigned number = span->cut++;
  FreeBlock* block = reinterpret_cast<FreeBlock*>(start_of(span) + std::size_t{number} * shape.block_bytes);
  fill_free(block, shape.block_bytes);
  block->set(nullptr, first_tag(first_page(span), shape) + number);
  return block;
}

// A block that came back; nullptr if somebody wrote to it since. Then it is lost with all behind it, without a word:
// who wrote is long gone, and who asks is not to blame.
FreeBlock* reuse_block(Span* span, const SpanShape& shape) noexcept {
  FreeBlock* block = span->free_list;
  const bool intact = block->is_intact();
  span->free_list = intact ? block->next() : nullptr;
  if (intact) return block;
  span->idle = static_cast<std::uint16_t>(shape.blocks - span->cut);
  return nullptr;
}

}  // namespace

// --- Taking ----------------------------------------------------------------------------------------------------------

CentralList::Chain CentralList::take(PageHeap& pages, unsigned size_class, unsigned wanted) noexcept {
  LockGuard guard(lock_);
  Chain chain{nullptr, 0};
  if (kept_ != 0 && wanted == span_shape(size_class).batch) chain = {batches_[--kept_], wanted};
  while (chain.count < wanted) {
    Span* span = span_with_idle(pages, size_class);
    if (span == nullptr) break;
    take_from(span, span_shape(size_class), chain, wanted);
    if (span->idle == 0) unlink(span);
  }
  count_out(chain.count);
  return chain;
}

Span* CentralList::span_with_idle(PageHeap& pages, unsigned size_class) noexcept {
  // A bent batch is lost here without a word: whoever bent it is long gone, and the caller is not to blame.
  while (spans_ == nullptr && kept_ != 0) (void)give_to_spans(pages, size_class, batches_[--kept_]);
  if (spans_ != nullptr) return spans_;
  Span* span = pages.take_run(span_shape(size_class).pages, 1);
  if (span == nullptr) return nullptr;
  make_span(span, size_class);
  link(span);
  return span;
}

void CentralList::take_from(Span* span, const SpanShape& shape, Chain& chain, unsigned wanted) noexcept {
  while (span->idle != 0 && chain.count < wanted) {
    FreeBlock* block = span->free_list != nullptr ? reuse_block(span, shape) : cut_block(span, shape);
    if (block == nullptr) continue;
    block->relink(chain.head);
    chain.head = block;
    chain.count++;
    span->idle--;
  }
}

// --- Giving ----------------------------------------------------------------------------------------------------------

void CentralList::give(PageHeap& pages, unsigned size_class, Chain chain) noexcept {
  if (chain.count == 0) return;
  FreeBlock* bent = nullptr;
  {
    LockGuard guard(lock_);
    count_out(-std::size_t{chain.count});
    if (chain.count == span_shape(size_class).batch && kept_ < kKeptBatches)
      batches_[kept_++] = chain.head;
    else
      bent = give_to_spans(pages, size_class, chain.head);
  }
  if (bent != nullptr) heap_misuse(kWrittenAfterFree, bent);
}

// The first block that somebody wrote to, or nullptr.
FreeBlock* CentralList::give_to_spans(PageHeap& pages, unsigned size_class, FreeBlock* head) noexcept {
  while (head != nullptr) {
    FreeBlock* block = head;
    if (!block->is_intact()) return block;
    head = block->next();
    BlockRef ref;
    if (!find_block(block, ref)) return block;
    Span* span = ref.span();
    block->relink(span->free_list);
    span->free_list = block;
    if (span->idle++ == 0) link(span);
    if (span->idle == span_shape(size_class).blocks) {
      unlink(span);
      unmake_span(pages, span);
    }
  }
  return nullptr;
}

void CentralList::trim(PageHeap& pages, unsigned size_class) noexcept {
  FreeBlock* bent = nullptr;
  {
    LockGuard guard(lock_);
    while (kept_ != 0 && bent == nullptr) bent = give_to_spans(pages, size_class, batches_[--kept_]);
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
