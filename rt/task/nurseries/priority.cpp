// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/priority.cpp — see priority.h. Linked into programs that spawn with options only (rt/optional.h).
#include "rt/task/nurseries/priority.h"

#include "rt/task/record/runtime.h"

namespace janus {

void give_priority(Task& task, std::uint32_t number) noexcept {
  const auto priority = static_cast<Priority>(number);
  GroupTable& groups = task.nursery->runtime->scheduler.dispatcher().group_table();
  if (priority != Priority::kNormal && groups.make_priorities(task.group))
    task.group = group_with(task.group, priority);
}

void begin_turn_again(const Task& self) noexcept {
  Scheduler::begin_slice_of_group(current_worker(), self.group);
}

}  // namespace janus
