// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/ancestry.h — which task is below which. A task is below a nursery's owner if it is the owner, or a child of
// the nursery, or below such a child. None of the caller's ancestors can end meanwhile: each awaits its nurseries.
// docs/decisions/0161, 0204
#pragma once

#include "rt/task/record/nursery.h"
#include "rt/task/record/price.h"
#include "rt/task/record/task.h"
#include "rt/task/wait/slice.h"

namespace janus {

// A walk up the tree is as long as the caller made the tree deep, so the running task pays for each step.
class PaidWalk {
 public:
  PaidWalk() noexcept = default;
  ~PaidWalk() { take_fuel_unchecked(current_worker(), steps_ / price::kStepsPerOp); }
  PaidWalk(const PaidWalk&) = delete;
  PaidWalk& operator=(const PaidWalk&) = delete;
  void step() noexcept { ++steps_; }

 private:
  unsigned steps_ = 0;
};

// The slow paths of is_at_or_below() and may_use().
[[nodiscard]] bool is_far_below(const Task& self, const Nursery& nursery) noexcept;
[[nodiscard]] bool is_far_below(const Account* account, const Account* other) noexcept;

// Whether the running task may use what belongs to the owner of `nursery` and to the tasks below it, such as its
// children's results: mostly two comparisons, else a walk up to the root. Where a thread outside tasks owns the
// nursery, the tasks below it are the nursery's children and those below them.
[[nodiscard]] inline bool is_at_or_below(const Task& self, const Nursery& nursery) noexcept {
  return nursery.owner.load(std::memory_order_relaxed) == &self || self.nursery == &nursery ||
         is_far_below(self, nursery);
}

// Whether the running task may spawn into that nursery, cancel, close or read it: it is at or below the owner, and the
// nursery is in the task's cage, that is, on the task's own account or on one below it.
[[nodiscard]] inline bool may_use(const Task& self, const Nursery& nursery) noexcept {
  return is_at_or_below(self, nursery) &&
         (nursery.account == self.account || is_far_below(nursery.account, self.account));
}

// The nursery whose exhaustion policy rules the task's account; nullptr: the account is the root's own, which no task
// could recharge.
[[nodiscard]] const Nursery* policy_owner_of(const Task& task) noexcept;
// Whether the task ends when its account lacks something.
[[nodiscard]] bool does_fail_rule(const Task& task) noexcept;

// Whether `task` is `self`, the running one, or an ancestor of it, which has to wait for its end.
[[nodiscard]] bool is_at_or_above(const Task& task, const Task& self) noexcept;

}  // namespace janus
