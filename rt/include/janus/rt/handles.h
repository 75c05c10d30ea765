// SPDX-License-Identifier: Apache-2.0
// janus/rt/handles.h: task functions, and the handles of tasks, nurseries and channels. A part of janus/rt.h.
#ifndef JANUS_RT_HANDLES_H
#define JANUS_RT_HANDLES_H

#include <janus/rt/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

// A task's function: called by the System V ABI with DF clear and default mxcsr and x87 control word, on any worker. A
// result of 0 or more is a value, a negative one a failure.
typedef int64_t (*janus_task_fn)(void* arg);

typedef struct janus_rt janus_rt;
typedef struct janus_nursery janus_nursery;
typedef struct janus_channel janus_channel;

// Handles. {0} is no handle; a stale one is an error in each call.
typedef struct janus_task {
  uint64_t raw;
} janus_task;
typedef struct janus_cap {
  uint64_t raw;  // {0}: the one inherited
} janus_cap;
typedef struct janus_local_key {
  uint32_t raw;
} janus_local_key;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // JANUS_RT_HANDLES_H
