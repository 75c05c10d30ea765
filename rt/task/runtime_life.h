// SPDX-License-Identifier: Apache-2.0
// rt/task/runtime_life.h — a runtime's beginning and end, and the roots that run in it.
#pragma once

#include "rt/task/runtime.h"

namespace janus {

inline constexpr std::uint8_t kRootStackClass = 7;  // a root's stack is 1 MiB

// Made in pages of its own. nullptr: *error is a JANUS_E_*, nothing is left behind.
Runtime* create_runtime(const RuntimeOptions& options, int* error) noexcept;
// From outside its workers. What still runs is cancelled and awaited, however long that takes, since it may use
// whatever the caller gave it; once the grace is over, a line says so.
void destroy_runtime(Runtime* runtime) noexcept;

// Runs fn(arg) as a root task and waits for it; from a thread that is none of its workers.
std::int64_t run_root(Runtime& runtime, TaskFn fn, void* arg, std::uint8_t stack_class) noexcept;
// The same for the calling thread as worker 0 (options.with_caller); stops the workers when it returns. False: there is
// no memory or are no threads for it, which has been said.
[[nodiscard]] bool run_root_here(Runtime& runtime, TaskFn fn, void* arg, std::uint8_t stack_class,
                                 std::int64_t& result) noexcept;

}  // namespace janus
