// SPDX-License-Identifier: Apache-2.0
// rt/task/charge.h — what operations cost and who pays. who pays for a task's record and stack. The root account pays
// for them in bulk, when the pools grow (rt/budget/pool_charge.h), so that ordinary tasks cost no budget work; below an
// explicit budget each is charged by itself, when it is spawned, and the root account pays that much less.
#pragma once

#include "rt/task/runtime.h"
#include "rt/task/spawn.h"

namespace janus {

// `amount` of `component` is not to be had: by the policy that rules the account this waits and gives 0 when it is
// worth another try, gives an error, or ends the task.
int exhausted(Task& task, Component component, std::uint64_t amount) noexcept;
// One operation: `ops` fuel and `amount` of `component`. 0, or why not.
int charge(Task& task, Component component, std::uint64_t amount) noexcept;

// A new account below `parent`; what idle stacks hold of the root account is not in its way. nullptr: short.
Account* open_account(Runtime& runtime, Account* parent, const Amounts& wanted) noexcept;
// After Slab::take() gave nothing. nullptr: *error says whether it was the root's budget or the machine.
void* alloc_under_pressure(Runtime& runtime, Slab& slab, SlabCache* cache, bool has_paid, int* error) noexcept;
// The account of the new child: the nursery's, or its own below it. nullptr: *error is why, and nothing is drawn.
Account* pay_for_spawn(Nursery& nursery, const SpawnOptions& options, int* error) noexcept;
void refund_spawn(Nursery& nursery, Account* account, const SpawnOptions& options) noexcept;
// At the task's end.
void credit_record(Task& task) noexcept;

}  // namespace janus
