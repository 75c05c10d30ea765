// SPDX-License-Identifier: Apache-2.0
// rt/task/account/exhaustion.h — tasks that wait for more of their budget: for a recharge, or for what others give back. They
// queue at the account that a recharge of their nursery reaches, in the order in which they ran dry. A task with a
// budget of its own draws on what that account was recharged with, and on nothing else of it. docs/decisions/0298
//
// INVARIANT recharge-in-order: the task that ran dry first is served first, of each component, as far as it goes; a
// task that is not served goes on waiting. What is handed out is drawn for the waiter under the queue's lock, so that
// no other task draws it first.
#pragma once

#include "rt/task/record/runtime.h"

namespace janus {

enum class Recharge : std::uint8_t {
  kDrawn,      // the amount was drawn for the task
  kCancelled,  // the task was told to end
  kNever,      // no recharge can ever come, or there is no stack to wait on
};
// Serves the tasks that wait for `account`, which may have more than before. `worker` nullptr: from outside.
void serve_exhausted(Runtime& runtime, Worker* worker, Account* account) noexcept;

// The rest is called through the runtime, so that programs in which no budget is ever given do not carry it.
struct BudgetWaits {
  Recharge (*wait)(Task& task, Component component, std::uint64_t amount) noexcept;
  // Serves those that wait for accounts into which something came without a recharge (no-lost-return).
  void (*serve_unserved)(Runtime& runtime, Worker* worker) noexcept;
  // No task can run that could recharge another: serves those for whom there is enough; or else
  // ends the wait of one or some at each account, whose end may leave enough for others. True: somebody goes on.
  bool (*fail_unrechargeable)(Runtime& runtime, Worker* worker) noexcept;
};
extern const BudgetWaits kBudgetWaits;
// Called before the first account below the root's is opened. Any thread.
inline void let_wait_for_budgets(Runtime& runtime) noexcept {
  runtime.budget_waits.store(&kBudgetWaits, std::memory_order_relaxed);
}

}  // namespace janus
