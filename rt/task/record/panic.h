// SPDX-License-Identifier: Apache-2.0
// rt/task/record/panic.h — ends the running task by force. Called from everywhere in this layer, and defined at its top
// (rt/task/run/abort_task.cpp), since a task that ends awaits the nurseries that it has opened: these calls point
// upward, and do not return. tests/layers lists them.
#pragma once

#include "rt/task/record/task.h"

namespace janus {

inline constexpr char kGraceIsGone[] = "it was cancelled, and has used up its grace";
[[noreturn]] void panic(Task& task, Cause cause, const char* why) noexcept;
[[noreturn]] void end_for_budget(Task& task, Component component) noexcept;
// A copy of the task's memory has failed (rt/task/wait/user_memory.h): ends as if the task had touched that memory itself.
[[noreturn]] void panic_for_access(Task& task, bool has_address, std::uint64_t address) noexcept;

}  // namespace janus
