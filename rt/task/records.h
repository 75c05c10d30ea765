// SPDX-License-Identifier: Apache-2.0
// rt/task/records.h — who pays for the records of tasks, nurseries and channels. Nobody waits here: what an account
// does not have is refused.
//
// The root account pays for records and stacks in bulk, when the pools grow (rt/budget/pool_charge.h), so that ordinary
// tasks cost no budget work; below an explicit budget each is charged by itself while it lives, and the root account
// pays that much less.
#pragma once

#include "rt/task/nursery.h"
#include "rt/task/runtime.h"

namespace janus {

// A record (of a nursery, a channel) that lives on `payer` until refund_record(). Nothing happens for the root account,
// which pays in bulk. False: the budget does not reach.
[[nodiscard]] bool pay_for_record(Runtime& runtime, Account* payer, std::uint64_t bytes) noexcept;
void refund_record(Runtime& runtime, Account* payer, std::uint64_t bytes) noexcept;

// Walks from an account to those above it, as for each block that comes back, have an end that is near.
inline constexpr unsigned kMostBudgetsAbove = 128;

// A new account below `parent`; what idle stacks hold of the root account is not in its way. nullptr: short, or too
// many are above it.
Account* open_account(Runtime& runtime, Account* parent, const Amounts& wanted) noexcept;
// After Slab::take() gave nothing. nullptr: *error says whether it was the root's budget or the machine.
void* alloc_under_pressure(Runtime& runtime, Slab& slab, SlabCache* cache, bool has_paid, int* error) noexcept;
// The account of the new child: the nursery's, or its own below it. nullptr: *error is why, and nothing is drawn.
Account* pay_for_spawn(Nursery& nursery, std::uint8_t stack_class, const Amounts* budget, int* error) noexcept;
void refund_spawn(Nursery& nursery, Account* account, std::uint8_t stack_class) noexcept;
// What is charged for a task below an explicit budget: its record and its stack.
[[nodiscard]] std::uint64_t bytes_of_task(std::uint8_t stack_class) noexcept;

// Whether the task lives on less than its runtime has: an explicit budget stands somewhere between the two. What a
// whole runtime was given (root_budget) is none.
[[nodiscard]] bool is_below_explicit_budget(const Task& task) noexcept;

}  // namespace janus
