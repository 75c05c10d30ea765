// SPDX-License-Identifier: Apache-2.0
#include "rt/mem/stack_pool.h"

#include <bit>

#include "rt/base/assert.h"
#include "rt/budget/pool_charge.h"
#include "rt/platform.h"

namespace janus {

namespace {

constexpr std::uintptr_t kToBuild = 1;  // bit 0 of an item: the record is still to be built
constexpr std::size_t table_bytes(std::uint32_t slabs) {
  return round_up(slabs * sizeof(void*), kPageBytes);
}

// How many a worker's cache holds of a class: the larger the stack, the more memory may lie in it.
constexpr std::uint8_t kDepths[kStackClasses] = {64, 32, 16, 16, 8, 8, 4, 4};
constexpr std::uint8_t kMinDepth = 2;
// Of the memory that there is, all caches of a class together may hold a sixteenth, and large-first stacks be an
// eighth.
constexpr std::uint64_t kCachedShare = 16;
constexpr std::uint64_t kRoomyShare = 8;
// Idle warm stacks that are kept in any case: 8 MiB by their nominal size.
constexpr std::size_t least_reserve(unsigned size_class) noexcept {
  return (std::size_t{8} << 20) / stack_class_bytes(size_class);
}
// The first slab of a class is small, the next ones double.
constexpr std::uint32_t first_slab_stacks(unsigned size_class) noexcept {
  const std::size_t fitting = (std::size_t{2} << 20) / stack_stride(size_class);
  return static_cast<std::uint32_t>(fitting < 4 ? 4 : fitting > kBankStacks ? kBankStacks : fitting);
}

// So many stacks out that more of them will be wanted soon.
constexpr std::size_t kMany = 1024;

constexpr std::uint64_t mask_of(unsigned count) noexcept {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

// The lowest `wanted` of `bits` go to items, marked with `mark`, so that the last is the lowest: they go out by rising
// address. Which ones they were comes back.
std::uint64_t pick(StackGroup* group, std::uint64_t bits, std::uintptr_t mark, std::uintptr_t* items, unsigned wanted,
                   unsigned& count) noexcept {
  StackSlab* slab = slab_of(group);
  const unsigned there = count_ones(bits);
  count = there < wanted ? there : wanted;
  std::uint64_t picked = 0;
  for (unsigned left = count; left-- != 0; bits &= bits - 1) {
    const unsigned n = static_cast<unsigned>(std::countr_zero(bits));
    picked |= bits & -bits;
    items[left] = address_of(slab->record_of(group->number * kBankStacks + n)) | mark;
  }
  return picked;
}

// A stack's record, and what will be written of its top until a task waits on it, have long left the cache.
constexpr unsigned kTopsAhead = 8;
constexpr int kTopLines = 14;
void fetch_top(std::uintptr_t item) noexcept {
  const char* const record = reinterpret_cast<const char*>(item & ~kToBuild);
  for (int line = 0; line < kTopLines; ++line) __builtin_prefetch(record - 64 * line, 1);
}

void add(std::atomic<std::size_t>& sum, std::size_t n) noexcept {
  sum.fetch_add(n, std::memory_order_relaxed);
}

}  // namespace

// --- Life ------------------------------------------------------------------------------------------------------------

bool StackPool::init() noexcept {
  std::byte* table = platform::map(table_bytes(kMaxSlabs));
  if (table == nullptr) return false;
  slabs_ = reinterpret_cast<std::atomic<StackSlab*>*>(table);
  // Unguessable where there is entropy; an overflow by accident is found without.
  if (!platform::entropy(&canary_key_, sizeof canary_key_)) canary_key_ = address_of(table) * 0x9e3779b97f4a7c15u;
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
  }
  for (auto* figure : {&guards_, &protected_, &unguarded_, &mappings_, &mapped_})
    figure->store(0, std::memory_order_relaxed);
}

// --- Who holds it: one, from take() to give() -----------------------------------------------------------------------

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
    Items item;
    return fetch(size_class, item, 1) == 0 ? nullptr : handed_out(build(item[0]));
  }
  std::atomic<std::uint32_t>& count = cache->counts_[size_class];
  std::uint32_t have = count.load(std::memory_order_relaxed);
  std::uintptr_t* items = cache->lists_[size_class].items;
  if (have == 0) [[unlikely]] {
    link(*cache);
    have = fetch(size_class, reinterpret_cast<Items&>(*items), depths_[size_class] / 2u);
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
  Items item;
  return fetch_paid(size_class, item, 1) == 0 ? nullptr : handed_out(build(item[0]));
}

