// SPDX-License-Identifier: Apache-2.0
#include "rt/mem/stack_reserve.h"

#include <bit>

#include "rt/budget/pool_charge.h"

namespace janus {

namespace {

// With more stacks than this out, it is likely that more will be taken soon.
constexpr std::size_t kMany = 1024;

// How many idle warm stacks are kept in any case: 8 MiB by their nominal size.
constexpr std::size_t least_reserve(unsigned size_class) noexcept {
  return (std::size_t{8} << 20) / stack_class_bytes(size_class);
}

}  // namespace

// --- Life ------------------------------------------------------------------------------------------------------------

bool StackReserve::init() noexcept {
  if (!table_.init()) return false;
  for (unsigned c = 0; c < kStackClasses; c++) depots_[c].init(c);
  return true;
}

void StackReserve::destroy() noexcept {
  if (table_.is_empty()) return;
  for (std::uint32_t n = 0; on_cold_ != nullptr && n < table_.count(); n++) {
    StackSlab* slab = table_.slab(n);
    for (std::uint32_t b = 0; b * kBankStacks < slab->prepared.load(std::memory_order_relaxed); b++)
      forget_records(slab, b, slab->groups()[b].free & slab->groups()[b].warm);
  }
  table_.destroy();
  for (StackDepot& depot : depots_) depot.destroy();
}

// Calls the hook for these warm stacks of a group.
void StackReserve::forget_records(StackSlab* slab, std::uint32_t group, std::uint64_t stacks) noexcept {
  for (; on_cold_ != nullptr && stacks != 0; stacks &= stacks - 1)
    on_cold_(slab->record_of(group * kBankStacks + static_cast<unsigned>(std::countr_zero(stacks))));
}

// --- Out -------------------------------------------------------------------------------------------------------------

unsigned StackReserve::fetch(unsigned size_class, std::uintptr_t* items, unsigned wanted) noexcept {
  StackDepot& depot = depots_[size_class];
  if (const unsigned count = depot.take_warm(items, wanted); count != 0) {
    depot.count_out(count);
    return count;
  }
  const unsigned paid = pay_for(size_class, wanted);
  return paid != 0 ? fetch_paid(size_class, items, paid) : 0;
}

std::uintptr_t StackReserve::fetch_overdrawn(unsigned size_class) noexcept {
  std::uintptr_t item = 0;
  if (pool_charge_ == nullptr || !pool_charge_->overdraw(stack_class_bytes(size_class))) return 0;
  return fetch_paid(size_class, &item, 1) == 0 ? 0 : item;
}

// Takes up to `count` cold stacks, or else new ones, for which the caller has paid; refunds those that it does not get.
unsigned StackReserve::fetch_paid(unsigned size_class, std::uintptr_t* items, unsigned count) noexcept {
  StackDepot& depot = depots_[size_class];
  unsigned got = depot.take_cold(items, count);
  if (got == 0) got = depot.take_new(table_, items, count);
  pay_back(size_class, count - got);
  depot.count_out(got);
  if (got > 1 && depot.out() > kMany) populate(items, got);
  return got;
}

// Precondition: all are of one group. With many stacks out it is likely that these will be used, too, and their pages
// cost less in one call than by faults.
void StackReserve::populate(const std::uintptr_t* items, unsigned count) noexcept {
  StackSlab* const slab = table_.slab_at(reinterpret_cast<const void*>(items[0] & ~kToBuild));
  std::uint64_t which = 0;
  std::uint32_t index = 0;
  for (unsigned n = 0; n < count; ++n) {
    index = slab->index_at(reinterpret_cast<const void*>(items[n] & ~kToBuild));
    which |= std::uint64_t{1} << index % kBankStacks;
  }
  slab->populate(slab->groups()[index / kBankStacks], which);
}

Stack* StackReserve::build(std::uintptr_t item) noexcept {
  Stack* stack = reinterpret_cast<Stack*>(item & ~kToBuild);
  if ((item & kToBuild) == 0) return stack;
  StackSlab* slab = table_.slab_at(stack);
  return slab->build(slab->index_at(stack));
}

// Pays for `wanted` stacks, or for half as many, and so on, until the payer has the memory. Returns for how many.
unsigned StackReserve::pay_for(unsigned size_class, unsigned wanted) noexcept {
  if (pool_charge_ == nullptr) return wanted;
  while (wanted != 0 && !pool_charge_->grow(wanted * stack_class_bytes(size_class))) wanted /= 2;
  return wanted;
}

void StackReserve::pay_back(unsigned size_class, unsigned count) noexcept {
  if (pool_charge_ != nullptr && count != 0) pool_charge_->shrink(count * stack_class_bytes(size_class));
}

// --- Back, and cold --------------------------------------------------------------------------------------------------

void StackReserve::hand_back(unsigned size_class, const std::uintptr_t* items, unsigned count) noexcept {
  if (count == 0) return;
  StackDepot& depot = depots_[size_class];
  pay_back(size_class, depot.put_back(table_, items, count));
  depot.count_in(count);
  keep_reserve(size_class);
}

// As many stacks may be idle and warm as were in use at once in this period or the last one, so that a program whose
// number of tasks goes up and down makes no system calls. Beyond that, half are given back, so that stacks freed in no
// order have enough neighbours to be given back in one call.
void StackReserve::keep_reserve(unsigned size_class) noexcept {
  const std::size_t reserve = least_reserve(size_class) + depots_[size_class].most_out();
  if (decommit_one_group(size_class, reserve))
    while (decommit_one_group(size_class, reserve / 2)) {
    }
}

// Gives back the pages of the group that has been on the warm list longest. False: no more than `reserve` stacks are
// warm.
bool StackReserve::decommit_one_group(unsigned size_class, std::size_t reserve) noexcept {
  StackDepot& depot = depots_[size_class];
  const StackDepot::Cooling cooling = depot.begin_cooling(reserve);
  if (cooling.group == nullptr) return false;
  StackSlab* slab = slab_of(cooling.group);
  forget_records(slab, cooling.group->number, cooling.stacks);
  slab->discard(*cooling.group, cooling.stacks);
  pay_back(size_class, count_ones(cooling.stacks));
  depot.end_cooling(cooling);
  return true;
}

bool StackReserve::has_excess() const noexcept {
  for (const StackDepot& depot : depots_)
    if (depot.most_out() > depot.out()) return true;
  return false;
}

void StackReserve::give_excess() noexcept {
  for (unsigned size_class = 0; size_class < kStackClasses; ++size_class) {
    depots_[size_class].begin_period();
    keep_reserve(size_class);
  }
}

bool StackReserve::trim() noexcept {
  bool any = false;
  for (unsigned size_class = 0; size_class < kStackClasses; ++size_class)
    while (decommit_one_group(size_class, 0)) any = true;
  return any;
}

// --- Figures ---------------------------------------------------------------------------------------------------------

std::size_t StackReserve::stacks_out() const noexcept {
  std::size_t out = 0;
  for (const StackDepot& depot : depots_) out += depot.out();
  return out;
}

std::size_t StackReserve::stacks_warm() noexcept {
  std::size_t warm = 0;
  for (StackDepot& depot : depots_) warm += depot.warm();
  return warm;
}

std::size_t StackReserve::stacks_peak() const noexcept {
  std::size_t peak = 0;
  for (const StackDepot& depot : depots_) peak += depot.peak();
  return peak;
}

}  // namespace janus
