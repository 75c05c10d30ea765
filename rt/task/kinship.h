// SPDX-License-Identifier: Apache-2.0
// rt/task/kinship.h — who is below whom. A task is below a nursery's owner if it is the owner, or a child of the
// nursery, or below one. Of the caller's ancestors nobody can end meanwhile: each awaits its nurseries.
#pragma once

#include "rt/task/nursery.h"
#include "rt/task/price.h"
#include "rt/task/slice.h"
#include "rt/task/task.h"

namespace janus {

// A walk up the tree is as long as the caller made the tree deep, so who walks pays for each step.
class PaidWalk {
 public:
  PaidWalk() noexcept = default;
  ~PaidWalk() { take_fuel_unchecked(current_worker(), steps_ / price::kStepsPerOp); }
  PaidWalk(const PaidWalk&) = delete;
  PaidWalk& operator=(const PaidWalk&) = delete;
  void step() noexcept { ++steps_; }

 private:
  std::int64_t steps_ = 0;
};

// The walks of is_at_or_below() and may_use().
[[nodiscard]] bool is_far_below(const Task& self, const Nursery& nursery) noexcept;
[[nodiscard]] bool is_far_below(const Account* account, const Account* other) noexcept;

// Whether the running task may use what belongs to the owner of `nursery` and to those below it, its children's results
// among that: mostly two comparisons, else a walk up to the root. Below a thread outside tasks, which owns a nursery
// too, are that nursery's children and those below them.
[[nodiscard]] inline bool is_at_or_below(const Task& self, const Nursery& nursery) noexcept {
  return nursery.owner.load(std::memory_order_relaxed) == &self || self.nursery == &nursery ||
         is_far_below(self, nursery);
}

// Whether the running task may spawn into that nursery, cancel, close or read it: it is at or below its owner, and no
// wall of a cage stands between them. A cage's tasks name what lives on their own account, or on one below it, and
// nothing outside.
[[nodiscard]] inline bool may_use(const Task& self, const Nursery& nursery) noexcept {
  return is_at_or_below(self, nursery) &&
         (nursery.account == self.account || is_far_below(nursery.account, self.account));
}

// Whose word on exhaustion goes for the task's account; nullptr: the root's own, which nobody could recharge.
[[nodiscard]] const Nursery* policy_owner_of(const Task& task) noexcept;
// Whether what its account lacks ends the task.
[[nodiscard]] bool does_fail_rule(const Task& task) noexcept;

// Whether the task is the running one, or has to wait for its end.
[[nodiscard]] bool is_at_or_above(const Task& task, const Task& self) noexcept;

}  // namespace janus
