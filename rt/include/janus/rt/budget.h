// SPDX-License-Identifier: Apache-2.0
// janus/rt/budget.h: budgets of tasks and nurseries, and capabilities. A part of janus/rt.h.
#ifndef JANUS_RT_BUDGET_H
#define JANUS_RT_BUDGET_H

#include <janus/rt/handles.h>

// The budget of a task or nursery. All five zero: none given, so it spends from the budget above it. Otherwise each is
// literal: 0 grants nothing, all bits set grants all that the parent has. `memory` limits the amount held at one time;
// the others are used up. Finite amounts read back at most one below all bits set.
typedef struct janus_budget {
  uint32_t ops;          // loop iterations, calls, and the price of functions of the runtime, mostly 1
  size_t memory;         // bytes of blocks, stacks and records (of tasks, nurseries, channels)
  uint16_t spawn_count;  // tasks it may spawn
  uint16_t channel_ops;  // sends and receives
  uint16_t syscalls;     // janus_syscall and I/O
} janus_budget;

// All that the parent has, as an initialiser and as a value.
#define JANUS_BUDGET_ALL_INIT \
  { UINT32_MAX, SIZE_MAX, UINT16_MAX, UINT16_MAX, UINT16_MAX }
#ifdef __cplusplus
#define JANUS_BUDGET_ALL (janus_budget JANUS_BUDGET_ALL_INIT)
#else
#define JANUS_BUDGET_ALL ((janus_budget)JANUS_BUDGET_ALL_INIT)
#endif

// The components, for janus_budget_grant64.
#define JANUS_COMPONENT_OPS 0
#define JANUS_COMPONENT_MEMORY 1
#define JANUS_COMPONENT_SPAWN_COUNT 2
#define JANUS_COMPONENT_CHANNEL_OPS 3
#define JANUS_COMPONENT_SYSCALLS 4

#ifdef __cplusplus
extern "C" {
#endif

// The rights of a token. A nursery that carries one (`cap` in its options) confines its tasks to these; docs/security.md.
#define JANUS_CAP_SPAWN 1u      // to spawn
#define JANUS_CAP_BUDGET 2u     // to recharge oneself, up to the token's limit, and nurseries
#define JANUS_CAP_SYSCALL 4u    // to make system calls, and to write to other descriptors than 1 and 2
#define JANUS_CAP_EXIT 8u       // to end the process
#define JANUS_CAP_PIN 16u       // janus_task_pin
#define JANUS_CAP_PRIORITY 32u  // to spawn with JANUS_PRIORITY_HIGH

// What is left of the calling task's budget; all zero outside tasks [any].
janus_budget janus_budget_get_current(void);
// Adds to the budget that the calling task spends from, out of the limit of its token; needs JANUS_CAP_BUDGET. All or
// nothing: JANUS_E_BUDGET if the limit has less. Without a token nothing is moved: 0 if the budget that the task shares has
// `amount` left, else JANUS_E_BUDGET; JANUS_E_NO_CAP for a task with a budget of its own [task].
int janus_budget_recharge(janus_budget amount);
// As janus_nursery_recharge, for one component, with 64 bits; all bits set: all that the caller has [any].
int janus_budget_grant64(janus_nursery* nursery, int component, uint64_t amount);
// Tokens cannot be guessed, and whoever has one may present it. One that is forged, revoked, ended or of another runtime is
// refused everywhere: JANUS_E_NO_CAP.
//
// The token from which all others derive, with all rights: the same at each call. For the root task, and, with `rt`, for
// the thread outside tasks that made that runtime; {0} for others [any].
janus_cap janus_cap_root(janus_rt* rt);
// A token with those of the rights that `cap` has, too; {0} stands for what the calling task has without a token. `limit`
// goes out of that of `cap`, which must have it; all zero: none of its own, so it shares that of `cap`. It is in force
// until it, or one that it derives from, is revoked, or the task ends that has derived it; at most 16 derive one from the
// other. {0}: janus_last_error says why. Outside tasks only of a token [any].
janus_cap janus_cap_derive(janus_cap cap, uint32_t rights, janus_budget limit);
// Ends that token and all derived from it, at once. What its holders have spawned goes on, and what is left of its limit
// goes back [any].
int janus_cap_revoke(janus_cap cap);
#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // JANUS_RT_BUDGET_H
