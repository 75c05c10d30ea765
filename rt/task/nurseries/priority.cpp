// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/priority.cpp — see priority.h. Linked into programs that spawn with options only (rt/optional.h).
#include "rt/task/nurseries/priority.h"

#include "rt/task/record/runtime.h"
#include "rt/task/wait/records.h"

namespace janus {

Priority priority_of(std::uint32_t number) noexcept {
  return static_cast<Priority>(number);
}

bool make_room_for_priority(Nursery& nursery, Account* account, std::uint8_t stack_class) noexcept {
  Runtime& runtime = *nursery.runtime;
  const std::uint32_t cage = account != runtime.root_account ? account->index() : 0;
  if (runtime.scheduler.dispatcher().group_table().make_priorities(cage)) return true;
  refund_spawn(nursery, account, stack_class);
  return false;
}

}  // namespace janus
