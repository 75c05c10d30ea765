// SPDX-License-Identifier: Apache-2.0
// rt/mem/stack_cache.cpp — init and destroy of the pool, and the workers' caches. The uppermost of the pool's sources.
// docs/decisions/0077
#include "rt/mem/stack_pool.h"

#include <bit>
#include <initializer_list>

#include "rt/base/assert.h"
#include "rt/budget/pool_charge.h"
#include "rt/platform.h"

namespace janus {

namespace {

constexpr std::size_t table_bytes(std::uint32_t slabs) {
  return round_up(slabs * sizeof(void*), kPageBytes);
}

// How many stacks of each class a worker's cache holds: fewer of the larger ones, since more memory lies idle in them,
// and none of more than 1 MiB.
constexpr std::uint8_t kDepths[kStackClasses] = {64, 32, 16, 16, 8, 8, 4, 4};
static_assert(kDepths[kLargestCachedClass] != 0 && kDepths[kLargestCachedClass + 1] == 0);
constexpr std::uint8_t kMinDepth = 2;
// All caches of a class together may hold a sixteenth of the memory, and large-first stacks take an eighth of it.
constexpr std::uint64_t kCachedShare = 16;
constexpr std::uint64_t kRoomyShare = 8;

// The first slab of a class is small; each further one has twice as many stacks.
constexpr std::uint32_t first_slab_stacks(unsigned size_class) noexcept {
  if (kDepths[size_class] == 0) return 1;
  const std::size_t fitting = (std::size_t{2} << 20) / stack_stride(size_class, fixed_extent(size_class));
  return static_cast<std::uint32_t>(fitting < 4 ? 4 : fitting > kBankStacks ? kBankStacks : fitting);
}

// How many stacks ahead, and how many lines of each, are prefetched: the record, and the part of the top that will be
// written until a task first waits there. They have long left the cache.
constexpr unsigned kTopsAhead = 8;
constexpr int kTopLines = 14;
void fetch_top(std::uintptr_t item) noexcept {
  const char* const record = reinterpret_cast<const char*>(item & ~kToBuild);
  for (int line = 0; line < kTopLines; ++line) __builtin_prefetch(record - 64 * line, 1);
}

}  // namespace

// --- Life ------------------------------------------------------------------------------------------------------------

bool StackPool::init() noexcept {
  std::byte* table = platform::map(table_bytes(kMaxSlabs));
  if (table == nullptr) return false;
  slabs_ = reinterpret_cast<std::atomic<StackSlab*>*>(table);
  // Cannot be guessed if the machine has entropy; accidental overflows are found without it.
  if (!platform::entropy_at_once(&canary_key_, sizeof canary_key_))
    canary_key_ = address_of(table) * 0x9e3779b97f4a7c15u;
  mappings_.store(1, std::memory_order_relaxed);
  mapped_.store(table_bytes(kMaxSlabs), std::memory_order_relaxed);
  for (unsigned c = 0; c < kStackClasses; c++) {
    pools_[c].next_count = first_slab_stacks(c);
    depths_[c] = kDepths[c];
  }
  return true;
}

void StackPool::charge_to(PoolCharge& pool_charge, std::uint64_t memory, unsigned workers) noexcept {
  pool_charge_ = &pool_charge;
  for (unsigned c = 0; c < kStackClasses; c++) {
    const std::uint64_t fitting = memory / (kCachedShare * workers * stack_class_bytes(c));
    if (fitting < depths_[c]) depths_[c] = fitting < kMinDepth ? kMinDepth : static_cast<std::uint8_t>(fitting);
  }
  const std::uint64_t large_first = memory / (kRoomyShare * stack_class_bytes(kLargeFirstClass));
  if (large_first < max_large_first_) max_large_first_ = large_first;
}

// Tries it on one page: kernel versions say little.
bool StackPool::let_grow(std::size_t most) noexcept {
  std::byte* const page = platform::map(kPageBytes);
  if (page == nullptr) return false;
  if (platform::set_guards(page, 0, 1, kPageBytes) && platform::clear_guard(page, kPageBytes)) most_ = most;
  platform::unmap(page, kPageBytes);
  return grows();
}

void StackPool::destroy() noexcept {
  if (slabs_ == nullptr) return;
  const std::uint32_t count = slab_count_.load(std::memory_order_relaxed);
  for (std::uint32_t n = 0; n < count; n++) {
    StackSlab* slab = slabs_[n].load(std::memory_order_relaxed);
    for (std::uint32_t b = 0; on_cold_ != nullptr && b * kBankStacks < slab->prepared.load(std::memory_order_relaxed);
         b++)
      for (std::uint64_t left = slab->groups()[b].free & slab->groups()[b].warm; left != 0; left &= left - 1)
        on_cold_(slab->record_of(b * kBankStacks + static_cast<unsigned>(std::countr_zero(left))));
    platform::unmap(reinterpret_cast<std::byte*>(slab), slab->bytes);
  }
  platform::unmap(reinterpret_cast<std::byte*>(slabs_), table_bytes(kMaxSlabs));
  slabs_ = nullptr;
  slab_count_.store(0, std::memory_order_relaxed);
  for (ClassPool& pool : pools_) {
    for (GroupList& groups : pool.lists) groups = {};
    pool.growing = nullptr;
    pool.warm = 0;
    pool.out.store(0, std::memory_order_relaxed);
    pool.most.store(0, std::memory_order_relaxed);
    pool.most_before.store(0, std::memory_order_relaxed);
  }
  for (auto* figure : {&guards_, &protected_, &unguarded_, &mappings_, &mapped_})
    figure->store(0, std::memory_order_relaxed);
}

// --- Checks that a stack has one holder from take() to give() --------------------------------------------------------

[[gnu::always_inline]] inline Stack* StackPool::handed_out(Stack* stack) const noexcept {
  if constexpr (kAssertions) {
    JANUS_ASSERT(slab_at(stack)->record_of(stack->index) == stack && stack->size_class < kStackClasses);
    JANUS_ASSERT(!stack->is_out);
    stack->is_out = true;
  }
  return stack;
}

[[gnu::always_inline]] inline void StackPool::take_in(Stack* stack) const noexcept {
  if constexpr (kAssertions) {
    JANUS_ASSERT(slab_at(stack)->record_of(stack->index) == stack && stack->size_class < kStackClasses);
    JANUS_ASSERT(stack->is_out);
    stack->is_out = false;
  }
}

// --- The owner's side ------------------------------------------------------------------------------------------------

Stack* StackPool::take(StackCache* cache, unsigned size_class) noexcept {
  if (cache == nullptr) [[unlikely]] {
    std::uintptr_t item = 0;
    return fetch(size_class, &item, 1) == 0 ? nullptr : handed_out(build(item));
  }
  std::atomic<std::uint32_t>& count = cache->counts_[size_class];
  std::uint32_t have = count.load(std::memory_order_relaxed);
  std::uintptr_t* items = cache->lists_[size_class].items;
  if (have == 0) [[unlikely]] {
    link(*cache);
    const unsigned depth = depths_[size_class];
    have = fetch(size_class, items, depth != 0 ? depth / 2 : 1);
    if (have == 0) return nullptr;
    for (unsigned n = 0; n < kTopsAhead && n < have; ++n) fetch_top(items[have - 1 - n]);
  }
  if (have > kTopsAhead) fetch_top(items[have - 1 - kTopsAhead]);
  count.store(have - 1, std::memory_order_relaxed);
  const std::uintptr_t item = items[have - 1];
  return handed_out((item & kToBuild) == 0 ? reinterpret_cast<Stack*>(item) : build(item));
}

[[gnu::noinline, gnu::cold]] Stack* StackPool::alloc_under_pressure(StackCache* cache, unsigned size_class,
                                                                    Due due) noexcept {
  if (trim())
    if (Stack* const stack = take(cache, size_class)) return stack;
  if (due == Due::kUnpaid || pool_charge_ == nullptr || !pool_charge_->overdraw(stack_class_bytes(size_class)))
    return nullptr;
  std::uintptr_t item = 0;
  return fetch_paid(size_class, &item, 1) == 0 ? nullptr : handed_out(build(item));
}

void StackPool::give(StackCache* cache, Stack* stack) noexcept {
  take_in(stack);
  const unsigned size_class = stack->size_class;
  const std::uintptr_t item = address_of(stack);
  if (cache == nullptr) [[unlikely]]
    return hand_back(size_class, &item, 1);
  if (cache->home_ == nullptr) [[unlikely]]
    link(*cache);
  std::atomic<std::uint32_t>& count = cache->counts_[size_class];
  std::uint32_t have = count.load(std::memory_order_relaxed);
  std::uintptr_t* items = cache->lists_[size_class].items;
  if (have == depths_[size_class]) [[unlikely]] {
    if (have == 0) return hand_back(size_class, &item, 1);
    // Hands back the older half; the younger is warmer.
    const unsigned half = have / 2;
    hand_back(size_class, items, half);
    for (unsigned n = half; n < have; n++) items[n - half] = items[n];
    have -= half;
  }
  items[have] = item;
  count.store(have + 1, std::memory_order_relaxed);
}

void StackPool::flush(StackCache& cache) noexcept {
  if (cache.home_ == nullptr) return;
  for (unsigned c = 0; c < kStackClasses; c++) {
    const std::uint32_t have = cache.counts_[c].load(std::memory_order_relaxed);
    cache.counts_[c].store(0, std::memory_order_relaxed);
    hand_back(c, cache.lists_[c].items, have);
  }
  unlink(cache);
}

Stack* StackPool::build(std::uintptr_t item) noexcept {
  Stack* stack = reinterpret_cast<Stack*>(item & ~kToBuild);
  if ((item & kToBuild) == 0) return stack;
  StackSlab* slab = slab_at(stack);
  return slab->build(slab->index_at(stack));
}

// Returns stacks to the shared pool, which then gives back the pages of those beyond its reserve.
void StackPool::hand_back(unsigned size_class, const std::uintptr_t* items, unsigned count) noexcept {
  if (count == 0) return;
  put_back(size_class, items, count);
  keep_reserve(size_class);
}

// --- Caches and figures ----------------------------------------------------------------------------------------------

void StackPool::link(StackCache& cache) noexcept {
  if (cache.home_ != nullptr) return;
  LockGuard guard(caches_lock_);
  cache.home_ = this;
  cache.previous_ = nullptr;
  cache.next_ = caches_;
  if (caches_ != nullptr) caches_->previous_ = &cache;
  caches_ = &cache;
}

void StackPool::unlink(StackCache& cache) noexcept {
  LockGuard guard(caches_lock_);
  (cache.previous_ != nullptr ? cache.previous_->next_ : caches_) = cache.next_;
  if (cache.next_ != nullptr) cache.next_->previous_ = cache.previous_;
  cache.home_ = nullptr;
}

std::size_t StackPool::stacks_in_use() noexcept {
  std::size_t held = 0;
  for (ClassPool& pool : pools_) held += pool.out.load(std::memory_order_relaxed);
  LockGuard guard(caches_lock_);
  for (StackCache* cache = caches_; cache != nullptr; cache = cache->next_)
    for (auto& count : cache->counts_) held -= count.load(std::memory_order_relaxed);
  return held;
}

std::size_t StackPool::stacks_cached() noexcept {
  std::size_t cached = 0;
  for (ClassPool& pool : pools_) {
    LockGuard guard(pool.lock);
    cached += pool.warm;
  }
  LockGuard guard(caches_lock_);
  for (StackCache* cache = caches_; cache != nullptr; cache = cache->next_)
    for (auto& count : cache->counts_) cached += count.load(std::memory_order_relaxed);
  return cached;
}

}  // namespace janus
