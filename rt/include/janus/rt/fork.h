// SPDX-License-Identifier: Apache-2.0
// janus/rt/fork.h: two functions at the same time, one of them as a call. A part of janus/rt.h.
// docs/decisions/0327
#ifndef JANUS_RT_FORK_H
#define JANUS_RT_FORK_H

#include <janus/rt/handles.h>
#include <janus/rt/result.h>

#ifdef __cplusplus
extern "C" {
#endif

// Calls own(own_arg) while another worker may run other(other_arg), and returns when both have ended: 0 if both
// returned 0 or more. Otherwise a negative value, and results[0] and results[1] say how `own` and `other` ended.
//
// `other` is a child in a nursery of its own, and costs what such a child costs: 1 op for the call, and below a budget
// 1 spawn_count and the memory of its record. `own` is called by the calling task: janus_task_id, its task-local values
// and its budget are the caller's. It begins without a current nursery, and nurseries that it leaves open are ended as
// those of a task. If it panics or uses up the budget, it alone ends: its frames are left without running destructors,
// the locks that it took are released, and the caller goes on with the default floating-point control words.
// Both are called as ordinary functions, which preserve these words: `other` begins with the caller's, or with the
// default ones if another worker runs it.
// A failure of one does not cancel the other. If the caller is cancelled, both are.
//
// If neither ran, since there was too little memory or budget, one is no function, or the caller is no task, both
// results have the kind JANUS_KIND_PENDING and the error as code; if the caller had been cancelled before, the kind
// JANUS_KIND_CANCELLED [task].
long janus_fork_join(janus_task_fn own, void* own_arg, janus_task_fn other, void* other_arg, janus_result results[2]);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // JANUS_RT_FORK_H
