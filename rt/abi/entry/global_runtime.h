// SPDX-License-Identifier: Apache-2.0
// rt/abi/entry/global_runtime.h — which runtime is the process's own. Only global_runtime.cpp names the global.
#pragma once

#include "rt/task/record/runtime.h"

namespace janus {

// nullptr: there is none (yet).
Runtime* process_runtime() noexcept;
void set_process_runtime(Runtime* runtime) noexcept;
// Returns the process's runtime; from now on there is none.
Runtime* take_process_runtime() noexcept;
// From now on there is none, if it is that one.
void forget_process_runtime(Runtime* runtime) noexcept;
// Marks this process as a program of ours: its runtime begins and ends with it.
void mark_as_program() noexcept;
[[nodiscard]] bool is_own_program() noexcept;
extern bool every_thread_is_worker;  // set by mark_as_program, before there is a second thread

}  // namespace janus
