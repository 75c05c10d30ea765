// SPDX-License-Identifier: Apache-2.0
// rt/task/panic.h — the end of a task by force, and what is said of it.
#pragma once

#include <arch/worker_slot.h>
#include "rt/platform.h"
#include "rt/task/task.h"

namespace janus {

inline constexpr char kGraceIsGone[] = "it was cancelled, and has used up its grace";
[[noreturn]] void panic(Task& task, const char* why) noexcept;
[[noreturn]] void end_for_budget(Task& task) noexcept;
// A copy of its memory has failed (rt/task/user_memory.h): as if it had touched that itself.
[[noreturn]] void panic_for_access(Task& task, bool has_address, std::uint64_t address) noexcept;

void report_panic(const Task& task, const char* why, const platform::Fault* fault) noexcept;
bool contain_fault(platform::Fault& fault) noexcept;

// Panics when too little of the stack is left for code of ours, or when something ran over the end of a stack that no
// guard page ends, before that code has taken anything.
void look_at_stack(Worker& worker) noexcept;
inline void require_stack(Worker& worker) noexcept {
  if (arch::stack_pointer() < reinterpret_cast<std::uintptr_t>(worker.stack_limit)) [[unlikely]]
    look_at_stack(worker);
}

}  // namespace janus
