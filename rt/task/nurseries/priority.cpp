// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/priority.cpp — see priority.h. Linked into programs that spawn with options only (rt/optional.h).
#include "rt/task/nurseries/priority.h"

#include "rt/task/record/runtime.h"
#include "rt/task/wait/records.h"

namespace janus {

Priority priority_of(std::uint32_t number) noexcept {
  return static_cast<Priority>(number);
}

PaidSpawn make_room_for_priority(Nursery& nursery, std::uint8_t stack_class, PaidSpawn paid) noexcept {
  Runtime& runtime = *nursery.runtime;
  const std::uint32_t cage = paid.account != runtime.root_account ? paid.account->index() : 0;
  if (runtime.scheduler.dispatcher().group_table().make_priorities(cage))
    return {paid.account, paid.answer | kHasPriority};
  refund_spawn(nursery, paid.account, stack_class);
  return {nullptr, kErrorNoMemory};
}

void begin_turn_again(const Task& self) noexcept {
  Scheduler::begin_slice_of_group(current_worker(), self.group);
}

}  // namespace janus
