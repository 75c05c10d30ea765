// SPDX-License-Identifier: Apache-2.0
// rt/task/account/exhaustion.h — tasks that wait for more of their budget: for a recharge, or for returned amounts.
// docs/decisions/0298
//
// A waiting task queues at the account that a recharge of its nursery reaches, in the order in which tasks ran dry. A
// task with its own budget draws on what that account was recharged with, and on nothing else of it.
//
// INVARIANT recharge-in-order: of each component, the task that ran dry first is served first, as far as the amount
// goes; a task that is not served goes on waiting. Under the queue's lock, a recharge adds its amount, and a worker
// that serves the queue draws it for waiters. So no other task draws it first, and one walk sees all of it or none.
//
// INVARIANT no-wait-without-hope, the rule of docs/budgets.md ("When a wait ends"): a wait ends when it is served or
// its task is cancelled. When every task of the runtime waits and none can be served, the later half of the waits in
// each queue ends. Those below a nursery that its opener does not await end last, or, if a thread outside has opened
// it, not at all. A round that ends waits walks the queues and ends at least a third of those that may end.
#pragma once

#include "rt/optional.h"
#include "rt/task/account/turn_limit.h"
#include "rt/task/record/runtime.h"

namespace janus {

// What a task asks for that waits for memory to allocate a block in an account that pays for pages. take_idle_block()
// takes one that became idle in the account meanwhile; false: there is none.
struct BlockRequest;
[[nodiscard, JANUS_OPTIONAL]] bool take_idle_block(BlockRequest& request) noexcept;
// Called when a block of that account has become idle for which nothing is credited. docs/decisions/0353
//
// INVARIANT no-idle-block-missed: a task that waits for memory is offered the idle blocks of its account.
//   free: 1 make the block idle     2 full fence   3 does a task wait? then list the account as unserved
//   wait: 1 enter the queue         2 full fence   3 is a block idle?
// As no-lost-return in rt/budget/account.h, whose queue this is. tests/models/budget_wait_model_test.cpp
inline void offer_idle_block(Accounts& accounts, Account* account) noexcept {
  full_fence();
  accounts.list_if_waiting(account, Component::kMemory);
}

enum class Recharge : std::uint8_t {
  kDrawn,      // the amount was drawn for the task
  kCancelled,  // the task was told to end
  kNever,      // no recharge can ever come, or there is no stack to wait on
};
// Serves the tasks that wait for `account`, which may have more than before. `worker` nullptr: from outside.
void serve_exhausted(Runtime& runtime, Worker* worker, Account* account) noexcept;
// Recharges `account` out of `payer`, and serves the tasks that wait for it. False: `payer` has not so much.
[[nodiscard]] inline bool recharge(Runtime& runtime, Worker* worker, Account* payer, Account* account,
                                   const Amounts& amounts) noexcept {
  {
    LockGuard guard(runtime.accounts.queue(account).lock);  // recharge-in-order
    if (!runtime.accounts.recharge(payer, account, amounts)) return false;
  }
  serve_exhausted(runtime, worker, account);
  return true;
}

// Called through the runtime, so that a program that never gives a budget does not link it.
struct BudgetWaits {
  // `request`: the block for which a task waits for memory whose account pays for pages (cage_pages.h); else nullptr.
  Recharge (*wait)(Task& task, Component component, std::uint64_t amount, BlockRequest* request) noexcept;
  // Serves the waits at accounts into which something came without a recharge (no-lost-return).
  void (*serve_unserved)(Runtime& runtime, Worker* worker) noexcept;
  // Called when every task waits, as `entered` says: serves the waits for which there is enough, or else ends waits
  // (no-wait-without-hope). True: a task goes on.
  bool (*fail_unrechargeable)(Runtime& runtime, Worker* worker, IdleSet::Snapshot entered) noexcept;
};
extern const BudgetWaits kBudgetWaits;
// Called before the first account below the root's is opened. Any thread.
inline void let_wait_for_budgets(Runtime& runtime) noexcept {
  watch_turns(runtime);
  runtime.budget_waits.store(&kBudgetWaits, std::memory_order_relaxed);
}

}  // namespace janus
