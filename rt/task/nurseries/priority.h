// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/priority.h — tasks that are spawned with another priority than the normal one (rt/sched/priority.h).
#pragma once

#include "rt/optional.h"
#include "rt/sched/priority.h"
#include "rt/task/record/nursery.h"
#include "rt/task/record/task.h"

namespace janus {

// What a spawn with options comes to, once it has paid.
struct PaidSpawn {
  Account* account;  // the child's; nullptr: refused
  int answer;        // its further flags; or the error
};
// Beside TaskFlags, in `answer`.
inline constexpr int kHasPriority = 512;

// The priority with that number in the ABI, which is one of them. Linked with the functions below.
[[nodiscard]] Priority priority_of(std::uint32_t number) noexcept;
// For a spawn into the nursery that was paid for: makes room for tasks with a priority that the account pays for, and sets the
// flag. If there is no memory, refunds the spawn.
[[nodiscard, JANUS_OPTIONAL]] PaidSpawn make_room_for_priority(Nursery& nursery, std::uint8_t stack_class,
                                                               PaidSpawn paid) noexcept;
// The running task, which has a priority, goes on after others have run in its place.
[[JANUS_OPTIONAL]] void begin_turn_again(const Task& self) noexcept;

}  // namespace janus
