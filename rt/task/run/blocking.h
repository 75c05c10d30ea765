// SPDX-License-Identifier: Apache-2.0
// rt/task/run/blocking.h — calls on helper threads: the calling task waits, and its worker goes on. The process has up to
// 64 helpers; each is started when a call waits and no helper is idle, and ends after a second without one.
// docs/decisions/0343
#pragma once

#include "rt/optional.h"
#include "rt/platform.h"
#include "rt/task/record/task.h"

namespace janus {

// The record that a helper thread's slot points to is a Worker without scheduler and runtime, so that it fits no cache, and
// without a task, so that the thread counts as one outside tasks. Its stack limit is Scheduler::kAlwaysSlow.
//
// A function that is called for a task in a cage, or for one that a token confines, must not get what a thread outside may
// do. While it runs, the slot names this in place of a task: so each call takes the general path, and ends the function by
// force (look_at_stack()), but for those that begin with enter_on_any_thread() (rt/abi/entry/entry.h).
inline void* const kNoTaskNorHost = reinterpret_cast<void*>(1);

// Calls fn(arg) on a helper thread, and then `end` with its result there. Returns fn's result, kErrorNoMemory or
// kCancelledCode. If fn has ended by force, the task panics.
[[nodiscard]] std::int64_t call_on_helper(Task& self, TaskFn fn, void* arg, void (*end)(std::int64_t code)) noexcept;

// --- On a helper thread, whose record `worker` is (Worker::helper), while the function runs ---

// Handles a fault on the thread: the function ends by force, or the process, if the runtime faulted. True.
[[nodiscard, JANUS_OPTIONAL]] bool contain_on_helper(Worker& worker, platform::Fault& fault) noexcept;
[[noreturn, JANUS_OPTIONAL]] void panic_on_helper(Worker& worker, Cause cause, const char* why) noexcept;
// The same for a call that the function must not make.
[[noreturn, JANUS_OPTIONAL]] void refuse_on_helper(Worker& worker) noexcept;
// As janus_syscall, on the account of the task that waits.
[[nodiscard, JANUS_OPTIONAL]] std::int64_t syscall_on_helper(Worker& worker, long number,
                                                             const long (&arguments)[6]) noexcept;
// Our C library's errno.
[[nodiscard, JANUS_OPTIONAL]] int* errno_of_helper(Worker& worker) noexcept;

}  // namespace janus
