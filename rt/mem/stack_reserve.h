// SPDX-License-Identifier: Apache-2.0
// rt/mem/stack_reserve.h — the stacks that are in no worker's cache, of all classes: pays for those that get pages, and
// decides how many idle ones stay *warm*, i.e. keep their pages. docs/decisions/0080, 0086
#pragma once

#include <cstddef>
#include <cstdint>

#include "rt/mem/stack.h"
#include "rt/mem/stack_depot.h"
#include "rt/mem/stack_table.h"

namespace janus {

class PoolCharge;

class StackReserve {
 public:
  [[nodiscard]] bool init() noexcept;
  void destroy() noexcept;
  void charge_to(PoolCharge& pool_charge) noexcept { pool_charge_ = &pool_charge; }
  void on_cold(void (*hook)(Stack*)) noexcept { on_cold_ = hook; }

  // Takes up to `wanted` warm stacks if there are any; otherwise cold or new ones, which have to be paid for, as they
  // will have pages. Returns how many.
  [[nodiscard]] unsigned fetch(unsigned size_class, std::uintptr_t* items, unsigned wanted) noexcept;
  // Takes a cold stack or a new one, which the payer may owe (PoolCharge::overdraw). 0: there is none.
  [[nodiscard]] std::uintptr_t fetch_overdrawn(unsigned size_class) noexcept;
  // Takes stacks back, and gives back the pages of those beyond the reserve.
  void hand_back(unsigned size_class, const std::uintptr_t* items, unsigned count) noexcept;
  // Builds the record of a stack if it is still to be built.
  [[nodiscard]] Stack* build(std::uintptr_t item) noexcept;

  // See StackPool.
  bool trim() noexcept;
  [[nodiscard]] bool has_excess() const noexcept;
  void give_excess() noexcept;

  [[nodiscard]] std::size_t out(unsigned size_class) const noexcept { return depots_[size_class].out(); }
  [[nodiscard]] std::size_t stacks_out() const noexcept;
  [[nodiscard]] std::size_t stacks_warm() noexcept;
  [[nodiscard]] std::size_t stacks_peak() const noexcept;

  [[nodiscard]] StackTable& table() noexcept { return table_; }
  [[nodiscard]] const StackTable& table() const noexcept { return table_; }

 private:
  [[nodiscard]] unsigned fetch_paid(unsigned size_class, std::uintptr_t* items, unsigned count) noexcept;
  void populate(const std::uintptr_t* items, unsigned count) noexcept;
  [[nodiscard]] unsigned pay_for(unsigned size_class, unsigned wanted) noexcept;
  void pay_back(unsigned size_class, unsigned count) noexcept;
  void keep_reserve(unsigned size_class) noexcept;
  [[nodiscard]] bool decommit_one_group(unsigned size_class, std::size_t reserve) noexcept;
  void forget_records(StackSlab* slab, std::uint32_t group, std::uint64_t stacks) noexcept;

  StackTable table_;
  PoolCharge* pool_charge_ = nullptr;
  void (*on_cold_)(Stack*) = nullptr;
  StackDepot depots_[kStackClasses];
};

}  // namespace janus