void StackPool::give(StackCache* cache, Stack* stack) noexcept {
  take_in(stack);
  const unsigned size_class = stack->size_class;
  const std::uintptr_t item = address_of(stack);
  if (cache == nullptr) [[unlikely]]
    return put_back(size_class, &item, 1);
  if (cache->home_ == nullptr) [[unlikely]]
    link(*cache);
  std::atomic<std::uint32_t>& count = cache->counts_[size_class];
  std::uint32_t have = count.load(std::memory_order_relaxed);
  std::uintptr_t* items = cache->lists_[size_class].items;
  if (have == depths_[size_class]) [[unlikely]] {
    // The older half goes; the younger is warmer.
    const unsigned half = have / 2;
    put_back(size_class, items, half);
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
    put_back(c, cache.lists_[c].items, have);
  }
  unlink(cache);
}

Stack* StackPool::build(std::uintptr_t item) noexcept {
  Stack* stack = reinterpret_cast<Stack*>(item & ~kToBuild);
  if ((item & kToBuild) == 0) return stack;
  StackSlab* slab = slab_at(stack);
  return slab->build(slab->index_at(stack));
}

// --- Out of the shared pool ------------------------------------------------------------------------------------------

// Warm ones if there are any; others have to be paid for, since they will have pages.
unsigned StackPool::fetch(unsigned size_class, Items& items, unsigned wanted) noexcept {
  ClassPool& pool = pools_[size_class];
  unsigned count = 0;
  {
    LockGuard guard(pool.lock);
    count = fetch_warm(pool, items, wanted);
  }
  if (count != 0) return count_out(pool, count), count;
  const unsigned paid = pay_for(size_class, wanted);
  return paid != 0 ? fetch_paid(size_class, items, paid) : 0;
}

// Cold ones, else new ones: up to `count`, for which somebody has paid. What is not to be had is paid back.
unsigned StackPool::fetch_paid(unsigned size_class, Items& items, unsigned count) noexcept {
  ClassPool& pool = pools_[size_class];
  unsigned got = 0;
  {
    LockGuard guard(pool.lock);
    got = fetch_cold(pool, items, count);
  }
  if (got == 0) got = fetch_unprepared(size_class, items, count);
  pay_back(size_class, count - got);
  count_out(pool, got);
  if (got > 1 && pool.out.load(std::memory_order_relaxed) > kMany) populate(items, got);
  return got;
}

// Of one group. With many out it is likely that these will be wanted, too, and a page costs less so than by a fault.
void StackPool::populate(const Items& items, unsigned count) noexcept {
  StackSlab* const slab = slab_at(reinterpret_cast<const void*>(items[0] & ~kToBuild));
  std::uint64_t which = 0;
  std::uint32_t index = 0;
  for (unsigned n = 0; n < count; ++n) {
    index = slab->index_at(reinterpret_cast<const void*>(items[n] & ~kToBuild));
    which |= std::uint64_t{1} << index % kBankStacks;
  }
  slab->populate(slab->groups()[index / kBankStacks], which);
}

// As many as are wanted, or as the payer can afford.
unsigned StackPool::pay_for(unsigned size_class, unsigned wanted) noexcept {
  if (pool_charge_ == nullptr) return wanted;
  while (wanted != 0 && !pool_charge_->grow(wanted * stack_class_bytes(size_class))) wanted /= 2;
  return wanted;
}

void StackPool::pay_back(unsigned size_class, unsigned count) noexcept {
  if (pool_charge_ != nullptr && count != 0) pool_charge_->shrink(count * stack_class_bytes(size_class));
}

void StackPool::count_out(ClassPool& pool, unsigned count) noexcept {
  add(pool.out, count);
  const std::size_t out = pool.out.load(std::memory_order_relaxed);
  if (out > pool.most.load(std::memory_order_relaxed)) pool.most.store(out, std::memory_order_relaxed);
}

// Of the group that was last given one. One group's suffice.
unsigned StackPool::fetch_warm(ClassPool& pool, Items& items, unsigned wanted) noexcept {
  StackGroup* const group = pool.lists[StackGroup::kWarm].first;
  if (group == nullptr) return 0;
  unsigned count = 0;
  group->free &= ~pick(group, group->free & group->warm, 0, items, wanted, count);
  group->warm &= group->free;
  pool.warm -= count;
  sort(pool, group);
  return count;
}

unsigned StackPool::fetch_cold(ClassPool& pool, Items& items, unsigned wanted) noexcept {
  StackGroup* const group = pool.lists[StackGroup::kCold].first;
  if (group == nullptr) return 0;
  unsigned count = 0;
  group->free &= ~pick(group, group->free, kToBuild, items, wanted, count);
  sort(pool, group);
  return count;
}

