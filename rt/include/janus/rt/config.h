// SPDX-License-Identifier: Apache-2.0
// janus/rt/config.h: the settings of a runtime. A part of janus/rt.h.
#ifndef JANUS_RT_CONFIG_H
#define JANUS_RT_CONFIG_H

#include <janus/rt/budget.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JANUS_RT_DETERMINISTIC 1u    // logical workers on one thread, every choice drawn from the seed, be it 0
#define JANUS_RT_NO_PIN 2u           // never pin workers to CPUs
#define JANUS_RT_NO_SIGNALS 4u       // install no signal handlers: faults and stack overflows then end the process
#define JANUS_RT_PIN 8u              // pin even if the machine is shared
#define JANUS_RT_IGNORE_SIGPIPE 16u  // a program: a write to a closed pipe is -EPIPE (-32) on descriptors 1 and 2, too

#define JANUS_PROFILE_DEFAULT 0u    // the environment's, or else service
#define JANUS_PROFILE_SERVICE 1u    // capabilities and budgets implicit
#define JANUS_PROFILE_CLUSTER 2u    // as service, with half the yield interval
#define JANUS_PROFILE_SOVEREIGN 3u  // nothing implicit: who has no token has no right

#define JANUS_VICTIM_RANDOM 0u        // from the seeded generator
#define JANUS_VICTIM_ROUND_ROBIN 1u   // the next after the last one
#define JANUS_VICTIM_LEAST_LOADED 2u  // the worker with the most queued tasks

// Starts a thread that runs entry(arg) once and then ends. 0, or a negative value: refused, nothing left behind.
typedef int (*janus_start_thread_fn)(void (*entry)(void* arg), void* arg, void* context);

// What a report is about.
#define JANUS_REPORT_PANIC 0u      // a task panicked
#define JANUS_REPORT_EXHAUSTED 1u  // a task ended because its budget was used up
#define JANUS_REPORT_FAILED 2u     // a task returned a negative value; with report_failures
#define JANUS_REPORT_UNREAD 3u     // main left a nursery open in which a task failed, and nobody read that
#define JANUS_REPORT_DEADLOCK 4u   // every task waits for another

// What the runtime has to report. All of it, and what it points to, is valid during the call alone. Later versions may
// add fields at the end.
typedef struct janus_report {
  uint32_t size;             // of this struct, as the runtime fills it
  uint32_t event;            // JANUS_REPORT_*
  uint32_t kind;             // JANUS_KIND_*: how the task has ended; of a deadlock JANUS_KIND_PENDING
  uint32_t cause;            // JANUS_CAUSE_*
  uint64_t task_id;          // 0: of no task
  int64_t code;              // the task's result; of a deadlock JANUS_E_DEADLOCK
  const char* name;          // of the task; "" if it has none
  const char* nursery_path;  // the names of the nurseries around it, the outermost first, "-" for none: "outer/-/inner"
  const char* text;          // the lines that stderr would get
  uint64_t address;          // of a bad access, as far as the processor tells; else 0
  struct janus_rt* rt;       // the runtime
  void* context;             // report_context
} janus_report;

// Called for each report of a runtime, on whatever thread found it, also on several at once; when the task ends by force,
// after its code has been left. Runs on a stack of 64 KiB, outside tasks, and may call what threads outside tasks may,
// but not wait: a call that would have to wait is refused with JANUS_E_STATE, output with -EAGAIN (-11). If it panics
// or makes a bad access, it is left. 0: done; another value, or if it was left: stderr gets the text, too.
typedef int (*janus_report_fn)(const janus_report* report);

// 0 in any field means the default. 256 bytes for all of version 1; `reserved` must be zero.
typedef struct janus_rt_config {
  uint32_t size;                       // sizeof, or 0 for the first size of version 1
  uint32_t worker_count;               // 1 ... 1024; default: the CPUs that it may use, 4 if deterministic
  uint64_t deterministic_seed;         // with JANUS_RT_DETERMINISTIC
  uint32_t flags;                      // JANUS_RT_*
  uint32_t profile;                    // JANUS_PROFILE_*
  uint32_t yield_interval;             // ops in a slice, up to 1 << 20; default 1024, in cluster 512
  uint32_t stack_size;                 // of tasks, rounded up to 8 KiB * 2^n, at most 1 MiB; default 8 KiB
  janus_budget root_budget;            // of the root task; all 0: none of its own, in sovereign half of the memory
  uint64_t memory;                     // root pool, from 1 MiB; default 3/4 of machine or cgroup, deterministic 8 GiB
  uint32_t grace_ms;                   // from SIGTERM or SIGINT to the end by force; default 5,000
  uint32_t victim_strategy;            // JANUS_VICTIM_*
  uint32_t fair_interval;              // a dispatch in n, and one each yield_interval ops, takes the oldest; default 61
  uint32_t cancel_grace_ops;           // ops that a cancelled task has for cleaning up, on its budget; default 65,536
  uint32_t stats;                      // 1: the table of JANUS_STATS on stderr at the end
  uint32_t stack_cache;                // 0; other values are for a later version (JANUS_E_UNSUPPORTED)
  const char* trace;                   // NULL; traces are not in this release: JANUS_E_UNSUPPORTED
  janus_start_thread_fn start_thread;  // NULL: a host's own threads are for a later version (JANUS_E_UNSUPPORTED)
  void* start_thread_context;
  uint64_t slice_ops;        // 0: a slice is a yield interval (else JANUS_E_UNSUPPORTED)
  uint32_t stack_max;        // the size to which stacks grow, rounded up to 8 KiB * 2^n, at most 8 MiB; default 256 KiB
  uint32_t report_failures;  // 1: each task that returns a negative value, or uses up its budget, is reported
  janus_report_fn report;    // NULL: reports go to stderr
  void* report_context;
  uint8_t reserved[112];  // zero
} janus_rt_config;

// A program that janus-cc links may define this: its non-zero fields win over the environment.
extern const janus_rt_config janus_config;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // JANUS_RT_CONFIG_H
