// SPDX-License-Identifier: Apache-2.0
// rt/task/own_fault.h — faults that are the runtime's own: with the instruction pointer in its text, where no copy of
// user memory was under way. Nobody knows what is held then and half done, so the process ends.
#pragma once

#include "rt/platform.h"
#include "rt/sched/worker.h"

namespace janus {

// Where the runtime's text lies the linker tells (linker/runtime-text.ld); without that nothing is known to be our own.
// What a task's own stack has to do with is the task's: an overflow, a stack pointer that points elsewhere.
bool is_runtimes_own(const platform::Fault& fault, Worker& worker) noexcept;

// Says what it can, and ends the process as platform::abort() does. In the fault handler; `cause` as in a panic.
[[noreturn]] void end_for_own_fault(const platform::Fault& fault, Worker& worker, const char* cause) noexcept;

}  // namespace janus
