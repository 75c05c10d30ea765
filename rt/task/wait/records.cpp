// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/records.cpp — charges records.
#include "rt/task/wait/records.h"

#include "rt/task/record/why.h"
#include "rt/task/wait/authority.h"

namespace janus {

std::uint64_t bytes_of_task(std::uint8_t stack_class) noexcept {
  return sizeof(Task) + stack_class_bytes(stack_class);
}

[[gnu::cold]] bool pay_for_record(Runtime& runtime, Account* payer, std::uint64_t bytes) noexcept {
  if (payer == runtime.root_account) return true;
  if (!runtime.accounts.draw(payer, Component::kMemory, bytes)) return false;
  runtime.pool_charge.prepay(bytes);
  return true;
}

[[gnu::cold]] void refund_record(Runtime& runtime, Account* payer, std::uint64_t bytes) noexcept {
  if (payer == runtime.root_account) return;
  runtime.pool_charge.end_prepayment(bytes);
  runtime.accounts.credit(payer, Component::kMemory, bytes);
}

[[gnu::cold]] OrError<Account*> open_account(Runtime& runtime, Account* parent, const Amounts& wanted,
                                             std::uint64_t hold_ns) noexcept {
  if (parent->depth() >= kMaxBudgetsAbove) return Failed{with_why(kErrorBudget, Why::kBudgetsTooDeep)};
  Component short_of{};
  Account* account = runtime.accounts.open(parent, wanted, &short_of);
  if (account == nullptr && short_of == Component::kMemory && parent == runtime.root_account &&
      runtime.pool_charge.reclaim())
    account = runtime.accounts.open(parent, wanted, &short_of);
  if (account == nullptr) return Failed{with_why(kErrorBudget, why_short_of(short_of))};
  const std::uint32_t above = parent != runtime.root_account ? parent->index() : 0;
  Dispatcher& dispatcher = runtime.scheduler.dispatcher();
  if (!dispatcher.add_group(account->index(), above)) {
    runtime.accounts.close(account);
    return Failed{kErrorNoMemory};
  }
  if (const TurnWatch* const watch = dispatcher.turn_meter().watch())
    watch->limit(dispatcher.group_table(), account->index(), above, hold_ns);
  return account;
}

[[gnu::noinline, gnu::cold]] OrError<void*> alloc_under_pressure(Runtime& runtime, Slab& slab, SlabCache* cache,
                                                                 bool has_paid) noexcept {
  constexpr std::uint64_t kAtLeast = 65536;  // less than a batch of any pool
  void* record = runtime.pool_charge.reclaim() ? slab.take(cache) : nullptr;
  if (record == nullptr && has_paid) record = slab.alloc_prepaid(cache);
  if (record != nullptr) return record;
  const bool is_dry = runtime.accounts.left(runtime.root_account, Component::kMemory) < kAtLeast;
  return Failed{is_dry ? with_why(kErrorBudget, Why::kMemory) : kErrorNoMemory};
}

[[gnu::noinline, gnu::cold]] OrError<Account*> pay_for_spawn(Nursery& nursery, std::uint8_t stack_class,
                                                             const Amounts* budget) noexcept {
  Accounts& accounts = nursery.runtime->accounts;
  Account* const payer = nursery.account;
  if (!accounts.draw(payer, Component::kSpawns, 1)) {
    return Failed{with_why(why_not_paid(accounts, payer, Component::kSpawns), Why::kSpawnCount)};
  }
  if (!pay_for_record(*nursery.runtime, payer, bytes_of_task(stack_class))) {
    accounts.credit(payer, Component::kSpawns, 1);
    return Failed{with_why(kErrorBudget, Why::kMemory)};
  }
  if (budget == nullptr) return payer;
  // The root task's budget is no cage.
  const OrError<Account*> own =
      open_account(*nursery.runtime, payer, *budget, nursery.traits.is_root ? platform::kForever : 0);
  if (own) return own;
  refund_record(*nursery.runtime, payer, bytes_of_task(stack_class));
  accounts.credit(payer, Component::kSpawns, 1);
  return own;
}

[[gnu::noinline, gnu::cold]] void refund_spawn(Nursery& nursery, Account* account, std::uint8_t stack_class) noexcept {
  Accounts& accounts = nursery.runtime->accounts;
  const Account* const root = nursery.runtime->root_account;
  Account* const payer = nursery.account;
  if (account == root) return;
  if (account != payer) accounts.close(account);
  refund_record(*nursery.runtime, payer, bytes_of_task(stack_class));
  accounts.credit(payer, Component::kSpawns, 1);
}

}  // namespace janus
