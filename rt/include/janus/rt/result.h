// SPDX-License-Identifier: Apache-2.0
// janus/rt/result.h: the results of tasks and nurseries, and errors. A part of janus/rt.h.
#ifndef JANUS_RT_RESULT_H
#define JANUS_RT_RESULT_H

#include <janus/rt/abi.h>

// The result of a nursery (janus_nursery_await_all, janus_nursery_await). If a child returned a negative value, the
// result is that value. It may be -1 ... -4, too; janus_result.kind is JANUS_KIND_CHILD_FAILED then.
#define JANUS_SUCCESS 0
#define JANUS_CANCELLED (-1)
#define JANUS_PANIC (-2)
#define JANUS_BUDGET_EXCEEDED (-3)
#define JANUS_PENDING (-4)

// Errors of this interface. They lie below -4096, so they never equal a value above or a kernel's -errno.
#define JANUS_E_CLOSED (-4097)       // the channel or nursery is closed
#define JANUS_E_WOULD_BLOCK (-4098)  // a try_ call would have had to wait
#define JANUS_E_TIMEOUT (-4099)      // the time given has passed
#define JANUS_E_NO_TASK (-4100)      // not called from a task
#define JANUS_E_NO_CAP (-4101)       // the capability does not give this right, or the component was never granted
#define JANUS_E_BUDGET (-4102)       // too little of the budget is left
#define JANUS_E_NO_MEMORY (-4103)    // the machine has no memory, or no stack, left
#define JANUS_E_STALE (-4104)        // a handle whose object has ended or been released
#define JANUS_E_INVALID (-4105)      // an invalid argument
#define JANUS_E_STATE (-4106)        // not possible in the present state
#define JANUS_E_DEADLOCK (-4107)     // the wait could never end
#define JANUS_E_UNSUPPORTED (-4108)  // not in this release

#define JANUS_KIND_SUCCESS 0u
#define JANUS_KIND_CHILD_FAILED 1u
#define JANUS_KIND_CANCELLED 2u
#define JANUS_KIND_PANIC 3u
#define JANUS_KIND_BUDGET_EXCEEDED 4u
#define JANUS_KIND_PENDING 5u

// janus_result.cause: no details; ...
#define JANUS_CAUSE_NONE 0u
// ... the component that ran out (JANUS_KIND_BUDGET_EXCEEDED); ...
#define JANUS_CAUSE_OPS 1u
#define JANUS_CAUSE_MEMORY 2u
#define JANUS_CAUSE_SPAWN_COUNT 3u
#define JANUS_CAUSE_CHANNEL_OPS 4u
#define JANUS_CAUSE_SYSCALLS 5u
// ... the cause of a panic (JANUS_KIND_PANIC); ...
#define JANUS_CAUSE_STACK_OVERFLOW 16u
#define JANUS_CAUSE_BAD_ACCESS 17u           // an invalid read, write or jump
#define JANUS_CAUSE_ILLEGAL_INSTRUCTION 18u  // __builtin_trap, too
#define JANUS_CAUSE_DIVISION 19u             // by zero, or a quotient too large
#define JANUS_CAUSE_ABORT 20u                // abort, std::terminate, a failed assertion
#define JANUS_CAUSE_MISUSE 21u               // a bad free, a handle that was never given out, and the like
#define JANUS_CAUSE_GRACE_OVER 22u           // it was cancelled, and went on for too long
#define JANUS_CAUSE_NO_MEMORY 23u            // for its stack, or for operator new
#define JANUS_CAUSE_TASK_PANIC 24u           // janus_task_panic
#define JANUS_CAUSE_OVERRUN 25u              // it held its worker too long (turn_ns of janus_nursery_options)
#define JANUS_CAUSE_OTHER 31u
// ... or the source of the cancel (JANUS_KIND_CANCELLED, and JANUS_KIND_PENDING with was_cancelled).
#define JANUS_CAUSE_ASKED 32u           // janus_task_cancel, janus_nursery_cancel
#define JANUS_CAUSE_PARENT 33u          // a task or nursery above it was cancelled, or failed and left it open
#define JANUS_CAUSE_SIBLING_FAILED 34u  // JANUS_ON_ERROR_CANCEL
#define JANUS_CAUSE_DEADLINE 35u        // its nursery's deadline
#define JANUS_CAUSE_SIGNAL 36u          // SIGTERM or SIGINT
#define JANUS_CAUSE_SUPERVISOR 37u      // its supervisor stopped it (janus/supervise.h)

typedef struct janus_result {
  uint32_t kind;           // JANUS_KIND_*: of the most severe failure, the first of several
  uint32_t errors;         // how many children did not succeed, cancelled ones not counted
  int64_t code;            // the result: one of the values above, or a task's return value
  uint64_t task_id;        // the task whose result this is; 0 if no child of a nursery failed
  uint32_t was_cancelled;  // 1 if the task or nursery was cancelled, whatever its result is
  uint32_t cause;          // JANUS_CAUSE_*
} janus_result;

#ifdef __cplusplus
extern "C" {
#endif

// The name and meaning of one of the values above: "JANUS_E_BUDGET: the budget does not reach". For other values, a
// text that says so, and whether it may be a kernel's -errno. Constant text, never NULL [any].
const char* janus_strerror(int64_t value);

#ifdef __cplusplus
}
#endif

#endif  // JANUS_RT_RESULT_H
