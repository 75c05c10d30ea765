// SPDX-License-Identifier: Apache-2.0
// rt/task/stacks/stack_growth.h — makes the stack of the running task larger as it is used, and charges for it.
// docs/decisions/0255
//
// INVARIANT same-depth: a task may use a fixed amount of stack, counted from where it begins: its class's size or
// RuntimeOptions::stack_max, whichever is more. Beyond that it overflows. This is the same on a stack of its own and on
// the stack of the task that waits for it, whatever other tasks do. Growth is undone when the task ends. Before a child
// runs on its parent's stack, the parent shrinks the stack to the child's limit.
//
// Up to its class's size a stack is paid for before a task runs on it (rt/mem/stack_pool.h, rt/task/wait/records.h),
// and growth draws no memory: programs that need no more behave the same where stacks do not grow at all. Growth beyond
// that is charged to the account of the task until it ends.
#pragma once

#include "rt/platform.h"
#include "rt/task/record/runtime.h"
#include "rt/task/record/task.h"

namespace janus {

enum class Growth : std::uint8_t {
  kGrown,
  kAtMost,   // the task already has the most that it may have
  kUnpaid,   // the account has no memory for more
  kRefused,  // the machine refused
};

// The most bytes of stack that the running task may use; its class's size where sizes are fixed.
[[nodiscard]] std::size_t most_stack_of(const Runtime& runtime, const Task& task) noexcept;
// How many of these bytes its stack has now.
[[nodiscard]] std::size_t stack_now_of(const Worker& worker, const Task& task) noexcept;

// Called after a fault, when the running task holds no lock of the runtime: grows the stack if the task touched a part
// into which it may grow. kAtMost also if growing would not resolve the fault.
[[nodiscard]] Growth grow_for_fault(Worker& worker, Task& task, const platform::Fault& fault) noexcept;
// Whether the present stack has room below the stack pointer for a child to begin, and no more room than `most`.
[[nodiscard]] inline bool has_room_for_children(Worker& worker, std::size_t most) noexcept {
  const std::uint64_t room = arch::stack_pointer() - address_of(worker.stack->limit);
  return room >= Scheduler::kStackReserve + kMinStackBytes && room <= most;
}
// Makes has_room_for_children() true on the running task's stack, whose class has room for a child. Gives back the
// task's own growth beyond `most`. False: the machine refuses the room.
[[nodiscard]] bool make_room_for_children(Worker& worker, Task& task, std::size_t most) noexcept;

// Sets the worker's stack limit for its present stack, if that may have grown. The fast path then does not use the part
// beyond the class's size, which children must not use, and uses no part of a stack that has more room than a child may
// have.
void tell_limit(Worker& worker) noexcept;

// Called at the end of a task that has grown the stack that it stands on (TaskMarks::kHasGrown).
void give_back_growth(Worker& worker, Task& task) noexcept;

// "stack overflow", and the reason for it.
[[nodiscard]] const char* overflow_cause(Growth growth) noexcept;

}  // namespace janus
