// SPDX-License-Identifier: Apache-2.0
// janus/rt/result.h: what tasks and nurseries came to, and errors. A part of janus/rt.h.
#ifndef JANUS_RT_RESULT_H
#define JANUS_RT_RESULT_H

#include <janus/rt/abi.h>

// What a nursery came to (janus_nursery_await_all, janus_nursery_await). A child that failed gives its own negative
// return value instead; a child that itself returns -1 ... -4 is told apart by janus_result.kind.
#define JANUS_SUCCESS 0
#define JANUS_CANCELLED (-1)
#define JANUS_PANIC (-2)
#define JANUS_BUDGET_EXCEEDED (-3)
#define JANUS_PENDING (-4)

// Errors of this interface. They lie below -4096, so they never equal a value above or a kernel's -errno.
#define JANUS_E_CLOSED (-4097)       // the channel or nursery is closed
#define JANUS_E_WOULD_BLOCK (-4098)  // a try_ call that would have had to wait
#define JANUS_E_TIMEOUT (-4099)      // the time given has passed
#define JANUS_E_NO_TASK (-4100)      // not called from a task
#define JANUS_E_NO_CAP (-4101)       // the capability does not give this right, or the component was never granted
#define JANUS_E_BUDGET (-4102)       // the budget does not reach
#define JANUS_E_NO_MEMORY (-4103)    // the machine has no memory, or no stack, left
#define JANUS_E_STALE (-4104)        // a handle whose object has ended or been released
#define JANUS_E_INVALID (-4105)      // a senseless argument
#define JANUS_E_STATE (-4106)        // not possible in the state that it is in
#define JANUS_E_DEADLOCK (-4107)     // the wait could never end
#define JANUS_E_UNSUPPORTED (-4108)  // not in this release

#define JANUS_KIND_SUCCESS 0u
#define JANUS_KIND_CHILD_FAILED 1u
#define JANUS_KIND_CANCELLED 2u
#define JANUS_KIND_PANIC 3u
#define JANUS_KIND_BUDGET_EXCEEDED 4u
#define JANUS_KIND_PENDING 5u

typedef struct janus_result {
  uint32_t kind;           // JANUS_KIND_*: of the first failure, by severity
  uint32_t errors;         // how many children did not succeed, cancelled ones not counted
  int64_t code;            // the value as in the table above
  uint64_t task_id;        // whose value it is; 0 if no child of a nursery failed
  uint32_t was_cancelled;  // 1 if it was cancelled, whatever the result says
  uint32_t reserved;
} janus_result;

#ifdef __cplusplus
extern "C" {
#endif

// The name of one of the values above, and what it means: "JANUS_E_BUDGET: the budget does not reach". Of any other
// value, that it is none, and whether it may be a kernel's -errno. Constant text, never NULL [any].
const char* janus_strerror(int64_t value);

#ifdef __cplusplus
}
#endif

#endif  // JANUS_RT_RESULT_H
