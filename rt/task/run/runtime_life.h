// SPDX-License-Identifier: Apache-2.0
// rt/task/run/runtime_life.h — a runtime's beginning and end, and the roots that run in it.
#pragma once

#include "rt/base/or_error.h"
#include "rt/task/record/runtime.h"

namespace janus {

inline constexpr std::uint8_t kRootStackClass = 7;  // a root's stack is 1 MiB

// Creates a runtime in pages of its own. If it fails, the error is a JANUS_E_*, and nothing is left behind.
OrError<Runtime*> create_runtime(const RuntimeOptions& options) noexcept;
// Called from outside the runtime's workers. Cancels and awaits all tasks, however long that takes, since they may use
// memory of the caller; after the grace it reports that it still waits.
void destroy_runtime(Runtime* runtime) noexcept;
// Called before that, while threads may still use it: they cannot stop its world any more, and do not wait for that.
void refuse_stops_from_outside(Runtime& runtime) noexcept;
// And once none of them uses it any more: what one of them has left stopped goes on.
void end_stops_from_outside(Runtime& runtime) noexcept;

// Runs fn(arg) as a root task and waits for it. Called by a thread that is not a worker of the runtime.
std::int64_t run_root(Runtime& runtime, TaskFn fn, void* arg, std::uint8_t stack_class) noexcept;
// As run_root(), with the calling thread as worker 0 (options.with_caller); stops the workers when it returns. False:
// memory or threads are lacking.
[[nodiscard]] bool run_root_here(Runtime& runtime, TaskFn fn, void* arg, std::uint8_t stack_class,
                                 std::int64_t& result) noexcept;

}  // namespace janus
