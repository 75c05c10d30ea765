// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/priority.h — tasks that are spawned with another priority than the normal one (rt/sched/priority.h).
#pragma once

#include "rt/optional.h"
#include "rt/sched/priority.h"
#include "rt/task/record/nursery.h"

namespace janus {

// The priority with that number in the ABI, which is one of them. Linked with the function below.
[[nodiscard]] Priority priority_of(std::uint32_t number) noexcept;
// Makes room for tasks with a priority that `account` pays for. False: no memory; then the spawn into the nursery, which was
// paid for, is refunded.
[[nodiscard, JANUS_OPTIONAL]] bool make_room_for_priority(Nursery& nursery, Account* account,
                                                          std::uint8_t stack_class) noexcept;

}  // namespace janus
