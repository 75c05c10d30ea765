// SPDX-License-Identifier: Apache-2.0
#include "rt/mem/heap.h"

#include "rt/mem/pages.h"

namespace janus {

namespace {

constexpr std::size_t kNaturalAlign = 16;
constexpr std::size_t kMaxLarge = std::size_t{kMaxRunPages} * kPageBytes;
constexpr std::size_t kMaxHuge = std::size_t{1} << 46;  // beyond any address space; keeps the sums below from wrapping

bool is_sane_align(std::size_t align) noexcept {
  return is_power_of_two(align) && align <= kMaxHuge;
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
  if (cache != nullptr && bytes <= kMaxSmall && align <= kNaturalAlign) [[likely]] {
    const unsigned size_class = size_class_of(bytes);
    HeapCache::List& list = cache->lists_[size_class];
    if (FreeBlock* block = list.hot; block != nullptr) [[likely]] {
      hold(cache, block, size_class, tag);  // before its link is read: it may have been bent
      list.hot = block->next;
      list.count.store(list.count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
      return block;
    }
  }
  return allocate_slowly(cache, bytes, align, tag);
}

// The last look at a block before it goes out.
inline void Heap::hold(HeapCache* cache, FreeBlock* block, unsigned size_class, std::uint32_t tag) noexcept {
  if (!pages_.owns(block)) [[unlikely]]
    lose(cache, block, size_class);
  const BlockRef ref = find_block(block);
  if (ref.span == nullptr || ref.span->size_class != size_class ||
      ref.tag().load(std::memory_order_relaxed) != kFreeTag) [[unlikely]]
    lose(cache, block, size_class);
  if (kHeapChecks && !is_still_filled(block, ref.span->block_bytes)) lose(cache, block, size_class);
  ref.tag().store(tag, std::memory_order_relaxed);
}

// A caller wrote to a block after freeing it. What follows in the list is not to be trusted: it is given up.
void Heap::lose(HeapCache* cache, FreeBlock* block, unsigned size_class) noexcept {
  if (cache != nullptr) {
    HeapCache::List& list = cache->lists_[size_class];
    list.hot = nullptr;
    list.count.store(0, std::memory_order_relaxed);
  }
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
  if (cache == nullptr) {
    FreeBlock* block = central_[size_class].take(pages_, size_class, 1).head;
    if (block != nullptr) hold(nullptr, block, size_class, tag);
    return block;
  }
  HeapCache::List& list = cache->lists_[size_class];
  if (list.hot == nullptr && !refill(*cache, size_class)) return nullptr;
  FreeBlock* block = list.hot;
  hold(cache, block, size_class, tag);
  list.hot = block->next;
  list.count.store(list.count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  return block;
}

// The hot list is empty: the spare batch takes its place, or one from the central list.
bool Heap::refill(HeapCache& cache, unsigned size_class) noexcept {
  link(cache);
  HeapCache::List& list = cache.lists_[size_class];
  CentralList::Chain chain{list.spare, list.spares.load(std::memory_order_relaxed)};
  list.spare = nullptr;
  list.spares.store(0, std::memory_order_relaxed);
  if (chain.head == nullptr) chain = central_[size_class].take(pages_, size_class, kSpanShapes.of[size_class].batch);
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
  span->block_bytes = static_cast<std::uint32_t>(bytes);
  span->reciprocal = 0;
  span->size_class = kLargeSpan;
  span->blocks = 1;
  span->tags = &chunk->tags[first * kTagsPerPage];
  span->tags->store(tag, std::memory_order_relaxed);
  chunk->first[first].store(static_cast<std::uint16_t>(first), std::memory_order_relaxed);
  add_large(bytes);
  return start_of(span);
}

void Heap::add_large(std::size_t delta) noexcept {
  large_bytes_.fetch_add(delta, std::memory_order_relaxed);
}

// --- Freeing ---------------------------------------------------------------------------------------------------------

void Heap::free(HeapCache* cache, void* block) noexcept {
  if (!pages_.owns(block)) [[unlikely]]
    return free_unusual(block);
  const BlockRef ref = find_block(block);
  if (ref.span == nullptr) [[unlikely]]
    heap_misuse(kForeignBlock, block);
  Tag& tag = ref.tag();
  if (tag.load(std::memory_order_relaxed) == kFreeTag) [[unlikely]]
    heap_misuse(kFreedTwice, block);
  const unsigned size_class = ref.span->size_class;
  if (size_class >= kSizeClasses) [[unlikely]]
    return free_large(ref.span, block);
  tag.store(kFreeTag, std::memory_order_relaxed);
  fill_free(block, ref.span->block_bytes);
  give_small(cache, static_cast<FreeBlock*>(block), size_class);
}

inline void Heap::give_small(HeapCache* cache, FreeBlock* block, unsigned size_class) noexcept {
  if (cache == nullptr) [[unlikely]] {
    block->next = nullptr;
    return central_[size_class].give(pages_, size_class, {block, 1});
  }
  if (cache->home_ == nullptr) [[unlikely]]
    link(*cache);
  HeapCache::List& list = cache->lists_[size_class];
  const std::uint32_t count = list.count.load(std::memory_order_relaxed) + 1;
  block->next = list.hot;
  list.hot = block;
  list.count.store(count, std::memory_order_relaxed);
  if (count >= kSpanShapes.of[size_class].batch) [[unlikely]]
    set_aside(list, size_class);
}

// The hot list is a whole batch: it becomes the spare, and the spare that there was goes to the central list.
void Heap::set_aside(HeapCache::List& list, unsigned size_class) noexcept {
  FreeBlock* surplus = list.spare;
  const std::uint32_t count = list.spares.load(std::memory_order_relaxed);
  list.spare = list.hot;
  list.spares.store(list.count.load(std::memory_order_relaxed), std::memory_order_relaxed);
  list.hot = nullptr;
  list.count.store(0, std::memory_order_relaxed);
  if (surplus != nullptr) central_[size_class].give(pages_, size_class, {surplus, count});
}

// No chunk of ours: nothing, a huge block, or a mistake.
void Heap::free_unusual(void* block) noexcept {
  if (block == nullptr || huge_.free(block)) return;
  heap_misuse(kForeignBlock, block);
}

void Heap::free_large(Span* span, void* block) noexcept {
  const std::size_t bytes = span->block_bytes;
  HeapChunk* chunk = chunk_of(block);
  chunk->first[first_page(span)].store(0, std::memory_order_relaxed);
  span->tags->store(kFreeTag, std::memory_order_relaxed);
  span->size_class = kNoSpan;
  pages_.give_run(span);
  add_large(-bytes);
}

// --- Questions about a block -----------------------------------------------------------------------------------------

std::size_t Heap::size_of(const void* block) noexcept {
  if (pages_.owns(block)) [[likely]] {
    const BlockRef ref = find_block(block);
    return ref.span == nullptr ? 0 : ref.span->block_bytes;
  }
  HugeTable::Block huge;
  return block != nullptr && huge_.find(block, huge) ? huge.bytes : 0;
}

std::uint32_t Heap::tag_of(const void* block) noexcept {
  if (pages_.owns(block)) [[likely]] {
    const BlockRef ref = find_block(block);
    return ref.span == nullptr ? kFreeTag : ref.tag().load(std::memory_order_relaxed);
  }
  HugeTable::Block huge;
  return block != nullptr && huge_.find(block, huge) ? huge.tag : kFreeTag;
}

bool Heap::resize_in_place(void* block, std::size_t bytes) noexcept {
  const std::size_t usable = size_of(block);
  if (usable == 0) return false;
  if (pages_.owns(block)) {
    Span* span = find_block(block).span;
    if (span->size_class == kLargeSpan) return resize_large(span, bytes);
  }
  return bytes <= usable && (bytes > usable / 2 || usable <= kMinBlock);
}

bool Heap::resize_large(Span* span, std::size_t bytes) noexcept {
  if (bytes <= kMaxSmall || bytes > kMaxLarge) return false;
  const std::size_t whole = round_up(bytes, kPageBytes), old = span->block_bytes;
  if (!pages_.resize_run(span, static_cast<unsigned>(whole / kPageBytes))) return false;
  span->block_bytes = static_cast<std::uint32_t>(whole);
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
    central_[c].give(pages_, c, {list.hot, list.count.load(std::memory_order_relaxed)});
    central_[c].give(pages_, c, {list.spare, list.spares.load(std::memory_order_relaxed)});
    list.hot = list.spare = nullptr;
    list.count.store(0, std::memory_order_relaxed);
    list.spares.store(0, std::memory_order_relaxed);
  }
  unlink(cache);
}

void Heap::trim() noexcept {
  for (CentralList& list : central_) list.trim(pages_);
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
