// SPDX-License-Identifier: Apache-2.0
// rt/abi/entry/global_runtime.h — the process's own runtime. Only global_runtime.cpp accesses the variable for it.
#pragma once

#include "rt/task/record/runtime.h"

namespace janus {

// nullptr: there is none (yet).
Runtime* process_runtime() noexcept;
void set_process_runtime(Runtime* runtime) noexcept;
// Returns the process's runtime, and sets it to none.
Runtime* take_process_runtime() noexcept;
// Sets the process's runtime to none if it is `runtime`.
void forget_process_runtime(Runtime* runtime) noexcept;
// Marks this process as a program that janus-cc linked: its runtime begins and ends with the process.
void mark_as_program() noexcept;
[[nodiscard]] bool is_own_program() noexcept;
extern bool every_thread_is_worker;  // set by mark_as_program, before there is a second thread

}  // namespace janus
