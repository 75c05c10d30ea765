// SPDX-License-Identifier: Apache-2.0
#include "rt/mem/stack_cache.h"

#include "rt/base/assert.h"

namespace janus {

namespace {

// How many stacks of each class a worker's cache holds: fewer of the larger ones, since more memory lies idle in them,
// and none of more than 1 MiB.
constexpr std::uint8_t kDepths[kStackClasses] = {64, 32, 16, 16, 8, 8, 4, 4};
static_assert(kDepths[kLargestCachedClass] != 0 && kDepths[kLargestCachedClass + 1] == 0);
constexpr std::uint8_t kMinDepth = 2;
// All caches of a class together may hold a sixteenth of the memory.
constexpr std::uint64_t kCachedShare = 16;

// How many stacks ahead, and how many lines of each, are prefetched: the record, and the part of the top that will be
// written until a task first waits there. They are no longer in the processor's cache.
constexpr unsigned kTopsAhead = 8;
constexpr int kTopLines = 14;
void fetch_top(std::uintptr_t item) noexcept {
  const char* const record = reinterpret_cast<const char*>(item & ~kToBuild);
  for (int line = 0; line < kTopLines; ++line) __builtin_prefetch(record - 64 * line, 1);
}

}  // namespace

bool StackCaches::init() noexcept {
  if (!reserve_.init()) return false;
  for (unsigned c = 0; c < kStackClasses; c++) depths_[c] = kDepths[c];
  return true;
}

void StackCaches::limit_to(std::uint64_t memory, unsigned workers) noexcept {
  for (unsigned c = 0; c < kStackClasses; c++) {
    const std::uint64_t fitting = memory / (kCachedShare * workers * stack_class_bytes(c));
    if (fitting < depths_[c]) depths_[c] = fitting < kMinDepth ? kMinDepth : static_cast<std::uint8_t>(fitting);
  }
}

// --- Checks that a stack has one holder from take() to give() --------------------------------------------------------

[[gnu::always_inline]] inline Stack* StackCaches::handed_out(Stack* stack) const noexcept {
  if constexpr (kAssertions) {
    JANUS_ASSERT(reserve_.table().slab_at(stack)->record_of(stack->index) == stack &&
                 stack->size_class < kStackClasses);
    JANUS_ASSERT(!stack->is_out);
    stack->is_out = true;
  }
  return stack;
}

[[gnu::always_inline]] inline void StackCaches::take_in(Stack* stack) const noexcept {
  if constexpr (kAssertions) {
    JANUS_ASSERT(reserve_.table().slab_at(stack)->record_of(stack->index) == stack &&
                 stack->size_class < kStackClasses);
    JANUS_ASSERT(stack->is_out);
    stack->is_out = false;
  }
}

// --- The owner's side ------------------------------------------------------------------------------------------------

Stack* StackCaches::take(StackCache* cache, unsigned size_class) noexcept {
  if (cache == nullptr) [[unlikely]] {
    std::uintptr_t item = 0;
    return reserve_.fetch(size_class, &item, 1) == 0 ? nullptr : handed_out(reserve_.build(item));
  }
  std::atomic<std::uint32_t>& count = cache->counts_[size_class];
  std::uint32_t have = count.load(std::memory_order_relaxed);
  std::uintptr_t* items = cache->lists_[size_class].items;
  if (have == 0) [[unlikely]] {
    link(*cache);
    const unsigned depth = depths_[size_class];
    have = reserve_.fetch(size_class, items, depth != 0 ? depth / 2 : 1);
    if (have == 0) return nullptr;
    for (unsigned n = 0; n < kTopsAhead && n < have; ++n) fetch_top(items[have - 1 - n]);
  }
  if (have > kTopsAhead) fetch_top(items[have - 1 - kTopsAhead]);
  count.store(have - 1, std::memory_order_relaxed);
  const std::uintptr_t item = items[have - 1];
  return handed_out((item & kToBuild) == 0 ? reinterpret_cast<Stack*>(item) : reserve_.build(item));
}

Stack* StackCaches::take_overdrawn(unsigned size_class) noexcept {
  const std::uintptr_t item = reserve_.fetch_overdrawn(size_class);
  return item == 0 ? nullptr : handed_out(reserve_.build(item));
}

void StackCaches::give(StackCache* cache, Stack* stack) noexcept {
  take_in(stack);
  const unsigned size_class = stack->size_class;
  const std::uintptr_t item = address_of(stack);
  if (cache == nullptr) [[unlikely]]
    return reserve_.hand_back(size_class, &item, 1);
  if (cache->home_ == nullptr) [[unlikely]]
    link(*cache);
  std::atomic<std::uint32_t>& count = cache->counts_[size_class];
  std::uint32_t have = count.load(std::memory_order_relaxed);
  std::uintptr_t* items = cache->lists_[size_class].items;
  if (have == depths_[size_class]) [[unlikely]] {
    if (have == 0) return reserve_.hand_back(size_class, &item, 1);
    // Hands back the older half; the younger is warmer.
    const unsigned half = have / 2;
    reserve_.hand_back(size_class, items, half);
    for (unsigned n = half; n < have; n++) items[n - half] = items[n];
    have -= half;
  }
  items[have] = item;
  count.store(have + 1, std::memory_order_relaxed);
}

void StackCaches::flush(StackCache& cache) noexcept {
  if (cache.home_ == nullptr) return;
  for (unsigned c = 0; c < kStackClasses; c++) {
    const std::uint32_t have = cache.counts_[c].load(std::memory_order_relaxed);
    cache.counts_[c].store(0, std::memory_order_relaxed);
    reserve_.hand_back(c, cache.lists_[c].items, have);
  }
  unlink(cache);
}

// --- The list of caches ----------------------------------------------------------------------------------------------

void StackCaches::link(StackCache& cache) noexcept {
  if (cache.home_ != nullptr) return;
  LockGuard guard(lock_);
  cache.home_ = this;
  cache.previous_ = nullptr;
  cache.next_ = caches_;
  if (caches_ != nullptr) caches_->previous_ = &cache;
  caches_ = &cache;
}

void StackCaches::unlink(StackCache& cache) noexcept {
  LockGuard guard(lock_);
  (cache.previous_ != nullptr ? cache.previous_->next_ : caches_) = cache.next_;
  if (cache.next_ != nullptr) cache.next_->previous_ = cache.previous_;
  cache.home_ = nullptr;
}

std::size_t StackCaches::stacks_cached() noexcept {
  std::size_t cached = 0;
  LockGuard guard(lock_);
  for (StackCache* cache = caches_; cache != nullptr; cache = cache->next_)
    for (auto& count : cache->counts_) cached += count.load(std::memory_order_relaxed);
  return cached;
}

}  // namespace janus
