// SPDX-License-Identifier: Apache-2.0
// rt/mem/stack_reserve.cpp — how many idle stacks stay warm, and giving back the pages of the others.
// docs/decisions/0080
#include "rt/mem/stack_pool.h"

#include <bit>

#include "rt/base/assert.h"

namespace janus {

namespace {

// How many idle warm stacks are kept in any case: 8 MiB by their nominal size.
constexpr std::size_t least_reserve(unsigned size_class) noexcept {
  return (std::size_t{8} << 20) / stack_class_bytes(size_class);
}

}  // namespace

// As many stacks may be idle and warm as were in use at once in this period or the last one, so that a program whose number of tasks goes up and down makes no
// system calls. Beyond that, half are given back, so that stacks freed in no order have enough neighbours to be given
// back in one call.
void StackPool::keep_reserve(unsigned size_class) noexcept {
  ClassPool& pool = pools_[size_class];
  const std::size_t most = pool.most.load(std::memory_order_relaxed);
  const std::size_t before = pool.most_before.load(std::memory_order_relaxed);
  const std::size_t reserve = least_reserve(size_class) + (most > before ? most : before);
  if (decommit_one_group(size_class, reserve))
    while (decommit_one_group(size_class, reserve / 2)) {
    }
}

// Gives back the pages of the group that has been on the warm list longest. False: no more than `reserve` stacks are
// warm.
bool StackPool::decommit_one_group(unsigned size_class, std::size_t reserve) noexcept {
  ClassPool& pool = pools_[size_class];
  StackGroup* group = nullptr;
  std::uint64_t cooling = 0;
  {
    LockGuard guard(pool.lock);
    if (pool.warm <= reserve) return false;
    group = pool.lists[StackGroup::kWarm].last;
    cooling = group->free & group->warm;  // neither free nor held while the lock is released
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
  for (const ClassPool& pool : pools_) {
    const std::size_t out = pool.out.load(std::memory_order_relaxed);
    if (pool.most.load(std::memory_order_relaxed) > out || pool.most_before.load(std::memory_order_relaxed) > out)
      return true;
  }
  return false;
}

void StackPool::give_excess() noexcept {
  for (unsigned size_class = 0; size_class < kStackClasses; ++size_class) {
    ClassPool& pool = pools_[size_class];
    pool.most_before.store(pool.most.load(std::memory_order_relaxed), std::memory_order_relaxed);
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

}  // namespace janus
