// SPDX-License-Identifier: Apache-2.0
// rt/abi/entry/budget_convert.h — converts between janus_budget, with the specification's widths, and Amounts, which
// are 64 bits wide.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>

#include "rt/budget/account.h"
#include "rt/include/janus/rt.h"

namespace janus {

// False: all five are zero, so the task or nursery spends from the budget above it.
constexpr bool is_given(const janus_budget& budget) noexcept {
  return budget.ops != 0 || budget.memory != 0 || budget.spawn_count != 0 || budget.channel_ops != 0 ||
         budget.syscalls != 0;
}

// All bits set mean unlimited, on both sides.
template <std::unsigned_integral T>
constexpr std::uint64_t widened(T amount) noexcept {
  return amount == std::numeric_limits<T>::max() ? kUnlimited : amount;
}
// Saturates a finite amount one below all bits set, so that it stays finite.
template <std::unsigned_integral T>
constexpr T narrowed(std::uint64_t amount) noexcept {
  constexpr T kAll = std::numeric_limits<T>::max();
  if (amount == kUnlimited) return kAll;
  return amount < kAll ? static_cast<T>(amount) : static_cast<T>(kAll - 1);
}

constexpr Amounts amounts_of(const janus_budget& budget) noexcept {
  return {{widened(budget.ops), widened(budget.memory), widened(budget.spawn_count), widened(budget.channel_ops),
           widened(budget.syscalls)}};
}
constexpr janus_budget budget_of(const Amounts& amounts) noexcept {
  return {narrowed<std::uint32_t>(amounts[Component::kOps]), narrowed<std::size_t>(amounts[Component::kMemory]),
          narrowed<std::uint16_t>(amounts[Component::kSpawns]),
          narrowed<std::uint16_t>(amounts[Component::kChannelOps]),
          narrowed<std::uint16_t>(amounts[Component::kSyscalls])};
}

}  // namespace janus
