// SPDX-License-Identifier: Apache-2.0
// rt/task/record/panic.h — ends the running task by force. Called from lower folders of this layer, but defined in
// the highest (rt/task/run/abort_task.cpp), since a task that ends awaits its nurseries. These calls do not return.
// tests/layers lists them as exceptions.
#pragma once

#include "rt/platform.h"
#include "rt/task/record/task.h"

namespace janus {

// The result of a task that was ended by force.
constexpr std::int64_t code_of(Outcome forced) noexcept {
  return forced == Outcome::kCancelled ? -1 : forced == Outcome::kBudget ? -3 : -2;
}

inline constexpr char kGraceIsGone[] = "it was cancelled, and has used up its grace";
[[noreturn]] void panic(Task& task, Cause cause, const char* why) noexcept;
[[noreturn]] void end_for_budget(Task& task, Component component) noexcept;
// A panic that was reported.
[[noreturn]] void end_as_panicked(Task& task, Cause cause) noexcept;
// Precondition: the task was told to end.
[[noreturn]] void end_as_cancelled(Task& task) noexcept;
// After a failed copy of user memory (rt/task/wait/user_memory.h): ends the task as if it had accessed the memory
// itself.
[[noreturn]] void panic_for_access(Task& task, bool has_address, std::uint64_t address) noexcept;
// Called in the handler of the worker's alarm, which has interrupted the task at an instruction of the program (unlike the
// others, returns): the thread resumes where the task ends. The task pays for the time.
void end_for_overrun(platform::Fault& where, Worker& worker, Task& task, std::uint64_t held_ns) noexcept;

}  // namespace janus
