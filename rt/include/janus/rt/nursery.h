// SPDX-License-Identifier: Apache-2.0
// janus/rt/nursery.h: nurseries, and spawning in them. A part of janus/rt.h.
#ifndef JANUS_RT_NURSERY_H
#define JANUS_RT_NURSERY_H

#include <janus/rt/budget.h>
#include <janus/rt/result.h>

// What a nursery does when a child fails ...
#define JANUS_ON_ERROR_CANCEL 0u   // cancels the others
#define JANUS_ON_ERROR_COLLECT 1u  // lets them go on, and counts failures
// ... and what happens to a child that has used up its budget.
#define JANUS_ON_EXHAUSTION_SUSPEND 0u  // waits in JANUS_TASK_BUDGET_EXHAUSTED until there is enough
#define JANUS_ON_EXHAUSTION_FAIL 1u     // ends as JANUS_BUDGET_EXCEEDED
#define JANUS_ON_EXHAUSTION_DENY 2u     // the operation returns JANUS_E_BUDGET; if ops are used up, waits

// For a nursery with a budget: frees the blocks that its tasks allocated and did not free, when it is destroyed. No
// other task or thread may touch such a block after that. Costs 16 ops for each 64 runs of pages that were left, or 4 MiB
// of them. Channels that were not released stay.
// Meanwhile `memory` pays for blocks by whole pages: the first block of a size takes 1 to 13 pages (4 KiB each), which
// serve further ones of that size, and are credited when the last of them is freed. So do budgets within this one.
#define JANUS_NURSERY_RECLAIM 1u

typedef struct janus_nursery_options {
  uint32_t size;           // sizeof, or 0 for the size that version 1 began with
  uint32_t on_error;       // JANUS_ON_ERROR_*
  uint32_t on_exhaustion;  // JANUS_ON_EXHAUSTION_*
  uint32_t flags;          // JANUS_NURSERY_*
  janus_budget budget;     // taken from the opener's; the rest returns when the nursery is destroyed
  janus_cap cap;           // confines its tasks to that token; {0}: to that which confines its opener, if one does
  const char* name;        // up to 31 bytes, NULL for none
  uint64_t deadline_ns;    // when janus_now_ns() is this, the nursery is cancelled (JANUS_CAUSE_DEADLINE); 0: never
  // Read if `size` is sizeof:
  uint32_t max_running;  // children beyond it wait unstarted, in the order of their spawns; 0: no bound
  uint32_t reserved;     // 0
  // With a budget: a task that holds its worker longer, without a yield check or a call that costs ops, ends as a panic
  // (JANUS_CAUSE_OVERRUN), unless a nursery above it says less. In ns that its thread ran; 0: 100 ms; UINT64_MAX: none.
  uint64_t turn_ns;
} janus_nursery_options;

#define JANUS_PRIORITY_NORMAL 0u
#define JANUS_PRIORITY_HIGH 1u
#define JANUS_PRIORITY_LOW 2u

// The task's record is freed when the task ends; the task must not be joined, nor its result read.
#define JANUS_SPAWN_DETACHED 1u
// Call fn even if the task was cancelled before it started, so that fn can free what `arg` owns. Without this flag fn
// then never runs.
#define JANUS_SPAWN_RUN_CANCELLED 2u

typedef struct janus_spawn_options {
  uint32_t size;        // sizeof, or 0 for the size that version 1 began with
  uint32_t priority;    // JANUS_PRIORITY_NORMAL; others are for a later version (JANUS_E_UNSUPPORTED)
  size_t stack_size;    // rounded up to 8 KiB * 2^n, at most 64 MiB; 0: the runtime's default; it may grow
  janus_budget budget;  // taken from the nursery's; the rest returns when the task ends
  janus_cap cap;        // confines the task to that token; {0}: to that which the nursery carries, if it does
  const char* name;     // up to 31 bytes, NULL for none
  uint64_t flags;       // JANUS_SPAWN_*
} janus_spawn_options;

#define JANUS_NURSERY_OPEN 0
#define JANUS_NURSERY_CLOSING 1     // no more spawns, children live
#define JANUS_NURSERY_CANCELLING 2  // as closing, and children are told to end
#define JANUS_NURSERY_CLOSED 3      // terminal
#define JANUS_NURSERY_CANCELLED 4   // terminal

#ifdef __cplusplus
extern "C" {
#endif

// Opens a nursery owned by the calling task, or by threads outside tasks. Does not change the current nursery. NULL
// options: defaults [any].
janus_nursery* janus_nursery_open(janus_rt* rt, const janus_nursery_options* options);
// Spawns fn(arg). The owner and every task below it may, as may threads. A calling task pays 1 op, the nursery's budget
// 1 spawn_count. Needs JANUS_CAP_SPAWN where a token confines the nursery or the caller. NULL options: defaults [any].
janus_task janus_nursery_spawn_in(janus_nursery* nursery, janus_task_fn fn, void* arg,
                                  const janus_spawn_options* options);
// Closes the nursery to further spawns. May be called again [any].
int janus_nursery_close(janus_nursery* nursery);
// Closes the nursery, and tells every child and all tasks below them to end. Tasks that have not started never run,
// except with JANUS_SPAWN_RUN_CANCELLED [any].
int janus_nursery_cancel(janus_nursery* nursery);
// The nursery's state: JANUS_NURSERY_* [any].
int janus_nursery_state(const janus_nursery* nursery);
// Gets the result without waiting: 0 and the result once terminal, JANUS_PENDING before. `result` may be NULL [any].
int janus_nursery_try_result(janus_nursery* nursery, janus_result* result);
// Closes the nursery, waits for all children, and gives the result (janus/rt/result.h). If the caller is cancelled
// meanwhile, cancels the children and still waits. `result` may be NULL [owner].
long janus_nursery_await(janus_nursery* nursery, janus_result* result);
// The same until janus_now_ns() is `deadline_ns` (0: for ever): JANUS_E_TIMEOUT if children are left, and the nursery is
// closed, but has no result yet [owner].
long janus_nursery_await_until(janus_nursery* nursery, janus_result* result, uint64_t deadline_ns);
// Waits for the next child to end, of those that no call has told yet, until janus_now_ns() is `deadline_ns` (0: for ever):
// 0 and the child's result, with its number as task_id. Children are told in the order in which they ended, each once.
// Told are those that leave a record: of janus_nursery_spawn_in, but without JANUS_SPAWN_DETACHED, and not released
// before. JANUS_E_CLOSED: all were told, and no child lives, so that only a further spawn could bring another.
// JANUS_E_TIMEOUT, JANUS_CANCELLED: nothing was told; JANUS_E_NO_MEMORY: nor is there a stack for other tasks. The nursery
// stays as it is, open or closed. `result` may be NULL [owner].
int janus_nursery_next(janus_nursery* nursery, janus_result* result, uint64_t deadline_ns);
// Frees a terminal nursery with the records of its tasks; JANUS_PENDING if it is not terminal [owner].
int janus_nursery_destroy(janus_nursery* nursery);
// Moves `amount` from the caller's budget to the nursery's and wakes its exhausted children; JANUS_E_BUDGET if the
// caller has too little [any].
int janus_nursery_recharge(janus_nursery* nursery, janus_budget amount);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // JANUS_RT_NURSERY_H
