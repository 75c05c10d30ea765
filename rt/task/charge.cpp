// SPDX-License-Identifier: Apache-2.0
// rt/task/charge.cpp — what operations cost and who pays.
#include "rt/task/charge.h"

#include "rt/task/cancel.h"
#include "rt/task/exhaustion.h"
#include "rt/task/kinship.h"
#include "rt/task/locals.h"
#include "rt/task/panic.h"
#include "rt/task/slice.h"
#include "rt/task/yield.h"

namespace janus {

namespace {

std::uint64_t charge_of_task(std::uint8_t stack_class) noexcept {
  return sizeof(Task) + stack_class_bytes(stack_class);
}

// Whose word on exhaustion goes for the task's account; nullptr: the root's own, which nobody could recharge.
const Nursery* policy_owner_of(const Task& task) noexcept {
  if (task.has(TaskFlags::kOwnAccount)) return task.nursery;
  PaidWalk walk;
  for (const Nursery* nursery = task.nursery; nursery != nullptr; walk.step()) {
    if (nursery->traits.owns_account) return nursery;
    const Task* const owner = nursery->owner.load(std::memory_order_relaxed);
    if (owner == nullptr) return nullptr;
    if (owner->has(TaskFlags::kOwnAccount)) return owner->nursery;
    nursery = owner->nursery;
  }
  return nullptr;
}

}  // namespace

// --- Ops -------------------------------------------------------------------------------------------------------------

int charge_ops(Task& task, std::int64_t ops) noexcept {
  return take_fuel(ops) ? yield_slow(task) : 0;
}

int charge_bytes(Task& task, std::size_t bytes) noexcept {
  return charge_ops(task, static_cast<std::int64_t>(bytes / price::kBytesPerOp));
}

// --- The other components --------------------------------------------------------------------------------------------

int charge(Task& task, Component component, std::uint64_t amount) noexcept {
  Runtime& runtime = runtime_of(current_worker());
  if (task.account == runtime.root_account && component != Component::kMemory) [[likely]]
    return 0;
  return runtime.accounts.draw(task.account, component, amount) ? 0 : charge_waiting(task, component, amount);
}

[[gnu::noinline]] int charge_waiting(Task& task, Component component, std::uint64_t amount) noexcept {
  Runtime& runtime = *task.nursery->runtime;
  if (component != Component::kOps && !runtime.accounts.granted(task.account, component)) return kErrorNoCap;
  current_worker().counters.exhaustions.add();
  const Nursery* const policy_owner = policy_owner_of(task);
  const ExhaustionPolicy policy =
      policy_owner != nullptr ? policy_owner->traits.on_exhaustion : ExhaustionPolicy::kDeny;
  if (policy == ExhaustionPolicy::kDeny && component != Component::kOps) return kErrorBudget;
  if (policy == ExhaustionPolicy::kFail || policy_owner == nullptr) {
    if (component == Component::kOps) runtime.accounts.owe(task.account, amount);
    end_for_budget(task);
  }
  switch (wait_for_recharge(task, component, amount)) {
    case Recharge::kDrawn:
      return 0;
    case Recharge::kCancelled:
      (void)sees_cancel(task);
      return kCancelledCode;
    case Recharge::kNever:
      break;
  }
  end_for_budget(task);
}

void end_if_fail_rules(Task& task, const Account* payer) noexcept {
  if (payer != task.account) return;
  const Nursery* const policy_owner = policy_owner_of(task);
  if (policy_owner != nullptr && policy_owner->traits.on_exhaustion == ExhaustionPolicy::kFail) end_for_budget(task);
}

// --- Records ---------------------------------------------------------------------------------------------------------

bool pay_for_record(Runtime& runtime, Account* payer, std::uint64_t bytes) noexcept {
  if (payer == runtime.root_account) return true;
  if (!runtime.accounts.draw(payer, Component::kMemory, bytes)) return false;
  runtime.pool_charge.prepay(bytes);
  return true;
}

void refund_record(Runtime& runtime, Account* payer, std::uint64_t bytes) noexcept {
  if (payer == runtime.root_account) return;
  runtime.pool_charge.end_prepayment(bytes);
  runtime.accounts.credit(payer, Component::kMemory, bytes);
}

Account* open_account(Runtime& runtime, Account* parent, const Amounts& wanted) noexcept {
  Component short_of{};
  Account* account = runtime.accounts.open(parent, wanted, &short_of);
  if (account == nullptr && short_of == Component::kMemory && parent == runtime.root_account &&
      runtime.pool_charge.reclaim())
    account = runtime.accounts.open(parent, wanted, nullptr);
  if (account == nullptr) return nullptr;
  const std::uint32_t above = parent != runtime.root_account ? parent->index() : 0;
  if (runtime.scheduler.add_party(account->index(), above)) return account;
  runtime.accounts.close(account);
  return nullptr;
}

[[gnu::noinline, gnu::cold]] void* alloc_under_pressure(Runtime& runtime, Slab& slab, SlabCache* cache, bool has_paid,
                                                        int* error) noexcept {
  constexpr std::uint64_t kAtLeast = 65536;  // less is no batch of anything
  void* record = runtime.pool_charge.reclaim() ? slab.take(cache) : nullptr;
  if (record == nullptr && has_paid) record = slab.alloc_prepaid(cache);
  if (record != nullptr) return record;
  const bool is_dry = runtime.accounts.left(runtime.root_account, Component::kMemory) < kAtLeast;
  *error = is_dry ? kErrorBudget : kErrorNoMemory;
  return nullptr;
}

[[gnu::noinline, gnu::cold]] Account* pay_for_spawn(Nursery& nursery, const SpawnOptions& options,
                                                    int* error) noexcept {
  Accounts& accounts = nursery.runtime->accounts;
  Account* const payer = nursery.account;
  if (!accounts.draw(payer, Component::kSpawns, 1)) {
    *error = accounts.granted(payer, Component::kSpawns) ? kErrorBudget : kErrorNoCap;
    return nullptr;
  }
  if (!pay_for_record(*nursery.runtime, payer, charge_of_task(options.stack_class))) {
    accounts.credit(payer, Component::kSpawns, 1);
    *error = kErrorBudget;
    return nullptr;
  }
  if (options.budget == nullptr) return payer;
  if (Account* const own = open_account(*nursery.runtime, payer, *options.budget)) return own;
  refund_record(*nursery.runtime, payer, charge_of_task(options.stack_class));
  accounts.credit(payer, Component::kSpawns, 1);
  *error = kErrorBudget;
  return nullptr;
}

[[gnu::noinline, gnu::cold]] void refund_spawn(Nursery& nursery, Account* account,
                                               const SpawnOptions& options) noexcept {
  Accounts& accounts = nursery.runtime->accounts;
  const Account* const root = nursery.runtime->root_account;
  Account* const payer = nursery.account;
  if (payer == root && options.budget == nullptr) return;
  if (account != payer) accounts.close(account);
  refund_record(*nursery.runtime, payer, charge_of_task(options.stack_class));
  accounts.credit(payer, Component::kSpawns, 1);
}

[[gnu::noinline, gnu::cold]] void credit_task(Task& task) noexcept {
  Runtime& runtime = *task.nursery->runtime;
  const bool has_own = task.has(TaskFlags::kOwnAccount);
  Account* const payer = has_own ? task.nursery->account : task.account;
  if (has_own) {
    end_local_keys(runtime, &current_worker(), *task.account);
    runtime.accounts.close(task.account);
  }
  refund_record(runtime, payer, charge_of_task(task.stack_class));
}

bool is_below_explicit_budget(const Task& task) noexcept {
  const Runtime& runtime = *task.nursery->runtime;
  if (task.account == runtime.root_account) return false;
  const Nursery* nursery = task.nursery;
  for (const Task* up = &task;; up = nursery->owner.load(std::memory_order_relaxed), nursery = up->nursery) {
    if (nursery->traits.owns_account) return true;
    const bool is_root = nursery->owner.load(std::memory_order_relaxed) == nullptr;
    if (up->has(TaskFlags::kOwnAccount)) return !is_root || !runtime.options.has_root_budget;
    if (is_root) return false;
  }
}

}  // namespace janus
