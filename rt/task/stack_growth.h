// SPDX-License-Identifier: Apache-2.0
// rt/task/stack_growth.h — the stack of the running task becomes larger as it is used, and who pays for it.
//
// INVARIANT same-depth: a task may use so much of a stack from where it begins, on a stack of its own or on that of who
// waits for it, and overflows there, whatever runs beside it: its class's size or RuntimeOptions::stack_max, whichever
// is more. Nothing that a task has grown is there for the next one, and a parent that has been deeper than its children
// may go gives back what it has grown before one of them begins where it stands.
//
// Up to its class's size a stack is paid for before anybody stands on it (rt/mem/stack_pool.h, rt/task/records.h), and
// growing costs nothing: programs that need no more behave the same where stacks do not grow at all. What lies beyond
// is charged to the account of the task that grows into it, until that ends.
#pragma once

#include "rt/platform.h"
#include "rt/task/runtime.h"
#include "rt/task/task.h"

namespace janus {

enum class Growth : std::uint8_t {
  kGrown,
  kAtMost,   // it has all that it may have
  kUnpaid,   // its account has no memory for more
  kRefused,  // the machine
};

// What the running task may use of its stack. Where sizes are fixed, what it was promised.
[[nodiscard]] std::size_t most_stack_of(const Runtime& runtime, const Task& task) noexcept;
// And what it has of that now.
[[nodiscard]] std::size_t stack_now_of(const Worker& worker, const Task& task) noexcept;

// After a fault where the running task holds nothing of ours: whether it touched its stack where that may grow, and
// what became of it. kAtMost also where growing is no answer.
[[nodiscard]] Growth grow_for_fault(Worker& worker, Task& task, const platform::Fault& fault) noexcept;
// Of the stack that we stand on there is usable what a child needs to begin, and no more than `most`.
[[nodiscard]] inline bool has_room_for_children(Worker& worker, std::size_t most) noexcept {
  const std::uint64_t room = arch::stack_pointer() - address_of(worker.stack->limit);
  return room >= Scheduler::kStackReserve + kMinStackBytes && room <= most;
}
// Makes it so, where the running task stands and the stack's class has room for them. What it has grown itself beyond
// `most` is given back. False: the machine refuses them the room.
[[nodiscard]] bool make_room_for_children(Worker& worker, Task& task, std::size_t most) noexcept;

// The worker's word for the stack that it stands on, if that may have grown: what is below the class's size stays out
// of the fast path's sight, since it is not for children; and so does a stack with more than a child may have.
void tell_limit(Worker& worker) noexcept;

// At the end of a task that has grown its stack (TaskMarks::kHasGrown), which it stands on.
void give_back_growth(Worker& worker, Task& task) noexcept;

// "stack overflow", and why it is one.
[[nodiscard]] const char* overflow_cause(Growth growth) noexcept;

}  // namespace janus
