// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/ancestry.cpp — walks up the tree of tasks.
#include "rt/task/wait/ancestry.h"

namespace janus {

[[gnu::noinline]] bool is_far_below(const Task& self, const Nursery& nursery) noexcept {
  const Task* const owner = nursery.owner.load(std::memory_order_relaxed);
  PaidWalk walk;
  for (const Task* task = &self; task != nullptr; task = task->nursery->owner.load(std::memory_order_relaxed)) {
    if (task == owner || task->nursery == &nursery) return true;
    walk.step();
  }
  return false;
}

[[gnu::noinline]] bool is_far_below(const Account* account, const Account* other) noexcept {
  PaidWalk walk;
  for (; account != nullptr && account != other; account = account->parent()) walk.step();
  return account != nullptr;
}

bool is_at_or_above(const Task& task, const Task& self) noexcept {
  if (task.nursery->owner.load(std::memory_order_relaxed) == &self) return false;  // a child: the usual case
  PaidWalk walk;
  for (const Task* up = &self; up != nullptr; up = up->nursery->owner.load(std::memory_order_relaxed)) {
    if (up == &task) return true;
    walk.step();
  }
  return false;
}

[[gnu::cold]] const Nursery* policy_owner_of(const Task& task) noexcept {
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

[[gnu::cold]] bool does_fail_rule(const Task& task) noexcept {
  const Nursery* const owner = policy_owner_of(task);
  return owner != nullptr && owner->traits.on_exhaustion == ExhaustionPolicy::kFail;
}

}  // namespace janus