// The guards are made without the lock: the group is in no list yet.
unsigned StackPool::fetch_unprepared(unsigned size_class, Items& items, unsigned wanted) noexcept {
  ClassPool& pool = pools_[size_class];
  StackGroup* group = nullptr;
  {
    LockGuard guard(pool.lock);
    group = claim_group(pool, size_class);
  }
  if (group == nullptr) return 0;
  slab_of(group)->guard_bank(*group);
  count_guards(*group);
  unsigned count = 0;
  const std::uint64_t all = mask_of(group->stacks);
  const std::uint64_t free = all & ~pick(group, all, kToBuild, items, wanted, count);
  LockGuard guard(pool.lock);
  group->free = free;
  sort(pool, group);
  return count;
}

StackGroup* StackPool::claim_group(ClassPool& pool, unsigned size_class) noexcept {
  if (pool.growing == nullptr && !grow(pool, size_class)) return nullptr;
  StackSlab* slab = pool.growing;
  const std::uint32_t first = slab->prepared.load(std::memory_order_relaxed);
  const std::uint32_t left = slab->count - first;
  StackGroup* group = &slab->groups()[first / kBankStacks];
  group->number = first / kBankStacks;
  group->stacks = static_cast<std::uint8_t>(left < kBankStacks ? left : kBankStacks);
  slab->prepared.store(first + group->stacks, std::memory_order_relaxed);
  if (left <= kBankStacks) pool.growing = nullptr;
  return group;
}

// Twice as large as the last one, or as large as the machine allows.
bool StackPool::grow(ClassPool& pool, unsigned size_class) noexcept {
  LockGuard guard(slabs_lock_);
  const std::uint32_t number = slab_count_.load(std::memory_order_relaxed);
  if (number == kMaxSlabs) return false;
  for (std::uint32_t count = pool.next_count; count != 0; count /= 2) {
    const std::size_t bytes = StackSlab::mapped_bytes(count, size_class);
    std::byte* pages = platform::map(bytes);
    if (pages == nullptr) continue;
    StackSlab* slab = reinterpret_cast<StackSlab*>(pages);
    slab->init(bytes, count, size_class);
    slab->number = number;
    slab->canary_key = canary_key_;
    slabs_[number].store(slab, std::memory_order_relaxed);
    slab_count_.store(number + 1, std::memory_order_release);  // pairs with slab_at()
    pool.growing = slab;
    pool.next_count = bytes * 2 <= kMaxSlabBytes ? count * 2 : count;
    add(mappings_, 1);
    add(mapped_, bytes);
    return true;
  }
  return false;
}

void StackPool::count_guards(const StackGroup& group) noexcept {
  add(guards_, group.guarded);
  add(unguarded_, std::size_t{group.stacks} - group.guarded);
  if (group.guard != platform::Guard::kProtected) return;
  add(protected_, group.guarded);
  add(mappings_, std::size_t{2} * group.guarded);
}

// --- Back into it ----------------------------------------------------------------------------------------------------

void StackPool::put_back(unsigned size_class, const std::uintptr_t* items, unsigned count) noexcept {
  if (count == 0) return;
  ClassPool& pool = pools_[size_class];
  unsigned unbuilt = 0;
  {
    LockGuard guard(pool.lock);
    for (unsigned n = 0; n < count; n++) {
      put_back_one(pool, items[n]);
      unbuilt += (items[n] & kToBuild) != 0;
    }
  }
  pay_back(size_class, unbuilt);
  add(pool.out, -std::size_t{count});
  keep_reserve(size_class);
}

void StackPool::put_back_one(ClassPool& pool, std::uintptr_t item) noexcept {
  Stack* stack = reinterpret_cast<Stack*>(item & ~kToBuild);
  const bool is_built = (item & kToBuild) == 0;
  StackSlab* slab = is_built ? slabs_[stack->slab].load(std::memory_order_relaxed) : slab_at(stack);
  const std::uint32_t index = is_built ? stack->index : slab->index_at(stack);
  StackGroup* group = &slab->groups()[index / kBankStacks];
  const std::uint64_t bit = std::uint64_t{1} << index % kBankStacks;
  JANUS_CHECK((group->free & bit) == 0);
  group->free |= bit;
  if (is_built) {
    group->warm |= bit;
    pool.warm++;
  }
  sort(pool, group);
}

// As many may lie idle as were in use, so that a program that breathes makes no system calls. Beyond that half goes
// back, so that stacks which are freed in no order meet enough neighbours to go together.
void StackPool::keep_reserve(unsigned size_class) noexcept {
  ClassPool& pool = pools_[size_class];
  const std::size_t reserve = least_reserve(size_class) + pool.most.load(std::memory_order_relaxed);
  if (decommit_one_group(size_class, reserve))
    while (decommit_one_group(size_class, reserve / 2)) {
    }
}

