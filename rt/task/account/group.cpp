// SPDX-License-Identifier: Apache-2.0
#include "rt/task/account/group.h"

#include "rt/task/record/runtime.h"
#include "rt/task/wait/ancestry.h"

namespace janus {

const Account* group_of(const Task* task) noexcept {
  if (task == nullptr || !task->is_caged()) return nullptr;
  const Runtime& runtime = *task->nursery->runtime;
  const Account* outermost = task->account;
  const Account* below_it = nullptr;
  for (PaidWalk walk; outermost->parent() != runtime.root_account; walk.step()) {
    below_it = outermost;
    outermost = outermost->parent();
  }
  return runtime.options.has_root_budget ? below_it : outermost;
}

}  // namespace janus
