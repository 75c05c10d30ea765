// SPDX-License-Identifier: Apache-2.0
// rt/task/kinship.h — who is below whom. A task is below a nursery's owner if it is the owner, or a child of the
// nursery, or below one. Of the caller's ancestors nobody can end meanwhile: each awaits its nurseries.
#pragma once

#include "rt/task/nursery.h"
#include "rt/task/task.h"

namespace janus {

// Whether the running task may use what belongs to the owner of `nursery` and to those below it, its children's results
// among that: mostly two comparisons, else a walk up to the root. Below a thread outside tasks, which owns a nursery
// too, are that nursery's children and those below them.
inline bool is_at_or_below(const Task& self, const Nursery& nursery) noexcept {
  const Task* const owner = nursery.owner.load(std::memory_order_relaxed);
  for (const Task* task = &self; task != nullptr; task = task->nursery->owner.load(std::memory_order_relaxed)) {
    if (task == owner || task->nursery == &nursery) return true;
  }
  return false;
}

// Whether the running task may spawn into that nursery, cancel, close or read it: it is at or below its owner, and no
// wall of a cage stands between them. A cage's tasks name what lives on their own account, or on one below it, and
// nothing outside.
inline bool may_use(const Task& self, const Nursery& nursery) noexcept {
  if (!is_at_or_below(self, nursery)) return false;
  const Account* account = nursery.account;
  while (account != nullptr && account != self.account) account = account->parent();
  return account != nullptr;
}

}  // namespace janus
