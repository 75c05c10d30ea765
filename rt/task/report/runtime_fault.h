// SPDX-License-Identifier: Apache-2.0
// rt/task/report/runtime_fault.h — faults of the runtime itself: the instruction pointer is in its text, but not in a
// copy of user memory. Locks may be held and changes unfinished, so the process ends. docs/decisions/0136
#pragma once

#include "rt/platform.h"
#include "rt/sched/worker.h"

namespace janus {

// The linker script defines the bounds of the runtime's text (linker/runtime-text.ld); without it no fault counts as
// the runtime's. A fault that the task's stack causes is the task's: an overflow, or a bad stack pointer.
bool is_runtimes_own(const platform::Fault& fault, Worker& worker) noexcept;
// The same for a fault on a thread's own stack, by the place of the code alone.
bool is_in_runtime(const platform::Fault& fault) noexcept;

// Whether a thread that was interrupted at any instruction is in the runtime's text, or in a mem* function that the
// runtime calls; and whether it is in the program's own, or in a mem* function that that calls, on the worker's stack.
// Neither: in a library that was loaded, in code that the program has made, on another stack; or nothing is known.
bool is_in_runtime(const platform::Fault& where, const Worker& worker) noexcept;
bool is_in_program(const platform::Fault& where, const Worker& worker) noexcept;

// Called in the fault handler: reports as much as it can, and aborts the process. `cause` as in a panic.
[[noreturn]] void end_for_runtime_fault(const platform::Fault& fault, Worker& worker, const char* cause) noexcept;

}  // namespace janus
