// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/authority.cpp — what takes a walk to answer, where there may be no tokens.
#include "rt/task/wait/authority.h"

#include "rt/task/record/runtime.h"

namespace janus {

namespace {

// Whether an explicit budget is between the task and the root account, other than the budget of the whole runtime
// (root_budget).
bool is_below_explicit_budget(const Task& task) noexcept {
  if (!task.is_caged()) return false;
  const Runtime& runtime = *task.nursery->runtime;
  const Nursery* nursery = task.nursery;
  for (const Task* up = &task;; up = nursery->owner.load(std::memory_order_relaxed), nursery = up->nursery) {
    if (nursery->traits.owns_account) return true;
    const bool is_root = nursery->owner.load(std::memory_order_relaxed) == nullptr;
    if (up->has(TaskFlags::kOwnAccount)) return !is_root || !runtime.options.has_root_budget;
    if (is_root) return false;
  }
}

}  // namespace

bool is_permitted(const Task& self, Right right) noexcept {
  const Confinement to = confinement_of(self);
  return !to.is_confined || does_give(*self.nursery->runtime, to.cap, right);
}

bool is_permitted_in_cage(const Task& self, Right right) noexcept {
  if (!confinement_of(self).is_confined) return !is_below_explicit_budget(self);
  return is_permitted(self, right) && has_cap_in_cage(self);
}

std::uint8_t implicit_rights_of(const Task& self) noexcept {
  return is_below_explicit_budget(self) ? kAllRights & ~kRightsOutsideCages : kAllRights;
}

bool may_end_process(const Task& self) noexcept {
  return is_permitted_in_cage(self, Right::kExit);
}

}  // namespace janus
