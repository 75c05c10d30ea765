// SPDX-License-Identifier: Apache-2.0
// janus/rt/current_nursery.h: the process's runtime and the current nursery, frozen by the specification. A part of
// janus/rt.h.
#ifndef JANUS_RT_CURRENT_NURSERY_H
#define JANUS_RT_CURRENT_NURSERY_H

#include <janus/rt/config.h>

#ifdef __cplusplus
extern "C" {
#endif

// Starts the process's runtime [threads outside tasks]. Does nothing if there is one, or in a task, so a program may
// call it, too. janus_rt_try_init does the same and returns a result.
void janus_rt_init(janus_rt_config config);
// Cancels the tasks that still run, waits for them, and frees everything [threads outside tasks].
void janus_rt_shutdown(void);
// Opens a nursery and makes it the current one of this task, or of this thread outside tasks. Starts the runtime if
// need be, in a host with the settings of its environment (JANUS_*). The pointer may be used as a janus_nursery *, but
// only janus_nursery_await_all ends it. At most 64 threads outside tasks have current nurseries at a time: more get
// NULL, and JANUS_E_NO_MEMORY from janus_last_error() [any].
void* janus_nursery_create(void);
// Spawns a detached task in the current nursery: 0, or -1 with the reason in janus_last_error() [any].
int janus_nursery_spawn(janus_task_fn fn, void* arg);
// Closes the current nursery, waits for all its children, destroys it; the one that was current before is so again.
// Returns the result (janus/rt/result.h), or JANUS_E_STATE if there is no current nursery [any].
long janus_nursery_await_all(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // JANUS_RT_CURRENT_NURSERY_H
