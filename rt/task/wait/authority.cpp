// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/authority.cpp — what takes a walk to answer.
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

// Whether a token was presented in the cage of the task, or at its wall, or if there is no cage around it.
bool was_given_cap_in_cage(const Task& self) noexcept {
  const Runtime& runtime = *self.nursery->runtime;
  PaidWalk walk;
  for (const Task* up = &self;; walk.step()) {
    const Nursery& in = *up->nursery;
    const Task* const owner = in.owner.load(std::memory_order_relaxed);
    if (up == &self && up->is_marked(TaskMarks::kHasContext) && up->frame->details.cap != nullptr) return true;
    const bool is_root = owner == nullptr;
    if (up->has(TaskFlags::kOwnAccount)) return is_root && runtime.options.has_root_budget;
    if (in.traits.was_given_cap) return true;
    if (in.traits.owns_account) return false;
    if (is_root) return true;
    up = owner;
  }
}

// nullptr, the token without rights, is below each.
bool is_at_or_below(const Cap* cap, const Cap* other) noexcept {
  if (cap == nullptr) return true;
  while (cap != nullptr && cap != other) cap = parent_of(*cap);
  return cap != nullptr;
}

}  // namespace

bool is_in_force(const Runtime& runtime, Cap& cap) noexcept {
  unsigned steps = 0;
  const bool is = cap.life.is_in_force(runtime.revoke_epoch, steps);
  if (Worker* const worker = steps != 0 ? worker_of(runtime) : nullptr)
    take_fuel_unchecked(*worker, steps / price::kStepsPerOp);
  return is;
}

bool is_permitted(const Task& self, Right right) noexcept {
  const Confinement to = confinement_of(self);
  return !to.is_confined || does_give(*self.nursery->runtime, to.cap, right);
}

bool is_permitted_in_cage(const Task& self, Right right) noexcept {
  if (!confinement_of(self).is_confined) return !is_below_explicit_budget(self);
  return is_permitted(self, right) && was_given_cap_in_cage(self);
}

std::uint8_t implicit_rights_of(const Task& self) noexcept {
  return is_below_explicit_budget(self) ? kAllRights & ~kRightsOutsideCages : kAllRights;
}

bool may_have_child(const Nursery& nursery, const Confinement* within, Cap* own) noexcept {
  const Runtime& runtime = *nursery.runtime;
  if (within != nullptr && !is_at_or_below(nursery.cap, within->cap)) return false;
  return does_give(runtime, nursery.cap, Right::kSpawn) || does_give(runtime, own, Right::kSpawn);
}

bool may_end_process(const Task& self) noexcept {
  return is_permitted_in_cage(self, Right::kExit);
}

}  // namespace janus
