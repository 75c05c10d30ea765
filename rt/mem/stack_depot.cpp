// SPDX-License-Identifier: Apache-2.0
// rt/mem/stack_depot.cpp — the shared pool, of stacks that are in no worker's cache: groups of stacks of one class,
// from which batches are taken and to which they are returned. docs/decisions/0086
#include "rt/mem/stack_pool.h"

#include <bit>

#include "rt/base/assert.h"
#include "rt/budget/pool_charge.h"
#include "rt/platform.h"

namespace janus {

namespace {

// With more stacks than this out, it is likely that more will be taken soon.
constexpr std::size_t kMany = 1024;

constexpr std::uint64_t mask_of(unsigned count) noexcept {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

// Writes the stacks of the lowest `wanted` of `bits` to `items`, or'ed with `mark`, the lowest last, so that they are
// taken by rising address. `count`: how many. Returns their bits.
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

void add(std::atomic<std::size_t>& sum, std::size_t n) noexcept {
  sum.fetch_add(n, std::memory_order_relaxed);
}

}  // namespace

// --- Out of the shared pool ------------------------------------------------------------------------------------------

// Takes up to `wanted` warm stacks if there are any; otherwise cold or new ones, which have to be paid for, as they
// will have pages. Returns how many.
unsigned StackPool::fetch(unsigned size_class, std::uintptr_t* items, unsigned wanted) noexcept {
  ClassPool& pool = pools_[size_class];
  unsigned count = 0;
  {
    LockGuard guard(pool.lock);
    count = fetch_warm(pool, items, wanted);
  }
  if (count != 0) {
    count_out(pool, count);
    return count;
  }
  const unsigned paid = pay_for(size_class, wanted);
  return paid != 0 ? fetch_paid(size_class, items, paid) : 0;
}

// Takes up to `count` cold stacks, or else new ones, for which the caller has paid; what it does not get is paid back.
unsigned StackPool::fetch_paid(unsigned size_class, std::uintptr_t* items, unsigned count) noexcept {
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

// Precondition: all are of one group. With many stacks out it is likely that these will be used, too, and their pages
// cost less in one call than by faults.
void StackPool::populate(const std::uintptr_t* items, unsigned count) noexcept {
  StackSlab* const slab = slab_at(reinterpret_cast<const void*>(items[0] & ~kToBuild));
  std::uint64_t which = 0;
  std::uint32_t index = 0;
  for (unsigned n = 0; n < count; ++n) {
    index = slab->index_at(reinterpret_cast<const void*>(items[n] & ~kToBuild));
    which |= std::uint64_t{1} << index % kBankStacks;
  }
  slab->populate(slab->groups()[index / kBankStacks], which);
}

// Pays for `wanted` stacks, or for half as many, and so on, until the payer has the memory. Returns for how many.
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

// Takes from the first group on the list only.
unsigned StackPool::fetch_warm(ClassPool& pool, std::uintptr_t* items, unsigned wanted) noexcept {
  StackGroup* const group = pool.lists[StackGroup::kWarm].first;
  if (group == nullptr) return 0;
  unsigned count = 0;
  group->free &= ~pick(group, group->free & group->warm, 0, items, wanted, count);
  group->warm &= group->free;
  pool.warm -= count;
  sort(pool, group);
  return count;
}

unsigned StackPool::fetch_cold(ClassPool& pool, std::uintptr_t* items, unsigned wanted) noexcept {
  StackGroup* const group = pool.lists[StackGroup::kCold].first;
  if (group == nullptr) return 0;
  unsigned count = 0;
  group->free &= ~pick(group, group->free, kToBuild, items, wanted, count);
  sort(pool, group);
  return count;
}

// Makes the guards of a new group, without the lock: the group is in no list yet.
unsigned StackPool::fetch_unprepared(unsigned size_class, std::uintptr_t* items, unsigned wanted) noexcept {
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

// Maps a slab twice as large as the last one, or as large as the machine allows.
bool StackPool::grow(ClassPool& pool, unsigned size_class) noexcept {
  LockGuard guard(slabs_lock_);
  const std::uint32_t number = slab_count_.load(std::memory_order_relaxed);
  if (number == kMaxSlabs) return false;
  for (std::uint32_t count = pool.next_count; count != 0; count /= 2) {
    const StackExtent extent = extent_of(size_class);
    const std::size_t bytes = StackSlab::mapped_bytes(count, stack_stride(size_class, extent));
    std::byte* pages = platform::map(bytes);
    if (pages == nullptr) continue;
    StackSlab* slab = reinterpret_cast<StackSlab*>(pages);
    slab->init(bytes, count, size_class, extent);
    slab->number = number;
    slab->canary_key = canary_key_;
    slabs_[number].store(slab, std::memory_order_relaxed);
    slab_count_.store(number + 1, std::memory_order_release);  // pairs with slab_at()
    pool.growing = slab;
    pool.next_count = bytes * 2 <= (grows() ? kMaxGrowingSlabBytes : kMaxSlabBytes) ? count * 2 : count;
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
// --- Lists of groups, under the pool's lock --------------------------------------------------------------------------

// Moves a group whose state has changed to the front of the list where it belongs now, or to none.
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

}  // namespace janus
