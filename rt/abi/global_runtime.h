// SPDX-License-Identifier: Apache-2.0
// rt/abi/global_runtime.h — the process's own runtime. Only process.cpp names the global.
#pragma once

#include "rt/include/janus/rt.h"
#include "rt/task/runtime.h"

namespace janus {

// nullptr: there is none (yet).
Runtime* process_runtime() noexcept;
void set_process_runtime(Runtime* runtime) noexcept;
// If it is that one.
void forget_process_runtime(Runtime* runtime) noexcept;
// The one there is, or a new one by the default settings.
Runtime* process_runtime_or_new() noexcept;
// This process is a program of ours: its runtime begins and ends with it.
void mark_as_program() noexcept;
extern bool every_thread_is_worker;  // set by mark_as_program, before there is a second thread

}  // namespace janus
