// SPDX-License-Identifier: Apache-2.0
// rt/task/account_of.h — who pays for a task's record and stack. The root account pays for whole slabs of them, so that
// ordinary tasks cost no budget work; below an explicit budget each is charged by itself, when it is spawned.
#pragma once

#include "rt/task/nursery.h"
#include "rt/task/runtime.h"

namespace janus {

inline std::uint64_t charge_of_record(std::uint8_t stack_class) noexcept {
  return sizeof(Task) + stack_class_bytes(stack_class);
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
  if (pays && !accounts.draw(payer, Component::kMemory, charge_of_record(options.stack_class))) {
    accounts.credit(payer, Component::kSpawns, 1);
    return *error = kErrorBudget, nullptr;
  }
  if (options.budget == nullptr) return payer;
  if (Account* const own = accounts.open(payer, *options.budget, nullptr)) return own;
  if (pays) accounts.credit(payer, Component::kMemory, charge_of_record(options.stack_class));
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
  if (payer != root) accounts.credit(payer, Component::kMemory, charge_of_record(options.stack_class));
  accounts.credit(payer, Component::kSpawns, 1);
}

// At the task's end.
[[gnu::noinline, gnu::cold]] inline void credit_record(Task& task) noexcept {
  Accounts& accounts = task.nursery->runtime->accounts;
  const Account* const root = task.nursery->runtime->root_account;
  const bool has_own = task.has(TaskFlags::kOwnAccount);
  Account* const payer = has_own ? task.nursery->account : task.account;
  if (has_own) accounts.close(task.account);
  if (payer != root) accounts.credit(payer, Component::kMemory, charge_of_record(task.stack_class));
}

}  // namespace janus
