// SPDX-License-Identifier: Apache-2.0
// rt/task/charge.cpp — what operations cost and who pays.
#include "rt/task/charge.h"

#include "rt/task/cancel.h"
#include "rt/task/exhaustion.h"
#include "rt/task/panic.h"

namespace janus {

namespace {

// Which nursery's word on exhaustion goes for this account; nullptr: the root's own.
const Nursery* policy_owner_of(const Task& task) noexcept {
  if (task.has(TaskFlags::kOwnAccount)) return task.nursery;
  for (const Nursery* nursery = task.nursery; nursery != nullptr;) {
    if (nursery->traits.owns_account) return nursery;
    const Task* const owner = nursery->owner.load(std::memory_order_relaxed);
    if (owner == nullptr) return nullptr;
    if (owner->has(TaskFlags::kOwnAccount)) return owner->nursery;
    nursery = owner->nursery;
  }
  return nullptr;
}

// A child with a budget of its own lives on its nursery's, once somebody has recharged that.
bool top_up(Accounts& accounts, Task& task, Component component, std::uint64_t amount) noexcept {
  if (!task.has(TaskFlags::kOwnAccount)) return true;
  Amounts wanted{};
  wanted[component] = amount;
  return accounts.transfer(task.nursery->account, task.account, wanted);
}

std::uint64_t charge_of_record(std::uint8_t stack_class) noexcept {
  return sizeof(Task) + stack_class_bytes(stack_class);
}

// For one task below an explicit budget.
bool pay_for_record(Runtime& runtime, Account* payer, std::uint8_t stack_class) noexcept {
  const std::uint64_t bytes = charge_of_record(stack_class);
  if (!runtime.accounts.draw(payer, Component::kMemory, bytes)) return false;
  runtime.pool_charge.prepay(bytes);
  return true;
}
void refund_record(Runtime& runtime, Account* payer, std::uint8_t stack_class) noexcept {
  const std::uint64_t bytes = charge_of_record(stack_class);
  runtime.pool_charge.end_prepayment(bytes);
  runtime.accounts.credit(payer, Component::kMemory, bytes);
}

}  // namespace

Account* open_account(Runtime& runtime, Account* parent, const Amounts& wanted) noexcept {
  Component short_of{};
  Account* account = runtime.accounts.open(parent, wanted, &short_of);
  if (account == nullptr && short_of == Component::kMemory && parent == runtime.root_account &&
      runtime.pool_charge.reclaim())
    account = runtime.accounts.open(parent, wanted, nullptr);
  return account;
}

[[gnu::noinline, gnu::cold]] void* alloc_under_pressure(Runtime& runtime, Slab& slab, SlabCache* cache, bool has_paid,
                                                        int* error) noexcept {
  constexpr std::uint64_t kAtLeast = 65536;  // less is no batch of anything
  void* record = runtime.pool_charge.reclaim() ? slab.take(cache) : nullptr;
  if (record == nullptr && has_paid) record = slab.alloc_prepaid(cache);
  if (record != nullptr) return record;
  const bool is_dry = runtime.accounts.left(runtime.root_account, Component::kMemory) < kAtLeast;
  return *error = is_dry ? kErrorBudget : kErrorNoMemory, nullptr;
}

[[gnu::noinline, gnu::cold]] Account* pay_for_spawn(Nursery& nursery, const SpawnOptions& options,
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

[[gnu::noinline, gnu::cold]] void refund_spawn(Nursery& nursery, Account* account,
                                               const SpawnOptions& options) noexcept {
  Accounts& accounts = nursery.runtime->accounts;
  const Account* const root = nursery.runtime->root_account;
  Account* const payer = nursery.account;
  if (payer == root && options.budget == nullptr) return;
  if (account != payer) accounts.close(account);
  if (payer != root) refund_record(*nursery.runtime, payer, options.stack_class);
  accounts.credit(payer, Component::kSpawns, 1);
}

[[gnu::noinline, gnu::cold]] void credit_record(Task& task) noexcept {
  Runtime& runtime = *task.nursery->runtime;
  const bool has_own = task.has(TaskFlags::kOwnAccount);
  Account* const payer = has_own ? task.nursery->account : task.account;
  if (has_own) runtime.accounts.close(task.account);
  if (payer != runtime.root_account) refund_record(runtime, payer, task.stack_class);
}

int charge(Task& task, Component component, std::uint64_t amount) noexcept {
  Worker& worker = current_worker();
  worker.fuel -= 1;
  Runtime& runtime = runtime_of(worker);
  if (task.account == runtime.root_account && component != Component::kMemory) [[likely]]
    return 0;
  while (!runtime.accounts.draw(task.account, component, amount)) {
    if (!runtime.accounts.granted(task.account, component)) return kErrorNoCap;
    const int answer = exhausted(task, component, amount);
    if (answer != 0) return answer;
  }
  return 0;
}

[[gnu::noinline]] int exhausted(Task& task, Component component, std::uint64_t amount) noexcept {
  Runtime& runtime = *task.nursery->runtime;
  current_worker().counters.exhaustions.add();
  const Nursery* const policy_owner = policy_owner_of(task);
  const std::uint8_t policy = policy_owner != nullptr ? policy_owner->traits.on_exhaustion : 2;
  if (policy == 1) end_for_budget(task);
  if (policy == 2 && component != Component::kOps) return kErrorBudget;
  if (policy_owner == nullptr) end_for_budget(task);  // nobody could ever recharge the root
  Exhausted wait{&task, component, amount, nullptr, nullptr, false, false};
  wait_for_recharge(runtime, wait);
  if (wait.is_unrechargeable) end_for_budget(task);
  if (wait.is_recharged && !top_up(runtime.accounts, task, component, amount)) return 0;
  return sees_cancel(task) ? -1 : 0;
}

}  // namespace janus
