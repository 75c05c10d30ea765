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
  uint64_t stacks_peak;  // the most that were in use at once, or in workers' caches; a sum over the sizes of stacks
  uint64_t steals_poor;  // steals that took longer than a quarter of what they brought
  uint64_t price_table;  // the number of the table of prices (docs/budgets.md); order_hash depends on it
} janus_stats;

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
// Stops a runtime: 0 once no other task of it runs user code, until resumed; else JANUS_E_TIMEOUT. Not in this release:
// JANUS_E_UNSUPPORTED [any].
int janus_safepoint_stop(janus_rt* rt, int64_t timeout_ns);
// Lets the stopped tasks run again. Not in this release: JANUS_E_UNSUPPORTED [any].
int janus_safepoint_resume(janus_rt* rt);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // JANUS_RT_RUNTIME_H
