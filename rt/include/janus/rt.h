// SPDX-License-Identifier: Apache-2.0
// janus/rt.h: the C ABI of janus-rt, for C99 and C++11 on x86_64. It is version 1 and will not change: later releases
// append to the structs that begin with `size` and add functions; they change and remove nothing.
//
// How to read the notes. [task]: from a task only, else the result is JANUS_E_NO_TASK. [any]: from any thread.
// [owner]: from the task that opened the nursery, or any thread outside tasks if one of those did.
// [threads outside tasks]: in a task nothing happens, and the result or the task's last error is JANUS_E_STATE.
// Functions that return an int return 0 or more on success; a negative value is JANUS_CANCELLED or a JANUS_E_*, unless
// the note says otherwise.
// Functions that return a pointer or a handle return NULL or {0} for failure, and janus_last_error() gives the reason.
// Functions that are declared but not in this release return JANUS_E_UNSUPPORTED; docs/abi.md lists them.
// NULL, {0}, stale handles and invalid values are errors, never crashes; a nursery or channel pointer that was never
// given out makes the calling task panic. A NULL `janus_rt *` means the runtime of the calling task or report function,
// outside these the process's. Times are in nanoseconds, sizes in bytes. Strings and option structs are copied during the call.
//
// Include this header. Its parts may be included alone, too; in a good order for reading:
//     rt/abi.h                the version, and the symbol that checks it at link time
//     rt/result.h             the results of tasks and nurseries, and the errors
//     rt/handles.h            task functions; handles
//     rt/budget.h             budgets and capabilities
//     rt/nursery.h            nurseries, and spawning in them
//     rt/task.h               tasks and task-local values
//     rt/fork.h               two functions at the same time, one of them as a call
//     rt/yield.h              yield points, time and waiting
//     rt/channel.h            channels
//     rt/memory.h             blocks of memory
//     rt/system.h             output and the system
//     rt/config.h             the settings of a runtime
//     rt/current_nursery.h    the process's runtime and the current nursery, as the specification froze them
//     rt/runtime.h            for hosts: runtimes, statistics, safepoints
#ifndef JANUS_RT_H
#define JANUS_RT_H

#include <janus/rt/abi.h>
#include <janus/rt/budget.h>
#include <janus/rt/channel.h>
#include <janus/rt/config.h>
#include <janus/rt/current_nursery.h>
#include <janus/rt/fork.h>
#include <janus/rt/handles.h>
#include <janus/rt/memory.h>
#include <janus/rt/nursery.h>
#include <janus/rt/result.h>
#include <janus/rt/runtime.h>
#include <janus/rt/system.h>
#include <janus/rt/task.h>
#include <janus/rt/yield.h>

#endif  // JANUS_RT_H
