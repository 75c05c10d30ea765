// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/authority.h — may this task do that? The one place that answers it, by kinship, by the walls of cages and
// by grants. docs/security.md has the table of what each call asks. docs/decisions/0161, 0204
//
// Threads outside tasks belong to the host, and may do everything; the callers handle them.
#pragma once

#include "rt/base/errors.h"
#include "rt/budget/accounts.h"
#include "rt/task/record/nursery.h"
#include "rt/task/record/task.h"
#include "rt/task/wait/ancestry.h"

namespace janus {

// Whether the running task may spawn into that nursery, cancel, close or read it: the task is at or below the owner,
// and the nursery is in its cage, that is, on the task's account or one below.
[[nodiscard]] inline bool may_use(const Task& self, const Nursery& nursery) noexcept {
  return is_at_or_below(self, nursery) &&
         (nursery.account == self.account || is_far_below(nursery.account, self.account));
}

// Whether that nursery is the task's to await and destroy.
[[nodiscard]] inline bool does_own(const Task* self, const Nursery& nursery) noexcept {
  return nursery.owner.load(std::memory_order_relaxed) == self;
}

// Whether the running task may have the result of `task`, which is of its runtime, and release its handle.
[[nodiscard]] inline bool may_have_result(const Task& self, const Task& task) noexcept {
  return &self == &task || is_at_or_below(self, *task.nursery);
}

// Why `account` cannot pay for one of `component`: it has used up what it was granted, or was granted none.
[[nodiscard]] inline int why_not_paid(const Accounts& accounts, const Account* account, Component component) noexcept {
  return accounts.granted(account, component) ? kErrorBudget : kErrorNoCap;
}

// Whether the task may end the process: only outside cages.
[[nodiscard]] bool may_end_process(const Task& self) noexcept;

// Whether the task may draw more for itself on the account that it shares. With a budget of its own, it gets more only if a
// task above recharges it.
[[nodiscard]] inline bool may_recharge_itself(const Task& self) noexcept {
  return !self.has(TaskFlags::kOwnAccount);
}

}  // namespace janus
