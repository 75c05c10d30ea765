// SPDX-License-Identifier: Apache-2.0
// rt/mem/heap_walk.cpp — walks over all blocks of the heap, span by span, to take over the blocks that ended tasks did
// not free. docs/decisions/0205
#include "rt/mem/heap.h"

namespace janus {

// Takes over the blocks that `is_meant` selects from the span that begins at walk.page of the chunk, and moves the walk
// behind it unless `out` is full. Returns the number of blocks.
unsigned Heap::take_over_at(Walk& walk, HeapChunk* chunk, const TagFilter& is_meant, void** out,
                            unsigned most) noexcept {
  const unsigned page = walk.page;
  const PageEntry entry = chunk->entries[page].load(std::memory_order_relaxed);
  if (entry.kind() == kNoKind || entry.first_page() != page) {  // first_page() differs if spans have changed meanwhile
    walk.page++;
    return 0;
  }
  if (entry.kind() == kLargeKind) {
    walk.page++;
    // The tag is in the chunk's header, which never holds user data. If the run has become a span of small blocks since
    // the entry was loaded, the tag may be that of one of these, and is restored. While we hold a large block, it stays
    // one.
    Tag& its_tag = tag_at(chunk, first_tag(page, kSpanShapes.by_kind[kLargeKind]));
    if (!take_over_tagged(its_tag, is_meant)) return 0;
    if (chunk->entries[page].load(std::memory_order_relaxed) != entry) [[unlikely]] {
      its_tag.fetch_and(~kRuntimeTag, std::memory_order_relaxed);
      return 0;
    }
    out[0] = chunk->page(page);
    return 1;
  }
  const unsigned size_class = entry.kind() - 1;
  const SpanShape& shape = span_shape(size_class);
  const unsigned taken = central_[size_class].take_over(chunk, page, size_class, is_meant, walk.block, out, most);
  if (walk.block < shape.blocks) return taken;
  walk.block = 0;
  walk.page += shape.pages;
  return taken;
}

unsigned Heap::take_over_next(Walk& walk, const TagFilter& is_meant, void** out, unsigned most) noexcept {
  HeapChunk* const chunk = pages_.chunk_at(walk.chunk);
  if (chunk == nullptr) {  // no more chunks: huge blocks come last
    const unsigned taken = huge_.take_over_tagged(is_meant, out, most);
    walk.is_over = taken < most;
    return taken;
  }
  unsigned taken = 0;
  for (const unsigned end = walk.page + kWalkPages; walk.page < end && walk.page < kChunkPages && taken < most;)
    taken += take_over_at(walk, chunk, is_meant, out + taken, most - taken);
  if (walk.page >= kChunkPages) {
    walk.page = 0;
    walk.chunk++;
  }
  return taken;
}

}  // namespace janus
