// SPDX-License-Identifier: Apache-2.0
// janus/llvm.h: functions that compilers call, besides janus/rt.h. Programs written by hand need none of them.
//
// The yield check as LLVM IR. It charges %cost ops and takes the slow path, an ordinary call, once the slice is used
// up; `1` in place of %cost becomes an immediate. The result of janus_yield_slow is 0 or JANUS_CANCELLED. %cost must
// not be negative, which the instruction does not check: it would add ops. A cost that the program computes has to be
// zero-extended from an i32, as in janus_yield_check(), or clamped at 0, as Budget_Decrement is by janus-cc.
//
//     %spent = call i8 asm sideeffect "subq $1, %gs:8", "={@ccl},er,~{dirflag},~{fpsr},~{flags}"(i64 %cost)
//     %is_spent = icmp ne i8 %spent, 0
//     br i1 %is_spent, label %slow, label %go_on, !prof !0        ; !0 = !{!"branch_weights", i32 1, i32 1000}
//   slow:
//     %status = call i32 @janus_yield_slow()
//
// Addresses derived from %gs or %fs must not be kept across a call: the task may wake on another worker.
//
// The opcodes of the specification's intermediate language: Budget_Check is the above with cost 0, Budget_Decrement
// with its cost, Yield janus_yield, Task_Create janus_nursery_spawn_in, Task_Join janus_task_join, Nursery_Begin
// janus_nursery_create, Spawn janus_nursery_spawn, Await and Nursery_End janus_nursery_await_all.
#ifndef JANUS_LLVM_H
#define JANUS_LLVM_H

#include <janus/rt.h>

#ifdef __cplusplus
extern "C" {
#endif

// The process's runtime, or NULL before it began [any].
janus_rt* janus_rt_get(void);

// An isolated runtime, as by janus_rt_create and janus_rt_destroy.
void* janus_scheduler_create(janus_rt_config config);
void janus_scheduler_shutdown(void* scheduler);
// As janus_nursery_spawn: `func` is a janus_task_fn.
int janus_scheduler_spawn(void* func, void* arg);
// As janus_yield.
int janus_scheduler_yield(void);

// Task functions of other types, and adapters that make them a janus_task_fn.
typedef int64_t (*janus_task_noarg_fn)(void);
typedef int32_t (*janus_task32_fn)(void* arg);

typedef struct janus_task32 {
  janus_task32_fn fn;
  void* arg;
} janus_task32;

// A janus_task_fn: `call` is a janus_task32, which lives until the task has ended; its result is sign-extended.
static inline int64_t janus_run_task32(void* call) {
  janus_task32 task;
  __builtin_memcpy(&task, call, sizeof task);
  return task.fn(task.arg);
}

// A janus_task_fn: `fn` is a janus_task_noarg_fn, converted by janus_noarg_arg.
static inline int64_t janus_run_noarg(void* fn) {
  janus_task_noarg_fn call;
  __builtin_memcpy(&call, &fn, sizeof call);  // C knows no cast between the two kinds of pointer
  return call();
}

// The argument with which to spawn janus_run_noarg, so that it calls `fn`.
static inline void* janus_noarg_arg(janus_task_noarg_fn fn) {
  void* arg;
  __builtin_memcpy(&arg, &fn, sizeof arg);
  return arg;
}

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // JANUS_LLVM_H
