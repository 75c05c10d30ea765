// SPDX-License-Identifier: Apache-2.0
// janus/rt/runtime.h: for hosts: runtimes, their statistics, and safepoints. A part of janus/rt.h.
#ifndef JANUS_RT_RUNTIME_H
#define JANUS_RT_RUNTIME_H

#include <janus/rt/config.h>

#ifdef __cplusplus
extern "C" {
#endif

// Counters since the start, and present levels. Read while the workers run, so not all at one moment.
typedef struct janus_stats {
  uint64_t size;  // in: sizeof; no more than that is written
  uint64_t tasks_spawned;
  uint64_t tasks_completed;  // returned 0 or more
  uint64_t tasks_cancelled;
  uint64_t tasks_failed;    // returned a negative value, or exceeded a budget
  uint64_t tasks_panicked;  // spawned = completed + cancelled + failed + panicked + live
  uint64_t tasks_live;
  uint64_t switches;  // from one stack to another
  uint64_t yields;
  uint64_t steals;
  uint64_t steals_failed;
  uint64_t parks;  // of workers
  uint64_t wakes;  // of workers
  uint64_t budget_exhaustions;
  uint64_t stacks_in_use;
  uint64_t stacks_cached;
  uint64_t guard_pages;  // guards in place now
  uint64_t mappings;     // that the runtime asked the system for
  uint64_t bytes_in_use;
  uint64_t order_hash;  // of (event, logical worker, task id) in deterministic mode, else 0
  uint64_t workers;
  uint64_t spawns_failed;
  uint64_t ops_used;
  uint64_t channel_ops;
  uint64_t syscalls;
  uint64_t cancel_requests;
  uint64_t deadlocks;  // waits refused or broken because they could never end
  uint64_t nurseries_opened;
  uint64_t nurseries_live;
  uint64_t tasks_inline;      // run to their end on the stack of the task that awaited them
  uint64_t stacks_installed;  // stacks guarded by MADV_GUARD_INSTALL
  uint64_t stacks_protected;  // stacks guarded by mprotect
  uint64_t stacks_canaried;   // stacks with a canary in place of a guard
  uint64_t bytes_peak;        // the most of the root pool that was drawn at once, without the workers' unused chunks
  uint64_t bytes_limit;       // the root pool
  uint64_t yields_charged;    // yields after a yield with nothing in between, which cost 1 op
  uint64_t workers_pinned;    // to one CPU each
  uint64_t injected;          // tasks that came in through the shared queue
  uint64_t uptime_ns;         // since the runtime began
  uint64_t seed;              // in deterministic mode
  uint64_t yield_interval;    // in force
  uint64_t stack_size;        // in force
  uint64_t fair_turns;        // dispatches that took the task that had waited longest, so that none starved
  uint64_t stack_max;         // in force: the size that a stack may grow to; stack_size if sizes are fixed
  uint64_t stack_steps;       // by which stacks have grown
  uint64_t stacks_peak;      // the most that were in use at once, or in workers' caches; a sum over the sizes of stacks
  uint64_t steals_poor;      // steals that took longer than a quarter of what they brought
  uint64_t tasks_running;    // on a worker now; a parent that runs a child on its own stack waits
  uint64_t tasks_queued;     // not started, or ready to go on, in any queue
  uint64_t tasks_waiting;    // the other live tasks, also those that wait unstarted for max_running
  uint64_t tasks_exhausted;  // of these: for a recharge
  uint64_t queued_shared;    // of the queued ones: in the shared queue
  uint64_t tasks_pinned;     // now, by janus_task_pin
  uint64_t price_table;      // the number of the table of prices (docs/budgets.md); order_hash depends on it
} janus_stats;

// A worker's part of these, and what is queued there. Later versions may add fields at the end.
typedef struct janus_worker_stats {
  uint64_t size;            // in: sizeof; no more than that is written
  uint64_t running_task;    // the number of the task that it runs; 0: none
  uint64_t queued_ready;    // tasks in its deque
  uint64_t queued_yielded;  // tasks that have yielded
  uint64_t queued_caged;    // tasks below budgets, or with a priority, that wait for their group's turn
  uint64_t tasks_spawned;
  uint64_t tasks_ended;
  uint64_t switches;
  uint64_t yields;
  uint64_t steals;  // from other workers
  uint64_t steals_failed;
  uint64_t parks;
  uint64_t wakes;
  uint64_t ops_used;
} janus_worker_stats;

// As janus_rt_init, with a result. `config` NULL: defaults. A field of 0 is set by the environment (JANUS_*), in which
// an invalid value gives JANUS_E_INVALID and a line on stderr. JANUS_E_STATE if there is a runtime, and in a task
// [threads outside tasks].
int janus_rt_try_init(const janus_rt_config* config);
// Creates an isolated runtime: one besides the process's, with workers and memory of its own [threads outside tasks].
janus_rt* janus_rt_create(const janus_rt_config* config);
// Cancels all tasks, waits for them for as long as it takes, since they may use memory of the caller, and frees
// everything; after grace_ms it reports on stderr that it still waits. In this and the next functions a pointer to no
// runtime, or to a destroyed one, gives JANUS_E_STALE; a new one may have the address of an old one [threads outside
// tasks].
void janus_rt_destroy(janus_rt* rt);
// Runs fn(arg) as a root task, waits for its end, and returns its result: what fn returned, or a value of
// janus/rt/result.h. If every task waits and no thread outside is known that could wake one, cancels all tasks and
// returns JANUS_E_DEADLOCK; so does an await of a nursery by a thread. So a thread that is to wake tasks later must
// keep a nursery open in the runtime until then, unless a thread has made a channel in the runtime, or a channel is
// shared with another runtime [threads outside tasks].
long janus_rt_run(janus_rt* rt, janus_task_fn fn, void* arg);
// Fills *out up to out->size [any].
void janus_rt_stats(janus_rt* rt, janus_stats* out);
// Fills *out up to out->size with the statistics of one worker, from 0 to janus_stats.workers - 1; JANUS_E_INVALID: there
// is none of that number [any].
int janus_rt_worker_stats(janus_rt* rt, uint32_t worker, janus_worker_stats* out);

// One task of a runtime that is stopped, as janus_safepoint_walk shows it. A task that runs in the place of the task that
// awaits it is on the stack of that one: the frames of each lie from its `saved_sp` to its `frames_high`, with the
// registers of the task's code. A task that has not started has no stack: the pointers are NULL, and `arg` is all that it
// has.
typedef struct janus_task_view {
  uint64_t size;        // sizeof
  janus_task task;      // its handle; nothing is to be released
  uint64_t id;          // as janus_task_id
  int32_t state;        // JANUS_TASK_*; RUNNING: on a worker, until the stop
  uint32_t reserved;    // 0
  void* stack_low;      // the lowest byte of the stack that it is on ...
  void* stack_high;     // ... and where that ends
  void* saved_sp;       // the lowest byte that the task uses
  void* frames_high;    // where its frames end: at the next task's, or below stack_high
  uint64_t nursery_id;  // of its nursery: the handle's value
  uint64_t outer_id;    // the task in whose place it runs; 0: none
  janus_task_fn fn;     // what it was spawned with
  void* arg;
} janus_task_view;

// Stops the tasks of a runtime (NULL: the calling task's, or the process's): 0 once no task of it runs, until the caller
// resumes it as often as it has stopped it. Waits until the runtime is nobody else's to stop, and until each running task
// has come to a check or a wait: `timeout_ns` at most (below 0: for ever; 0 looks once). JANUS_E_TIMEOUT: a task has come
// to none in that time, and is named on stderr, or another holds the runtime stopped; all goes on. JANUS_CANCELLED: the
// caller was told to end meanwhile. JANUS_E_NO_CAP: a task that may not end the process, or of another runtime.
// JANUS_E_STATE: there is no runtime, or it is about to end. Tasks that wait, or are in a system call, count as stopped. A
// task that has stopped its runtime may do all that does not wait. If it waits, the runtime goes on, and its next walk or
// resume is its panic; if it ends, however that is, the runtime goes on. Meanwhile no timer fires; threads outside tasks
// are not stopped, and what they queue runs later [any].
int janus_safepoint_stop(janus_rt* rt, int64_t timeout_ns);
// Calls visit(view, arg) for each task that has not ended, also for the caller, as long as it returns 0; returns what it
// returned last. A view is valid during the call; its stack and what it names do not change until the runtime is resumed.
// `visit` may allocate, and stop the runtime once more, but must not wait, nor resume or walk: JANUS_E_STATE. JANUS_E_STATE
// also if the caller has not stopped the runtime; JANUS_E_NO_MEMORY: no memory to list the tasks [any].
int janus_safepoint_walk(janus_rt* rt, int (*visit)(const janus_task_view* view, void* arg), void* arg);
// Undoes one janus_safepoint_stop; the last one lets the tasks run again. JANUS_E_STATE: the caller has not stopped the
// runtime; a thread may resume what it has stopped itself [any].
int janus_safepoint_resume(janus_rt* rt);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // JANUS_RT_RUNTIME_H
