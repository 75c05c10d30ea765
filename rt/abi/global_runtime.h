// SPDX-License-Identifier: Apache-2.0
// rt/abi/global_runtime.h — which runtime is the process's own. Only global_runtime.cpp names the global.
#pragma once

#include "rt/task/runtime.h"

namespace janus {

// nullptr: there is none (yet).
Runtime* process_runtime() noexcept;
void set_process_runtime(Runtime* runtime) noexcept;
// There is none from now on; the one that there was.
Runtime* take_process_runtime() noexcept;
// There is none from now on, if it is that one.
void forget_process_runtime(Runtime* runtime) noexcept;
// This process is a program of ours: its runtime begins and ends with it.
void mark_as_program() noexcept;
[[nodiscard]] bool is_own_program() noexcept;
extern bool every_thread_is_worker;  // set by mark_as_program, before there is a second thread

}  // namespace janus
