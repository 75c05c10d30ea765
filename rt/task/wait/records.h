// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/records.h — charges the records of tasks, nurseries and channels. These calls never wait: what an account
// does not have is refused.
//
// The root account pays for records and stacks in bulk, when the pools grow (rt/budget/pool_charge.h), so that ordinary
// tasks cost no budget work; below an explicit budget each one is charged by itself while it lives, and the root
// account pays that much less.
#pragma once

#include "rt/task/record/nursery.h"
#include "rt/task/record/runtime.h"

namespace janus {

// Charges a record (of a nursery, a channel) to `payer` until refund_record(). Does nothing for the root account, which
// pays in bulk. False: the budget does not reach.
[[nodiscard]] bool pay_for_record(Runtime& runtime, Account* payer, std::uint64_t bytes) noexcept;
void refund_record(Runtime& runtime, Account* payer, std::uint64_t bytes) noexcept;

// Bounds the walks from an account to those above it, such as for each block that comes back.
inline constexpr unsigned kMaxBudgetsAbove = 128;

// Opens an account below `parent`; what idle stacks hold of the root account is given back for it if need be. nullptr:
// `parent` has too little, or too many accounts are above it; *error says which.
Account* open_account(Runtime& runtime, Account* parent, const Amounts& wanted, int* error) noexcept;
// Called after Slab::take() gave nothing. nullptr: *error says whether the root's budget or the machine ran out.
void* alloc_under_pressure(Runtime& runtime, Slab& slab, SlabCache* cache, bool has_paid, int* error) noexcept;
// Returns the account of the new child: the nursery's, or its own below that. nullptr: *error says why, and nothing is
// drawn.
Account* pay_for_spawn(Nursery& nursery, std::uint8_t stack_class, const Amounts* budget, int* error) noexcept;
void refund_spawn(Nursery& nursery, Account* account, std::uint8_t stack_class) noexcept;
// What is charged for a task below an explicit budget: its record and its stack.
[[nodiscard]] std::uint64_t bytes_of_task(std::uint8_t stack_class) noexcept;

// Whether the task lives on less than its runtime has: an explicit budget stands between the two. The budget of a whole
// runtime (root_budget) is not meant.
[[nodiscard]] bool is_below_explicit_budget(const Task& task) noexcept;

}  // namespace janus
