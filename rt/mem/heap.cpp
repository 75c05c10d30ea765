// SPDX-License-Identifier: Apache-2.0
#include "rt/mem/heap.h"

#include "rt/mem/pages.h"

namespace janus {

namespace {

constexpr std::size_t kNaturalAlign = 16;
constexpr std::size_t kMaxLarge = std::size_t{kMaxRunPages} * kPageBytes;
constexpr std::size_t kMaxHuge = std::size_t{1} << 46;  // beyond any address space; keeps the sums below from wrapping

bool is_sane_align(std::size_t align) noexcept {
  return align <= kNaturalAlign || (is_power_of_two(align) && align <= kMaxHuge);
}

}  // namespace

// --- What a request becomes ------------------------------------------------------------------------------------------

Heap::Plan Heap::plan_for(std::size_t bytes, std::size_t align) noexcept {
  if (bytes > kMaxHuge || !is_sane_align(align)) return {Kind::kNone, 0, 0};
  if (bytes <= kMaxSmall && align <= kPageBytes) {
    const unsigned size_class = align <= kNaturalAlign ? size_class_of(bytes) : aligned_size_class_of(bytes, align);
    if (size_class < kSizeClasses) return {Kind::kSmall, size_class, size_class_bytes(size_class)};
  }
  const std::size_t whole = round_up(bytes == 0 ? 1 : bytes, kPageBytes);
  return {whole <= kMaxLarge && align <= kMaxLarge ? Kind::kLarge : Kind::kHuge, 0, whole};
}

std::size_t Heap::charge_for(std::size_t bytes, std::size_t align) noexcept {
  return plan_for(bytes, align).bytes;
}

// --- Allocation ------------------------------------------------------------------------------------------------------

void* Heap::allocate(HeapCache* cache, std::size_t bytes, std::size_t align, std::uint32_t tag) noexcept {
  if (cache == nullptr || bytes > kMaxSmall || align > kNaturalAlign) [[unlikely]]
    return allocate_slowly(cache, bytes, align, tag);
  const unsigned size_class = size_class_of(bytes);
  HeapCache::List& list = cache->lists_[size_class];
  if (list.hot == nullptr) [[unlikely]]
    return take_small(cache, size_class, tag);
  return pop(list, size_class, tag);
}

// The last look at a block before it goes out: somebody may have written to it since it was freed.
[[gnu::always_inline]] inline void* Heap::pop(HeapCache::List& list, unsigned size_class, std::uint32_t tag) noexcept {
  FreeBlock* block = list.hot;
  if (!block->is_intact()) [[unlikely]]
    lose(list);
  Tag& its_tag = tag_at(chunk_of(block), block->tag_index());
  if (its_tag.load(std::memory_order_relaxed) != kFreeTag) [[unlikely]]
    lose(list);
  if (kHeapChecks && !is_still_filled(block, size_class_bytes(size_class))) lose(list);
  its_tag.store(tag, std::memory_order_relaxed);
  list.hot = block->next();
  list.count.store(list.count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  return block;
}

// What follows in the list is not to be trusted: it is given up.
void Heap::lose(HeapCache::List& list) noexcept {
  FreeBlock* block = list.hot;
  list.hot = nullptr;
  list.count.store(0, std::memory_order_relaxed);
  heap_misuse(kWrittenAfterFree, block);
}

void* Heap::allocate_slowly(HeapCache* cache, std::size_t bytes, std::size_t align, std::uint32_t tag) noexcept {
  const Plan plan = plan_for(bytes, align);
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
  HeapCache::List& list = cache->lists_[size_class];
  return list.hot != nullptr || refill(*cache, size_class) ? pop(list, size_class, tag) : nullptr;
}

void* Heap::take_foreign(unsigned size_class, std::uint32_t tag) noexcept {
  FreeBlock* block = central_[size_class].take(pages_, size_class, 1).head;
  if (block == nullptr) return nullptr;
  HeapCache::List alone{block, nullptr, 1, 0};
  return pop(alone, size_class, tag);
}

// The hot list is empty: the spare batch takes its place, or one from the central list.
bool Heap::refill(HeapCache& cache, unsigned size_class) noexcept {
  link(cache);
  HeapCache::List& list = cache.lists_[size_class];
  CentralList::Chain chain{list.spare, list.spares.load(std::memory_order_relaxed)};
  list.spare = nullptr;
  list.spares.store(0, std::memory_order_relaxed);
  if (chain.head == nullptr) chain = central_[size_class].take(pages_, size_class, span_shape(size_class).batch);
  list.hot = chain.head;
  list.count.store(chain.count, std::memory_order_relaxed);
  return chain.head != nullptr;
}

void* Heap::take_large(std::size_t bytes, std::size_t align, std::uint32_t tag) noexcept {
  const unsigned align_pages = align <= kPageBytes ? 1 : static_cast<unsigned>(align / kPageBytes);
  Span* span = pages_.take_run(static_cast<unsigned>(bytes / kPageBytes), align_pages);
  if (span == nullptr) return nullptr;
  HeapChunk* chunk = chunk_of(span);
  const unsigned first = first_page(span);
  tag_at(chunk, first_tag(first, kSpanShapes.by_kind[kLargeKind])).store(tag, std::memory_order_relaxed);
  chunk->entries[first].store(PageEntry(first, kLargeKind), std::memory_order_relaxed);
  add_large(bytes);
  return start_of(span);
}

void Heap::add_large(std::size_t delta) noexcept {
  large_bytes_.fetch_add(delta, std::memory_order_relaxed);
}

// --- Freeing ---------------------------------------------------------------------------------------------------------

// What is rare is done by tail calls, so that the usual case saves no registers.
Heap::Freed Heap::free(HeapCache* cache, void* block) noexcept {
  if (cache == nullptr || cache->home_ == nullptr) [[unlikely]]
    return free_unlinked(cache, block);
  if (!pages_.owns(block)) [[unlikely]]
    return free_unusual(block);
  BlockRef ref;
  const Freed freed = mark_free(block, ref);
  if (ref.is_large()) [[unlikely]]
    return free_large(block, freed);
  const unsigned size_class = ref.size_class();
  HeapCache::List& list = cache->lists_[size_class];
  const std::uint32_t count = list.count.load(std::memory_order_relaxed);
  FreeBlock* free_block = static_cast<FreeBlock*>(block);
  free_block->set(list.hot, ref.tag_index);
  if (count >= span_shape(size_class).batch) [[unlikely]]
    return set_aside(list, size_class, free_block, freed);
  list.hot = free_block;
  list.count.store(count + 1, std::memory_order_relaxed);
  return freed;
}

[[gnu::always_inline]] inline Heap::Freed Heap::mark_free(void* block, BlockRef& ref) noexcept {
  if (!find_block(block, ref)) [[unlikely]]
    heap_misuse(kForeignBlock, block);
  const Freed freed{ref.bytes(), ref.tag().load(std::memory_order_relaxed)};
  if (freed.tag == kFreeTag) [[unlikely]]
    heap_misuse(kFreedTwice, block);
  ref.tag().store(kFreeTag, std::memory_order_relaxed);
  if (!ref.is_large()) fill_free(block, freed.bytes);
  return freed;
}

// A worker's first free, or a foreign thread's.
Heap::Freed Heap::free_unlinked(HeapCache* cache, void* block) noexcept {
  if (cache != nullptr) {
    link(*cache);
    return free(cache, block);
  }
  if (!pages_.owns(block)) return free_unusual(block);
  BlockRef ref;
  const Freed freed = mark_free(block, ref);
  if (ref.is_large()) return free_large(block, freed);
  FreeBlock* alone = static_cast<FreeBlock*>(block);
  alone->set(nullptr, ref.tag_index);
  central_[ref.size_class()].give(pages_, ref.size_class(), {alone, 1});
  return freed;
}

// The hot list is a whole batch, and one more comes: it becomes the spare, and the spare that there was goes to the
// central list. Not a block earlier, so that who allocates and frees in turn never does this twice in a row.
Heap::Freed Heap::set_aside(HeapCache::List& list, unsigned size_class, FreeBlock* one_more, Freed freed) noexcept {
  FreeBlock* surplus = list.spare;
  const std::uint32_t count = list.spares.load(std::memory_order_relaxed);
  list.spare = list.hot;
  list.spares.store(list.count.load(std::memory_order_relaxed), std::memory_order_relaxed);
  one_more->set(nullptr, one_more->tag_index());
  list.hot = one_more;
  list.count.store(1, std::memory_order_relaxed);
  if (surplus != nullptr) central_[size_class].give(pages_, size_class, {surplus, count});
  return freed;
}

// No chunk of ours: nothing, a huge block, or a mistake.
Heap::Freed Heap::free_unusual(void* block) noexcept {
  HugeTable::Block huge;
  if (block == nullptr) return {0, kFreeTag};
  if (!huge_.free(block, huge)) heap_misuse(kForeignBlock, block);
  return {huge.bytes, huge.tag};
}

Heap::Freed Heap::free_large(void* block, Freed freed) noexcept {
  BlockRef ref;
  (void)find_block(block, ref);
  ref.chunk->entries[ref.entry.first_page()].store(PageEntry(), std::memory_order_relaxed);
  pages_.give_run(ref.span());
  add_large(-freed.bytes);
  return freed;
}

// --- Questions about a block -----------------------------------------------------------------------------------------

std::size_t Heap::size_of(const void* block) noexcept {
  if (pages_.owns(block)) [[likely]] {
    BlockRef ref;
    return find_block(block, ref) ? ref.bytes() : 0;
  }
  HugeTable::Block huge;
  return block != nullptr && huge_.find(block, huge) ? huge.bytes : 0;
}

std::uint32_t Heap::tag_of(const void* block) noexcept {
  if (pages_.owns(block)) [[likely]] {
    BlockRef ref;
    return find_block(block, ref) ? ref.tag().load(std::memory_order_relaxed) : kFreeTag;
  }
  HugeTable::Block huge;
  return block != nullptr && huge_.find(block, huge) ? huge.tag : kFreeTag;
}

bool Heap::resize_in_place(void* block, std::size_t bytes) noexcept {
  const std::size_t usable = size_of(block);
  if (usable == 0) return false;
  if (pages_.owns(block)) {
    BlockRef ref;
    (void)find_block(block, ref);
    if (ref.is_large()) return resize_large(ref.span(), bytes);
  }
  return bytes <= usable && (bytes > usable / 2 || usable <= kMinBlock);
}

bool Heap::resize_large(Span* span, std::size_t bytes) noexcept {
  if (bytes <= kMaxSmall || bytes > kMaxLarge) return false;
  const std::size_t whole = round_up(bytes, kPageBytes), old = span->pages * kPageBytes;
  if (!pages_.resize_run(span, static_cast<unsigned>(whole / kPageBytes))) return false;
  add_large(whole - old);
  return true;
}

// --- Caches ----------------------------------------------------------------------------------------------------------

void Heap::link(HeapCache& cache) noexcept {
  if (cache.home_ != nullptr) return;
  LockGuard guard(caches_lock_);
  cache.home_ = this;
  cache.previous_ = nullptr;
  cache.next_ = caches_;
  if (caches_ != nullptr) caches_->previous_ = &cache;
  caches_ = &cache;
}

void Heap::unlink(HeapCache& cache) noexcept {
  LockGuard guard(caches_lock_);
  (cache.previous_ != nullptr ? cache.previous_->next_ : caches_) = cache.next_;
  if (cache.next_ != nullptr) cache.next_->previous_ = cache.previous_;
  cache.home_ = nullptr;
}

void Heap::flush(HeapCache& cache) noexcept {
  if (cache.home_ == nullptr) return;
  for (unsigned c = 0; c < kSizeClasses; c++) {
    HeapCache::List& list = cache.lists_[c];
    // Out of the cache first: a list that turns out to be bent is given up, and not given again.
    const CentralList::Chain hot{list.hot, list.count.load(std::memory_order_relaxed)};
    const CentralList::Chain spare{list.spare, list.spares.load(std::memory_order_relaxed)};
    list.hot = list.spare = nullptr;
    list.count.store(0, std::memory_order_relaxed);
    list.spares.store(0, std::memory_order_relaxed);
    central_[c].give(pages_, c, hot);
    central_[c].give(pages_, c, spare);
  }
  unlink(cache);
}

void Heap::trim() noexcept {
  for (unsigned c = 0; c < kSizeClasses; c++) central_[c].trim(pages_, c);
  pages_.trim();
}

// --- Figures, and life -----------------------------------------------------------------------------------------------

std::size_t Heap::bytes_in_use() noexcept {
  std::size_t bytes = large_bytes_.load(std::memory_order_relaxed) + huge_.bytes_in_use();
  for (unsigned c = 0; c < kSizeClasses; c++) bytes += central_[c].blocks_out() * size_class_bytes(c);
  LockGuard guard(caches_lock_);
  for (HeapCache* cache = caches_; cache != nullptr; cache = cache->next_)
    for (unsigned c = 0; c < kSizeClasses; c++)
      bytes -= size_class_bytes(c) * (cache->lists_[c].count.load(std::memory_order_relaxed) +
                                      std::size_t{cache->lists_[c].spares.load(std::memory_order_relaxed)});
  return bytes;
}

std::size_t Heap::bytes_mapped() noexcept {
  return pages_.bytes_mapped() + huge_.bytes_mapped();
}
std::size_t Heap::mappings() noexcept {
  return pages_.mappings() + huge_.mappings();
}

bool Heap::init() noexcept {
  return pages_.init();
}

void Heap::destroy() noexcept {
  huge_.destroy();
  pages_.destroy();
}

}  // namespace janus
