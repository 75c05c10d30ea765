// SPDX-License-Identifier: Apache-2.0
// rt/task/report/runtime_fault.h — faults that are the runtime's own: the instruction pointer is in its text, and no copy of user
// memory was under way. What is held then, and half done, is unknown, so the process ends. docs/decisions/0136
#pragma once

#include "rt/platform.h"
#include "rt/sched/worker.h"

namespace janus {

// The linker script tells where the runtime's text lies (linker/runtime-text.ld); without it no fault counts as the
// runtime's own. A fault that comes from the task's stack is the task's: an overflow, a stack pointer that points
// elsewhere.
bool is_runtimes_own(const platform::Fault& fault, Worker& worker) noexcept;

// Reports what it can, and ends the process as platform::abort() does. In the fault handler; `cause` as in a panic.
[[noreturn]] void end_for_runtime_fault(const platform::Fault& fault, Worker& worker, const char* cause) noexcept;

}  // namespace janus
