// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/confinement.cpp — what is asked of tokens (authority.h). Linked into programs that have some
// (rt/optional.h). docs/decisions/0340
#include "rt/task/record/runtime.h"
#include "rt/task/wait/authority.h"

namespace janus {

namespace {

// nullptr, the token without rights, is below each.
bool is_at_or_below(const Cap* cap, const Cap* other) noexcept {
  if (cap == nullptr) return true;
  while (cap != nullptr && cap != other) cap = parent_of(*cap);
  return cap != nullptr;
}

}  // namespace

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

bool is_in_force(const Runtime& runtime, Cap& cap) noexcept {
  unsigned steps = 0;
  const bool is = cap.life.is_in_force(runtime.revoke_epoch, steps);
  if (Worker* const worker = steps != 0 ? worker_of(runtime) : nullptr)
    take_fuel_unchecked(*worker, steps / price::kStepsPerOp);
  return is;
}

bool is_cap_in_force(const Runtime& runtime, Cap& cap) noexcept {
  return is_in_force(runtime, cap);
}

bool may_have_child(const Nursery& nursery, const Confinement* within, Cap* own) noexcept {
  const Runtime& runtime = *nursery.runtime;
  if (within != nullptr && !is_at_or_below(nursery.cap, within->cap)) return false;
  return does_give(runtime, nursery.cap, Right::kSpawn) || does_give(runtime, own, Right::kSpawn);
}

}  // namespace janus
