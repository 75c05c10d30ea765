// SPDX-License-Identifier: Apache-2.0
#include "rt/mem/stack_depot.h"

#include <bit>

#include "rt/base/assert.h"

namespace janus {

namespace {

// The first slab of a class is small; each further one has twice as many stacks.
constexpr std::uint32_t first_slab_stacks(unsigned size_class) noexcept {
  if (size_class > kLargestCachedClass) return 1;
  const std::size_t fitting = (std::size_t{2} << 20) / stack_stride(size_class, fixed_extent(size_class));
  return static_cast<std::uint32_t>(fitting < 4 ? 4 : fitting > kBankStacks ? kBankStacks : fitting);
}

constexpr std::uint64_t mask_of(unsigned count) noexcept {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

// Writes the addresses of the stacks of the lowest `wanted` bits of `bits` to `items`, or'ed with `mark`, the lowest
// last, and their number to `count`. Returns their bits.
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

}  // namespace

void StackDepot::init(unsigned size_class) noexcept {
  size_class_ = static_cast<std::uint8_t>(size_class);
  next_count_ = first_slab_stacks(size_class);
}

void StackDepot::destroy() noexcept {
  for (GroupList& groups : lists_) groups = {};
  growing_ = nullptr;
  warm_ = 0;
  out_.store(0, std::memory_order_relaxed);
  most_now_.store(0, std::memory_order_relaxed);
  most_before_.store(0, std::memory_order_relaxed);
  peak_.store(0, std::memory_order_relaxed);
}

// --- Out -------------------------------------------------------------------------------------------------------------

unsigned StackDepot::take_warm(std::uintptr_t* items, unsigned wanted) noexcept {
  LockGuard guard(lock_);
  StackGroup* const group = lists_[StackGroup::kWarm].first;
  if (group == nullptr) return 0;
  unsigned count = 0;
  group->free &= ~pick(group, group->free & group->warm, 0, items, wanted, count);
  group->warm &= group->free;
  warm_ -= count;
  sort(group);
  return count;
}

unsigned StackDepot::take_cold(std::uintptr_t* items, unsigned wanted) noexcept {
  LockGuard guard(lock_);
  StackGroup* const group = lists_[StackGroup::kCold].first;
  if (group == nullptr) return 0;
  unsigned count = 0;
  group->free &= ~pick(group, group->free, kToBuild, items, wanted, count);
  sort(group);
  return count;
}

// Makes the guards of a new group, without the lock: the group is in no list yet.
unsigned StackDepot::take_new(StackTable& table, std::uintptr_t* items, unsigned wanted) noexcept {
  StackGroup* group = nullptr;
  {
    LockGuard guard(lock_);
    group = claim_group(table);
  }
  if (group == nullptr) return 0;
  slab_of(group)->guard_bank(*group);
  table.count_guards(*group);
  unsigned count = 0;
  const std::uint64_t all = mask_of(group->stacks);
  const std::uint64_t free = all & ~pick(group, all, kToBuild, items, wanted, count);
  LockGuard guard(lock_);
  group->free = free;
  sort(group);
  return count;
}

StackGroup* StackDepot::claim_group(StackTable& table) noexcept {
  if (growing_ == nullptr) {
    growing_ = table.add_slab(size_class_, next_count_);
    if (growing_ == nullptr) return nullptr;
    next_count_ = table.stacks_after(*growing_);
  }
  StackSlab* slab = growing_;
  const std::uint32_t first = slab->prepared.load(std::memory_order_relaxed);
  const std::uint32_t left = slab->count - first;
  StackGroup* group = &slab->groups()[first / kBankStacks];
  group->number = first / kBankStacks;
  group->stacks = static_cast<std::uint8_t>(left < kBankStacks ? left : kBankStacks);
  slab->prepared.store(first + group->stacks, std::memory_order_relaxed);
  if (left <= kBankStacks) growing_ = nullptr;
  return group;
}

void StackDepot::count_out(unsigned count) noexcept {
  out_.fetch_add(count, std::memory_order_relaxed);
  const std::size_t now = out();
  if (now <= most_now_.load(std::memory_order_relaxed)) return;
  most_now_.store(now, std::memory_order_relaxed);
  if (now > peak()) peak_.store(now, std::memory_order_relaxed);
}

// --- Back ------------------------------------------------------------------------------------------------------------

unsigned StackDepot::put_back(const StackTable& table, const std::uintptr_t* items, unsigned count) noexcept {
  unsigned unbuilt = 0;
  LockGuard guard(lock_);
  for (unsigned n = 0; n < count; n++) {
    put_back_one(table, items[n]);
    unbuilt += (items[n] & kToBuild) != 0;
  }
  return unbuilt;
}

void StackDepot::put_back_one(const StackTable& table, std::uintptr_t item) noexcept {
  Stack* stack = reinterpret_cast<Stack*>(item & ~kToBuild);
  const bool is_built = (item & kToBuild) == 0;
  StackSlab* slab = is_built ? table.slab(stack->slab) : table.slab_at(stack);
  const std::uint32_t index = is_built ? stack->index : slab->index_at(stack);
  StackGroup* group = &slab->groups()[index / kBankStacks];
  const std::uint64_t bit = std::uint64_t{1} << index % kBankStacks;
  JANUS_CHECK((group->free & bit) == 0);
  group->free |= bit;
  if (is_built) {
    group->warm |= bit;
    warm_++;
  }
  sort(group);
}

void StackDepot::count_in(unsigned count) noexcept {
  out_.fetch_sub(count, std::memory_order_relaxed);
}

// --- Cold ------------------------------------------------------------------------------------------------------------

StackDepot::Cooling StackDepot::begin_cooling(std::size_t reserve) noexcept {
  LockGuard guard(lock_);
  if (warm_ <= reserve) return {nullptr, 0};
  StackGroup* const group = lists_[StackGroup::kWarm].last;
  const std::uint64_t stacks = group->free & group->warm;
  warm_ -= count_ones(stacks);
  group->free &= ~stacks;
  group->warm = 0;
  sort(group);
  return {group, stacks};
}

void StackDepot::end_cooling(const Cooling& cooling) noexcept {
  LockGuard guard(lock_);
  JANUS_ASSERT((cooling.group->free & cooling.stacks) == 0);
  cooling.group->free |= cooling.stacks;
  sort(cooling.group);
}

// --- Lists of groups, under the lock ---------------------------------------------------------------------------------

// Moves a group whose state has changed to the front of the list where it belongs now, or to none.
void StackDepot::sort(StackGroup* group) noexcept {
  const StackGroup::List list = (group->free & group->warm) != 0 ? StackGroup::kWarm
                                : group->free != 0               ? StackGroup::kCold
                                                                 : StackGroup::kUnlisted;
  if (list == group->list) return;
  unlist(group);
  group->list = list;
  if (list == StackGroup::kUnlisted) return;
  GroupList& groups = lists_[list];
  group->previous = nullptr;
  group->next = groups.first;
  (groups.first != nullptr ? groups.first->previous : groups.last) = group;
  groups.first = group;
}

void StackDepot::unlist(StackGroup* group) noexcept {
  if (group->list == StackGroup::kUnlisted) return;
  GroupList& groups = lists_[group->list];
  (group->previous != nullptr ? group->previous->next : groups.first) = group->next;
  (group->next != nullptr ? group->next->previous : groups.last) = group->previous;
  group->list = StackGroup::kUnlisted;
}

}  // namespace janus