// Gives back the pages of the group that has been idle longest. False: there are no more than `reserve` warm ones.
bool StackPool::decommit_one_group(unsigned size_class, std::size_t reserve) noexcept {
  ClassPool& pool = pools_[size_class];
  StackGroup* group = nullptr;
  std::uint64_t cooling = 0;
  {
    LockGuard guard(pool.lock);
    if (pool.warm <= reserve) return false;
    group = pool.lists[StackGroup::kWarm].last;
    cooling = group->free & group->warm;  // nobody's while the lock is open
    pool.warm -= count_ones(cooling);
    group->free &= ~cooling;
    group->warm = 0;
    sort(pool, group);
  }
  StackSlab* slab = slab_of(group);
  for (std::uint64_t left = cooling; on_cold_ != nullptr && left != 0; left &= left - 1)
    on_cold_(slab->record_of(group->number * kBankStacks + static_cast<unsigned>(std::countr_zero(left))));
  slab->discard(*group, cooling);
  pay_back(size_class, count_ones(cooling));
  LockGuard guard(pool.lock);
  JANUS_ASSERT((group->free & cooling) == 0);
  group->free |= cooling;
  sort(pool, group);
  return true;
}

bool StackPool::has_excess() const noexcept {
  for (const ClassPool& pool : pools_)
    if (pool.most.load(std::memory_order_relaxed) > pool.out.load(std::memory_order_relaxed)) return true;
  return false;
}

void StackPool::give_excess() noexcept {
  for (unsigned size_class = 0; size_class < kStackClasses; ++size_class) {
    ClassPool& pool = pools_[size_class];
    pool.most.store(pool.out.load(std::memory_order_relaxed), std::memory_order_relaxed);
    keep_reserve(size_class);
  }
}

bool StackPool::trim() noexcept {
  bool any = false;
  for (unsigned size_class = 0; size_class < kStackClasses; ++size_class)
    while (decommit_one_group(size_class, 0)) any = true;
  return any;
}

// --- Lists of groups, under the pool's lock --------------------------------------------------------------------------

// Puts a group where it belongs: at the front of another list than it was in, if any.
void StackPool::sort(ClassPool& pool, StackGroup* group) noexcept {
  const StackGroup::List list = (group->free & group->warm) != 0 ? StackGroup::kWarm
                                : group->free != 0               ? StackGroup::kCold
                                                                 : StackGroup::kUnlisted;
  if (list == group->list) return;
  unlist(pool, group);
  group->list = list;
  if (list == StackGroup::kUnlisted) return;
  GroupList& groups = pool.lists[list];
  group->previous = nullptr;
  group->next = groups.first;
  (groups.first != nullptr ? groups.first->previous : groups.last) = group;
  groups.first = group;
}

void StackPool::unlist(ClassPool& pool, StackGroup* group) noexcept {
  if (group->list == StackGroup::kUnlisted) return;
  GroupList& groups = pool.lists[group->list];
  (group->previous != nullptr ? group->previous->next : groups.first) = group->next;
  (group->next != nullptr ? group->next->previous : groups.last) = group->previous;
  group->list = StackGroup::kUnlisted;
}

// --- Which stack is it -----------------------------------------------------------------------------------------------

StackSlab* StackPool::slab_at(const void* address) const noexcept {
  // The latest slabs are the largest.
  for (std::uint32_t n = slab_count_.load(std::memory_order_acquire); n-- > 0;) {  // pairs with grow()
    StackSlab* slab = slabs_[n].load(std::memory_order_relaxed);
    if (slab->index_at(address) != StackSlab::kNone) return slab;
  }
  return nullptr;
}

Stack* StackPool::containing(const void* address) noexcept {
  StackSlab* slab = slab_at(address);
  if (slab == nullptr) return nullptr;
  const std::uint32_t index = slab->index_at(address);
  if (index >= slab->prepared.load(std::memory_order_relaxed)) return nullptr;
  Stack* stack = slab->record_of(index);
  return std::atomic_ref<std::byte*>(stack->limit).load(std::memory_order_acquire) == nullptr ? nullptr : stack;
}

bool StackPool::in_guard(const Stack* stack, const void* address) noexcept {
  StackSlab* slab = slab_at(address);
  if (slab == nullptr) return false;
  const std::uint32_t index = slab->index_at(address);
  return slab->record_of(index) == stack && static_cast<const std::byte*>(address) < slab->limit_of(index);
}

bool StackPool::canary_words_intact(const Stack* stack) noexcept {
  const std::uint64_t* words = canary_of(stack->limit);
  std::uint64_t changed = 0;
  for (std::size_t n = 0; n < kCanaryWords; n++) changed |= words[n] ^ stack->canary;
  return changed == 0;
}

void StackPool::renew_canary(Stack* stack) noexcept {
  for (std::size_t n = 0; n < kCanaryWords; n++) canary_of(stack->limit)[n] = stack->canary;
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
