// SPDX-License-Identifier: Apache-2.0
#include "rt/mem/heap.h"

#include "rt/mem/pages.h"

namespace janus {

namespace {

// The error if a caller claims that `holder` holds a block with this tag.
Misuse misuse_of(std::uint32_t tag, Holder holder) noexcept {
  if (holder_of(tag) == holder) return Misuse::kNone;
  return tag == kFreeTag ? Misuse::kFreed : Misuse::kRuntimes;
}

}  // namespace

// --- Allocation ------------------------------------------------------------------------------------------------------

// Gives up all blocks of `list`: the link of the first was overwritten, and without it the others cannot be found. If
// the link was not overwritten, somebody holds that block, and the list cannot be trusted.
[[gnu::noinline, gnu::cold]] void Heap::give_up(HeapCache::List& list, unsigned size_class) noexcept {
  const FreeBlock* const block = list.hot;
  if (block->is_intact()) end_for_damage("the free list leads to a block that somebody holds:", block);
  const std::uint32_t count = hot_blocks(list, size_class);
  set_hot(list, size_class, {nullptr, 0});
  central_[size_class].forget(count);
  report_written_after_free(block, count);
}

// Batches that central lists keep may be all that keeps spans from being freed, so nothing is refused before they have
// been given back, one class after the other. The largest blocks come first, since they are the fewest.
[[gnu::noinline, gnu::cold]] bool Heap::give_back_kept() noexcept {
  bool has_given = false;
  for (unsigned c = kSizeClasses; c-- != 0 && !has_given;)
    while (central_[c].give_back_batch(pages_, c)) has_given = true;
  return has_given;
}

void* Heap::allocate(HeapCache* cache, Plan plan, std::size_t align, std::uint32_t tag) noexcept {
  switch (plan.kind) {
    case Kind::kSmall:
      return take_small(cache, plan.size_class, tag);
    case Kind::kLarge:
      return take_large(plan.bytes, align, tag);
    case Kind::kHuge:
      return huge_.allocate(plan.bytes, align, tag);
    case Kind::kNone:
      break;
  }
  return nullptr;
}

void* Heap::take_small(HeapCache* cache, unsigned size_class, std::uint32_t tag) noexcept {
  if (cache == nullptr) return take_foreign(size_class, tag);
  HeapCache::List& list = cache->list_of(size_class);
  for (;;) {
    if (list.hot == nullptr && !refill(*cache, size_class)) return nullptr;
    Tag* its_tag;
    if (FreeBlock* const block = look_at_first(list, its_tag)) return take_first(list, block, its_tag, tag);
    give_up(list, size_class);
  }
}

[[gnu::noinline, gnu::cold]] void* Heap::take_foreign(unsigned size_class, std::uint32_t tag) noexcept {
  for (;;) {
    FreeBlock* block = central_[size_class].take(pages_, size_class, 1).head;
    if (block == nullptr) {
      if (!give_back_kept()) return nullptr;
      continue;
    }
    HeapCache::List alone{};
    if (kHeapChecks) alone.block_bytes = span_shape(size_class).block_bytes;
    set_hot(alone, size_class, {block, 1});
    Tag* its_tag;
    if (look_at_first(alone, its_tag) != nullptr) return take_first(alone, block, its_tag, tag);
    give_up(alone, size_class);
  }
}

// The hot list is empty: replaces it by the spare batch, or by one from the central list.
bool Heap::refill(HeapCache& cache, unsigned size_class) noexcept {
  if (cache.link_.pool == nullptr) link(cache);
  HeapCache::List& list = cache.list_of(size_class);
  CentralList::Chain chain{list.spare, list.spares.load(std::memory_order_relaxed)};
  list.spare = nullptr;
  list.spares.store(0, std::memory_order_relaxed);
  while (chain.head == nullptr) {
    chain = central_[size_class].take(pages_, size_class, span_shape(size_class).batch);
    if (chain.head == nullptr && !give_back_kept()) break;
  }
  set_hot(list, size_class, chain);
  return chain.head != nullptr;
}

void* Heap::take_large(std::size_t bytes, std::size_t align, std::uint32_t tag) noexcept {
  const unsigned align_pages = align <= kPageBytes ? 1 : static_cast<unsigned>(align / kPageBytes);
  Span* span;
  while ((span = pages_.take_run(static_cast<unsigned>(bytes / kPageBytes), align_pages)) == nullptr)
    if (!give_back_kept()) return nullptr;
  HeapChunk* chunk = chunk_of(span);
  const unsigned first = first_page(span);
  chunk->entries[first].store(PageEntry(first, kLargeKind), std::memory_order_relaxed);
  add_large(bytes);
  // The heap's last access; pairs with take_over_tagged().
  tag_at(chunk, first_tag(first, kSpanShapes.by_kind[kLargeKind])).store(tag, std::memory_order_release);
  return start_of(span);
}

void Heap::add_large(std::size_t delta) noexcept {
  large_bytes_.fetch_add(delta, std::memory_order_relaxed);
}

// --- Freeing ---------------------------------------------------------------------------------------------------------

// If another thread freed the block after find_block(), its whole span may have been freed and its pages reused: then the
// exchange changed a foreign word, which is restored. While we hold the block, its span cannot be freed.
[[gnu::noinline, gnu::cold]] bool Heap::restore_tag(Tag& its_tag, std::uint32_t from, std::uint32_t to) noexcept {
  (void)its_tag.compare_exchange_strong(to, from, std::memory_order_relaxed);
  return false;
}

// Takes the block from `holder` by setting the bits of `added` in its tag.
[[gnu::always_inline]] inline Heap::Found Heap::claim(void* block, BlockRef& ref, Holder holder,
                                                      std::uint32_t added) noexcept {
  if (!find_block(block, ref)) [[unlikely]]
    return {0, kFreeTag, Misuse::kNoBlock};
  const std::uint32_t tag = ref.tag().load(std::memory_order_relaxed);
  if (holder_of(tag) != holder) [[unlikely]]
    return {0, kFreeTag, misuse_of(tag, holder)};
  if (!exchange_tag(block, ref, tag, tag | added)) [[unlikely]]
    return {0, kFreeTag, Misuse::kFreed};
  return {ref.bytes(), tag, Misuse::kNone};
}

Heap::Found Heap::free_from(Holder holder, HeapCache* cache, void* block) noexcept {
  if (!pages_.owns(block)) return free_unusual(block, holder);
  BlockRef ref;
  const Found found = claim(block, ref, holder, kFreeTag);
  if (found.misuse == Misuse::kNoBlock && is_in_cage(block)) return claim_in_cage(block, holder, InCage::kFree);
  if (found.misuse != Misuse::kNone) return found;
  if (ref.is_large()) return free_large(block, found);
  if (cache != nullptr) {
    if (cache->link_.pool == nullptr) link(*cache);
    HeapCache::List& list = cache->list_of(ref.size_class());
    if (list.room.load(std::memory_order_relaxed) == 0) set_aside(list, ref.size_class());
    push(list, block, ref.tag_index());
    return found;
  }
  central_[ref.size_class()].give(pages_, ref.size_class(),
                                  {make_free(block, ref.bytes(), ref.tag_index(), nullptr), 1});
  return found;
}

Heap::Found Heap::free(HeapCache* cache, void* block) noexcept {
  return free_from(Holder::kUser, cache, block);
}

Heap::Found Heap::free_own(HeapCache* cache, void* block) noexcept {
  Found found = free_from(Holder::kRuntime, cache, block);
  // Users cannot free it, so the tag was overwritten, or the runtime has freed the block before.
  if (found.misuse != Misuse::kNone) end_for_damage("the runtime does not hold its own block any more:", block);
  found.tag &= ~kRuntimeTag;
  return found;
}

// Called when a block is freed while the hot list is a whole batch: that becomes the spare, and the old spare goes to
// the central list. Not done one block earlier, so that a task that allocates and frees in turn never does it twice in
// a row.
void Heap::set_aside(HeapCache::List& list, unsigned size_class) noexcept {
  const CentralList::Chain surplus{list.spare, list.spares.load(std::memory_order_relaxed)};
  list.spare = list.hot;
  list.spares.store(hot_blocks(list, size_class), std::memory_order_relaxed);
  set_hot(list, size_class, {nullptr, 0});
  if (surplus.head != nullptr) central_[size_class].give(pages_, size_class, surplus);
}

// The address is in no chunk of the heap: nullptr, a huge block, or a misuse.
[[gnu::cold]] Heap::Found Heap::free_unusual(void* block, Holder holder) noexcept {
  HugeTable::Block huge;
  if (block == nullptr) return {0, kFreeTag, Misuse::kNone};
  const Misuse misuse = huge_.free(block, holder, huge);
  if (misuse != Misuse::kNone) return {0, kFreeTag, misuse};
  return {huge.bytes, huge.tag, Misuse::kNone};
}

Heap::Found Heap::free_large(void* block, Found found) noexcept {
  BlockRef ref;
  (void)find_block(block, ref);
  ref.chunk->entries[ref.entry.first_page()].store(PageEntry(), std::memory_order_relaxed);
  pages_.give_run(ref.span());
  add_large(-found.bytes);
  return found;
}

[[gnu::noinline, gnu::cold]] Heap::Found Heap::take_over(void* block) noexcept {
  if (pages_.owns(block)) {
    BlockRef ref;
    const Found found = claim(block, ref, Holder::kUser, kRuntimeTag);
    if (found.misuse == Misuse::kNoBlock && is_in_cage(block))
      return claim_in_cage(block, Holder::kUser, InCage::kTakeOver);
    return found;
  }
  HugeTable::Block huge;
  const Misuse misuse = huge_.take_over(block, huge);
  if (misuse != Misuse::kNone) return {0, kFreeTag, misuse};
  return {huge.bytes, huge.tag, Misuse::kNone};
}

// --- Looking at a block, and resizing it in place --------------------------------------------------------------------

[[gnu::noinline, gnu::cold]] Heap::Found Heap::look_at(const void* block) noexcept {
  Found found{0, kFreeTag, Misuse::kNoBlock};
  if (pages_.owns(block)) [[likely]] {
    BlockRef ref;
    if (!find_block(block, ref)) {
      return is_in_cage(block) ? claim_in_cage(const_cast<void*>(block), Holder::kUser, InCage::kLook) : found;
    }
    found.tag = ref.tag().load(std::memory_order_relaxed);
    if (found.tag != kFreeTag) found.bytes = ref.bytes();
  } else {
    HugeTable::Block huge;
    if (!huge_.find(block, huge)) return found;
    found.tag = huge.tag;
    found.bytes = huge.bytes;
  }
  found.misuse = misuse_of(found.tag, Holder::kUser);
  return found;
}

[[gnu::noinline, gnu::cold]] bool Heap::resize_in_place(void* block, std::size_t bytes) noexcept {
  const std::size_t usable = size_of(block);
  if (usable == 0) return false;
  if (pages_.owns(block)) {
    BlockRef ref;
    if (!find_block(block, ref)) return false;  // in a cage
    if (ref.is_large()) return resize_large(ref.span(), bytes);
  }
  return bytes <= usable && (bytes > usable / 2 || usable <= kMinBlock);
}

[[gnu::noinline, gnu::cold]] bool Heap::resize_large(Span* span, std::size_t bytes) noexcept {
  if (bytes <= kMaxSmall || bytes > kMaxLarge) return false;
  const std::size_t whole = round_up(bytes, kPageBytes), old = span->pages * kPageBytes;
  if (!pages_.resize_run(span, static_cast<unsigned>(whole / kPageBytes))) return false;
  add_large(whole - old);
  return true;
}

// --- Caches ----------------------------------------------------------------------------------------------------------

void Heap::make_list(HeapCache::List& list, unsigned size_class) noexcept {
  const SpanShape& shape = span_shape(size_class);
  list.reciprocal = shape.reciprocal;
  list.end = std::uint64_t{shape.blocks} << 32;
  list.tag_offset = shape.tag_offset;
  list.block_bytes = shape.block_bytes;
  list.tag_shift = shape.tag_shift;
  set_hot(list, size_class, {nullptr, 0});
}

[[gnu::noinline, gnu::cold]] void Heap::link(HeapCache& cache) noexcept {
  for (unsigned c = 0; c < kSizeClasses; c++) make_list(cache.list_of(c), c);
  LockGuard guard(caches_lock_);
  caches_.add(cache, *this);
}

[[gnu::noinline, gnu::cold]] void Heap::unlink(HeapCache& cache) noexcept {
  LockGuard guard(caches_lock_);
  caches_.remove(cache);
}

[[gnu::noinline, gnu::cold]] void Heap::flush(HeapCache& cache) noexcept {
  for (std::uintptr_t& known : cache.known_chunks_) known = 0;
  if (cache.link_.pool == nullptr) return;
  for (unsigned c = 0; c < kSizeClasses; c++) {
    HeapCache::List& list = cache.list_of(c);
    // Emptied before it is given: a list whose links turn out to be overwritten must not be given again.
    const CentralList::Chain hot{list.hot, hot_blocks(list, c)};
    const CentralList::Chain spare{list.spare, list.spares.load(std::memory_order_relaxed)};
    list.hot = list.spare = nullptr;
    list.room.store(0, std::memory_order_relaxed);
    list.spares.store(0, std::memory_order_relaxed);
    central_[c].give(pages_, c, hot);
    central_[c].give(pages_, c, spare);
  }
  unlink(cache);
}

void Heap::trim() noexcept {
  while (give_back_kept()) {
  }
  pages_.trim();
}

// --- Figures, and life -----------------------------------------------------------------------------------------------

[[gnu::noinline, gnu::cold]] std::size_t Heap::bytes_in_use() noexcept {
  std::size_t bytes = large_bytes_.load(std::memory_order_relaxed) + huge_.bytes_in_use();
  for (unsigned c = 0; c < kSizeClasses; c++) bytes += central_[c].blocks_out() * size_class_bytes(c);
  LockGuard guard(caches_lock_);
  for (HeapCache* cache = caches_.first(); cache != nullptr; cache = cache->link_.next)
    for (unsigned c = 0; c < kSizeClasses; c++)
      bytes -= size_class_bytes(c) * (hot_blocks(cache->list_of(c), c) +
                                      std::size_t{cache->list_of(c).spares.load(std::memory_order_relaxed)});
  return bytes;
}

std::size_t Heap::bytes_mapped() noexcept {
  return pages_.bytes_mapped() + huge_.bytes_mapped() + cages_.bytes_mapped();
}
std::size_t Heap::mappings() noexcept {
  return pages_.mappings() + huge_.mappings() + cages_.mappings();
}

bool Heap::init() noexcept {
  return pages_.init();
}

void Heap::destroy() noexcept {
  cages_.destroy();
  huge_.destroy();
  pages_.destroy();
}

}  // namespace janus
