// SPDX-License-Identifier: Apache-2.0
// rt/task/account/exhaustion.h — tasks that wait for more of their budget: for a recharge, or for what others give back.
// docs/decisions/0298
//
// A waiting task queues at the account that a recharge of its nursery reaches, in the order in which tasks ran dry. A task
// with its own budget draws on what that account was recharged with, and on nothing else of it.
//
// INVARIANT recharge-in-order: of each component, the task that ran dry first is served first, as far as the amount goes;
// a task that is not served goes on waiting. An amount is drawn for the waiter under the queue's lock, so that no other
// task draws it first.
//
// INVARIANT no-wait-without-hope: a wait ends when it is served or its task is cancelled. When every task of the runtime
// waits, the later half of the waits in each queue ends, rounded down but at least one, and the earlier half stays, since
// what the ended tasks leave may be enough for it. Waits below a nursery that its opener does not await end last, or, if a
// thread outside has opened it, not at all. A round that ends waits walks
// the queues and ends at least a third of those that may end, so that each ended wait costs constant work.
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

// Called through the runtime, so that a program that never gives a budget does not link it.
struct BudgetWaits {
  Recharge (*wait)(Task& task, Component component, std::uint64_t amount) noexcept;
  // Serves the waits at accounts into which something came without a recharge (no-lost-return).
  void (*serve_unserved)(Runtime& runtime, Worker* worker) noexcept;
  // Called when every task waits: serves the waits for which there is enough, or else ends waits (no-wait-without-hope).
  // True: a task goes on.
  bool (*fail_unrechargeable)(Runtime& runtime, Worker* worker) noexcept;
};
extern const BudgetWaits kBudgetWaits;
// Called before the first account below the root's is opened. Any thread.
inline void let_wait_for_budgets(Runtime& runtime) noexcept {
  runtime.budget_waits.store(&kBudgetWaits, std::memory_order_relaxed);
}

}  // namespace janus
