// SPDX-License-Identifier: Apache-2.0
// rt/task/charge.h — who pays for a task's record and stack. The root account pays for them in bulk, when the pools
// grow (rt/budget/pool_charge.h), so that ordinary tasks cost no budget work; below an explicit budget each is charged
// by itself, when it is spawned, and the root account pays that much less.
#pragma once

#include "rt/task/nursery.h"
#include "rt/task/runtime.h"

namespace janus {

inline std::uint64_t charge_of_record(std::uint8_t stack_class) noexcept {
  return sizeof(Task) + stack_class_bytes(stack_class);
}

// For one task below an explicit budget.
inline bool pay_for_record(Runtime& runtime, Account* payer, std::uint8_t stack_class) noexcept {
  const std::uint64_t bytes = charge_of_record(stack_class);
  if (!runtime.accounts.draw(payer, Component::kMemory, bytes)) return false;
  runtime.pool_charge.prepay(bytes);
  return true;
}
inline void refund_record(Runtime& runtime, Account* payer, std::uint8_t stack_class) noexcept {
  const std::uint64_t bytes = charge_of_record(stack_class);
  runtime.pool_charge.end_prepayment(bytes);
  runtime.accounts.credit(payer, Component::kMemory, bytes);
}

// A new account below `parent`; what idle stacks hold of the root account is not in its way.
inline Account* open_account(Runtime& runtime, Account* parent, const Amounts& wanted) noexcept {
  Component short_of{};
  Account* account = runtime.accounts.open(parent, wanted, &short_of);
  if (account == nullptr && short_of == Component::kMemory && parent == runtime.root_account &&
      runtime.pool_charge.reclaim())
    account = runtime.accounts.open(parent, wanted, nullptr);
  return account;
}

// After Slab::take() gave nothing. nullptr: *error says whether it was the root's budget or the machine.
[[gnu::noinline, gnu::cold]] inline void* alloc_under_pressure(Runtime& runtime, Slab& slab, SlabCache* cache,
                                                               bool has_paid, int* error) noexcept {
  constexpr std::uint64_t kAtLeast = 65536;  // less is no batch of anything
  void* record = runtime.pool_charge.reclaim() ? slab.take(cache) : nullptr;
  if (record == nullptr && has_paid) record = slab.alloc_prepaid(cache);
  if (record != nullptr) return record;
  const bool is_dry = runtime.accounts.left(runtime.root_account, Component::kMemory) < kAtLeast;
  return *error = is_dry ? kErrorBudget : kErrorNoMemory, nullptr;
}

// The account of the new child: the nursery's, or its own below it. nullptr: *error is why, and nothing is drawn.
[[gnu::noinline, gnu::cold]] inline Account* pay_for_spawn(Nursery& nursery, const SpawnOptions& options,
                                                           int* error) noexcept {
  Accounts& accounts = nursery.runtime->accounts;
  const Account* const root = nursery.runtime->root_account;
  Account* const payer = nursery.account;
  if (!accounts.draw(payer, Component::kSpawns, 1)) {
    *error = accounts.granted(payer, Component::kSpawns) ? kErrorBudget : kErrorNoCap;
    return nullptr;
  }
  const bool pays = payer != root;
  if (pays && !pay_for_record(*nursery.runtime, payer, options.stack_class)) {
    accounts.credit(payer, Component::kSpawns, 1);
    return *error = kErrorBudget, nullptr;
  }
  if (options.budget == nullptr) return payer;
  if (Account* const own = open_account(*nursery.runtime, payer, *options.budget)) return own;
  if (pays) refund_record(*nursery.runtime, payer, options.stack_class);
  accounts.credit(payer, Component::kSpawns, 1);
  return *error = kErrorBudget, nullptr;
}

[[gnu::noinline, gnu::cold]] inline void refund_spawn(Nursery& nursery, Account* account,
                                                      const SpawnOptions& options) noexcept {
  Accounts& accounts = nursery.runtime->accounts;
  const Account* const root = nursery.runtime->root_account;
  Account* const payer = nursery.account;
  if (payer == root && options.budget == nullptr) return;
  if (account != payer) accounts.close(account);
  if (payer != root) refund_record(*nursery.runtime, payer, options.stack_class);
  accounts.credit(payer, Component::kSpawns, 1);
}

// At the task's end.
[[gnu::noinline, gnu::cold]] inline void credit_record(Task& task) noexcept {
  Runtime& runtime = *task.nursery->runtime;
  const bool has_own = task.has(TaskFlags::kOwnAccount);
  Account* const payer = has_own ? task.nursery->account : task.account;
  if (has_own) runtime.accounts.close(task.account);
  if (payer != runtime.root_account) refund_record(runtime, payer, task.stack_class);
}

}  // namespace janus
