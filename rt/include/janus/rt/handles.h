// SPDX-License-Identifier: Apache-2.0
// janus/rt/handles.h: what a task runs, and what tasks, nurseries and channels are called by. A part of janus/rt.h.
#ifndef JANUS_RT_HANDLES_H
#define JANUS_RT_HANDLES_H

#include <janus/rt/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

// What a task runs: a plain System V call with DF clear and default mxcsr and x87 control word, on any worker. A result
// of 0 or more is a value, a negative one a failure.
typedef int64_t (*janus_task_fn)(void* arg);

typedef struct janus_rt janus_rt;
typedef struct janus_nursery janus_nursery;
typedef struct janus_channel janus_channel;

// Handles. {0} is none; a stale one is an error wherever it is used.
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
