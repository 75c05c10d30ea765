// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/ancestry.h — ancestors and descendants of tasks. A walk up from the running task needs no lock: no
// ancestor ends before that task does, since each awaits its nurseries.
// docs/decisions/0161, 0204
#pragma once

#include "rt/task/record/nursery.h"
#include "rt/task/record/price.h"
#include "rt/task/record/task.h"
#include "rt/task/wait/slice.h"

namespace janus {

// A walk up the tree, for each step of which the running task pays, since tasks decide how deep the tree is.
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

// The slow paths of is_at_or_below(), and of may_use() in authority.h.
[[nodiscard]] bool is_far_below(const Task& self, const Nursery& nursery) noexcept;
[[nodiscard]] bool is_far_below(const Account* account, const Account* other) noexcept;

// Whether the running task is the owner of `nursery` or a descendant of the owner, and so may use, for example, the
// results of the nursery's children: mostly two comparisons, else a walk up to the root. The descendants of an owner
// that is a thread outside tasks are the nursery's children and their descendants.
[[nodiscard]] inline bool is_at_or_below(const Task& self, const Nursery& nursery) noexcept {
  return nursery.owner.load(std::memory_order_relaxed) == &self || self.nursery == &nursery ||
         is_far_below(self, nursery);
}

// The nursery whose exhaustion policy applies to the task's account; nullptr: it is the root's account, which no task
// can recharge.
[[nodiscard]] const Nursery* policy_owner_of(const Task& task) noexcept;
// Whether the task ends when its account is exhausted (JANUS_ON_EXHAUSTION_FAIL).
[[nodiscard]] bool does_fail_rule(const Task& task) noexcept;

// Whether `task` is `self`, the running task, or an ancestor of it, which has to wait for its end.
[[nodiscard]] bool is_at_or_above(const Task& task, const Task& self) noexcept;

}  // namespace janus
