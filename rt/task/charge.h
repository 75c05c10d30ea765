// SPDX-License-Identifier: Apache-2.0
// rt/task/charge.h — what operations cost, and who pays. This is the one place where the five components are charged.
//
// The root account pays for records and stacks in bulk, when the pools grow (rt/budget/pool_charge.h), so that ordinary
// tasks cost no budget work; below an explicit budget each is charged by itself while it lives, and the root account
// pays that much less.
#pragma once

#include "rt/task/price.h"
#include "rt/task/runtime.h"
#include "rt/task/spawn.h"

namespace janus {

// --- Ops -------------------------------------------------------------------------------------------------------------

// Charges `ops` to the running task, and looks at what is left as a yield check does: gives way at the end of a slice,
// pays grace after a cancel, waits or ends without ops. The task may go on on another worker. 0, or -1: told to end.
int charge_ops(Task& task, std::int64_t ops) noexcept;
// For `bytes` of bulk work that is to be done now, at most price::kBytesAtOnce of them.
int charge_bytes(Task& task, std::size_t bytes) noexcept;

// --- The other components --------------------------------------------------------------------------------------------

// Draws `amount` of `component` for the running task. Where there is not so much, the policy that rules its account
// decides: this waits until somebody recharges it, or gives an error, or ends the task. 0: drawn. -1: told to end.
// kErrorNoCap: never granted; kErrorBudget.
int charge(Task& task, Component component, std::uint64_t amount) noexcept;
// After an attempt to draw that failed.
int charge_waiting(Task& task, Component component, std::uint64_t amount) noexcept;

// After an operation that `payer` could not pay, and that waits for nothing (a spawn, a record): where that is the
// running task's own account, and JANUS_ON_EXHAUSTION_FAIL rules it, this is the task's end.
void end_if_fail_rules(Task& task, const Account* payer) noexcept;

// --- Records ---------------------------------------------------------------------------------------------------------

// A record (of a nursery, a channel) that lives on `payer` until refund_record(). Nothing happens for the root account,
// which pays in bulk. False: the budget does not reach.
[[nodiscard]] bool pay_for_record(Runtime& runtime, Account* payer, std::uint64_t bytes) noexcept;
void refund_record(Runtime& runtime, Account* payer, std::uint64_t bytes) noexcept;

// A new account below `parent`; what idle stacks hold of the root account is not in its way. nullptr: short.
Account* open_account(Runtime& runtime, Account* parent, const Amounts& wanted) noexcept;
// After Slab::take() gave nothing. nullptr: *error says whether it was the root's budget or the machine.
void* alloc_under_pressure(Runtime& runtime, Slab& slab, SlabCache* cache, bool has_paid, int* error) noexcept;
// The account of the new child: the nursery's, or its own below it. nullptr: *error is why, and nothing is drawn.
Account* pay_for_spawn(Nursery& nursery, const SpawnOptions& options, int* error) noexcept;
void refund_spawn(Nursery& nursery, Account* account, const SpawnOptions& options) noexcept;
// Of a task that has ended.
void credit_task(Task& task) noexcept;

// Whether the task lives on less than its runtime has: an explicit budget stands somewhere between the two. What a
// whole runtime was given (root_budget) is none.
[[nodiscard]] bool is_below_explicit_budget(const Task& task) noexcept;

}  // namespace janus
