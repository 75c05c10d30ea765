// SPDX-License-Identifier: Apache-2.0
// janus/rt.h: the C ABI of janus-rt, for C99 and C++11 on x86_64. What stands here is version 1 and stays as it is:
// later releases append to the structs that begin with `size` and add functions; they change and remove nothing.
//
// How to read the notes. [task]: from a task only, elsewhere the answer is JANUS_E_NO_TASK. [any]: from any thread.
// Functions that give an int give 0 or more for success; a negative value is JANUS_CANCELLED or a JANUS_E_*.
// Functions that give a pointer or a handle give NULL or {0} for failure, and janus_last_error() says why.
// What is declared and not in this release answers JANUS_E_UNSUPPORTED; docs/abi.md lists it.
// NULL, {0}, stale handles and senseless values are errors, never crashes. A NULL `janus_rt *` is the current task's
// runtime. Times are nanoseconds, sizes bytes. Strings and option structs are copied during the call.
#ifndef JANUS_RT_H
#define JANUS_RT_H

#if !defined(__x86_64__) || defined(__ILP32__)
#error "janus-rt runs on x86_64 in 64-bit mode"
#endif

#include <stddef.h>
#include <stdint.h>

#define JANUS_ABI_VERSION 1
#define JANUS_RT_VERSION 100          /* major * 10000 + minor * 100 + patch */
#define JANUS_RT_VERSION_TEXT "0.1.0" /* `git tag` v0.1.0 */

#ifdef __cplusplus
extern "C" {
#endif

#define JANUS_NORETURN __attribute__((__noreturn__))
#define JANUS_PRINTF(format_at, values_at) __attribute__((__format__(__printf__, format_at, values_at)))
#define JANUS_ALLOCATES(...) __attribute__((__malloc__, __VA_ARGS__))

// Every object that includes this file refers to the symbol of its ABI, so that a mismatch is a link error.
// `retain` keeps the reference where the linker drops unused sections.
extern const char janus_abi_1;
#if defined(__has_attribute)
#if __has_attribute(__retain__)
__attribute__((__retain__))
#endif
#endif
__attribute__((__used__)) static const char* const janus_abi_reference = &janus_abi_1;

// ---- Results --------------------------------------------------------------------------------------------------------

// What a nursery came to (janus_nursery_await_all, janus_nursery_await). A child that failed gives its own negative
// return value instead; a child that itself returns -1 ... -4 is told apart by janus_result.kind.
#define JANUS_SUCCESS 0
#define JANUS_CANCELLED (-1)
#define JANUS_PANIC (-2)
#define JANUS_BUDGET_EXCEEDED (-3)
#define JANUS_PENDING (-4)

// Errors of this interface. They lie below -4096, so they never equal a value above or a kernel's -errno.
#define JANUS_E_CLOSED (-4097)       // the channel or nursery is closed
#define JANUS_E_WOULD_BLOCK (-4098)  // a try_ call that would have had to wait
#define JANUS_E_TIMEOUT (-4099)      // the time given has passed
#define JANUS_E_NO_TASK (-4100)      // not called from a task
#define JANUS_E_NO_CAP (-4101)       // the capability does not give this right, or the component was never granted
#define JANUS_E_BUDGET (-4102)       // the budget does not reach
#define JANUS_E_NO_MEMORY (-4103)    // the machine has no memory, or no stack, left
#define JANUS_E_STALE (-4104)        // a handle whose object has ended or been released
#define JANUS_E_INVALID (-4105)      // a senseless argument
#define JANUS_E_STATE (-4106)        // not possible in the state that it is in
#define JANUS_E_DEADLOCK (-4107)     // the wait could never end
#define JANUS_E_UNSUPPORTED (-4108)  // not in this release or not on this machine

#define JANUS_KIND_SUCCESS 0u
#define JANUS_KIND_CHILD_FAILED 1u
#define JANUS_KIND_CANCELLED 2u
#define JANUS_KIND_PANIC 3u
#define JANUS_KIND_BUDGET_EXCEEDED 4u
#define JANUS_KIND_PENDING 5u

typedef struct janus_result {
  uint32_t kind;           // JANUS_KIND_*: of the first failure, by severity
  uint32_t errors;         // how many children did not succeed, cancelled ones not counted
  int64_t code;            // the value as in the table above
  uint64_t task_id;        // whose value it is; 0 if no child of a nursery failed
  uint32_t was_cancelled;  // 1 if it was cancelled, whatever the result says
  uint32_t reserved;
} janus_result;

// ---- Types ----------------------------------------------------------------------------------------------------------

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

// What a task or nursery may spend. All five zero: not given, so default grants are drawn as they are needed. Otherwise
// each is literal: 0 grants nothing of it, all bits set grants all that the parent has. `memory` is what is held at one
// time; the others are used up. Finite amounts read back at most one below all bits set.
typedef struct janus_budget {
  uint32_t ops;          // loop iterations, calls, and 1 for each operation below
  size_t memory;         // bytes of blocks, task records and stacks
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

// What a nursery does when a child fails ...
#define JANUS_ON_ERROR_CANCEL 0u   // cancels the others
#define JANUS_ON_ERROR_COLLECT 1u  // lets them go on, and counts
// ... and what becomes of a child that has used up its budget.
#define JANUS_ON_EXHAUSTION_SUSPEND 0u  // waits in JANUS_TASK_BUDGET_EXHAUSTED until somebody recharges it
#define JANUS_ON_EXHAUSTION_FAIL 1u     // ends as JANUS_BUDGET_EXCEEDED
#define JANUS_ON_EXHAUSTION_DENY 2u     // the operation answers JANUS_E_BUDGET; without ops it waits

// With a budget: what its tasks allocated and left is freed when the nursery is destroyed. Whoever else still has such
// a block must not touch it any more. Costs 16 ops for each 64 pages of the heap, if anything was left. Channels that
// were left stay.
#define JANUS_NURSERY_RECLAIM 1u

typedef struct janus_nursery_options {
  uint32_t size;           // sizeof, or 0 for the size that version 1 began with
  uint32_t on_error;       // JANUS_ON_ERROR_*
  uint32_t on_exhaustion;  // JANUS_ON_EXHAUSTION_*
  uint32_t flags;          // JANUS_NURSERY_*
  janus_budget budget;     // carved from the opener's; comes back when the nursery ends
  janus_cap cap;
  const char* name;      // up to 31 bytes, NULL for none
  uint64_t deadline_ns;  // on janus_now_ns's clock: cancelled then; 0 for none
} janus_nursery_options;

#define JANUS_PRIORITY_NORMAL 0u
#define JANUS_PRIORITY_HIGH 1u
#define JANUS_PRIORITY_LOW 2u

// The record goes when the task ends: nobody will join it or ask for its result.
#define JANUS_SPAWN_DETACHED 1u
// Call fn even if the task was cancelled before it started, so that fn can free what `arg` owns. Otherwise it never
// runs.
#define JANUS_SPAWN_RUN_CANCELLED 2u

typedef struct janus_spawn_options {
  uint32_t size;        // sizeof, or 0 for the size that version 1 began with
  uint32_t priority;    // JANUS_PRIORITY_*: a hint
  size_t stack_size;    // rounded up to 8 KiB * 2^n, at most 1 MiB; 0: the runtime's default
  janus_budget budget;  // carved from the nursery's
  janus_cap cap;
  const char* name;  // up to 31 bytes, NULL for none
  uint64_t flags;    // JANUS_SPAWN_*
} janus_spawn_options;

#define JANUS_SEND 0u
#define JANUS_RECV 1u

typedef struct janus_select_case {
  janus_channel* channel;  // NULL: never ready
  void* data;              // what to send, or where to receive
  uint32_t op;             // JANUS_SEND or JANUS_RECV
  int32_t status;          // out, of the case taken: 0 or JANUS_E_CLOSED
} janus_select_case;

// ---- Settings -------------------------------------------------------------------------------------------------------

#define JANUS_RT_DETERMINISTIC 1u    // logical workers on one thread, every choice drawn from the seed, be it 0
#define JANUS_RT_NO_PIN 2u           // never pin workers to CPUs
#define JANUS_RT_NO_SIGNALS 4u       // install no signal handlers: faults and stack overflow then end the process
#define JANUS_RT_PIN 8u              // pin even where the machine is shared
#define JANUS_RT_IGNORE_SIGPIPE 16u  // a program: a write to a closed pipe is -EPIPE (-32) on descriptors 1 and 2, too

#define JANUS_PROFILE_DEFAULT 0u    // the environment's, else service
#define JANUS_PROFILE_SERVICE 1u    // capabilities and budgets implicit
#define JANUS_PROFILE_CLUSTER 2u    // as service, with half the yield interval
#define JANUS_PROFILE_SOVEREIGN 3u  // nothing implicit; not in this release: JANUS_E_UNSUPPORTED

#define JANUS_VICTIM_RANDOM 0u        // from the seeded generator
#define JANUS_VICTIM_ROUND_ROBIN 1u   // the next after the last one
#define JANUS_VICTIM_LEAST_LOADED 2u  // spare the least loaded: steal from the fullest deque

// Starts a thread that runs entry(arg) once and then ends. 0, or a negative value: refused, nothing left behind.
typedef int (*janus_start_thread_fn)(void (*entry)(void* arg), void* arg, void* context);

// 0 in any field means the default. 256 bytes for all of version 1; `reserved` must be zero.
typedef struct janus_rt_config {
  uint32_t size;                       // sizeof, or 0 for the size that version 1 began with
  uint32_t worker_count;               // 1 ... 1024; default: the CPUs that it may use, 4 if deterministic
  uint64_t deterministic_seed;         // with JANUS_RT_DETERMINISTIC
  uint32_t flags;                      // JANUS_RT_*
  uint32_t profile;                    // JANUS_PROFILE_*
  uint32_t yield_interval;             // ops in a slice, up to 1 << 20; default 1024, in cluster 512
  uint32_t stack_size;                 // of tasks, rounded up to 8 KiB * 2^n, at most 1 MiB; default 8 KiB
  janus_budget root_budget;            // of the root task; default by profile
  uint64_t memory;                     // root pool in bytes; default three quarters of the machine's or cgroup's
  uint32_t grace_ms;                   // from SIGTERM to the end by force; default 5,000
  uint32_t victim_strategy;            // JANUS_VICTIM_*
  uint32_t fair_interval;              // a dispatch in n, and one each yield_interval ops, takes the oldest; default 61
  uint32_t cancel_grace_ops;           // ops that a cancelled task has for cleaning up, on its budget; default 65,536
  uint32_t stats;                      // 1: the table of JANUS_STATS on stderr at the end
  uint32_t stack_cache;                // 0: what else it may be is for a later version (JANUS_E_UNSUPPORTED)
  const char* trace;                   // NULL; a trace of what ran is not in this release: JANUS_E_UNSUPPORTED
  janus_start_thread_fn start_thread;  // NULL: a host's own threads are for a later version (JANUS_E_UNSUPPORTED)
  void* start_thread_context;
  uint64_t slice_ops;     // 0: a slice is a yield interval (else JANUS_E_UNSUPPORTED)
  uint8_t reserved[136];  // zero
} janus_rt_config;

// A program that janus-cc links may define this: its non-zero fields win over the environment.
extern const janus_rt_config janus_config;

// Counters since the start, and levels now. Read without stopping anyone, so that they may be a moment apart.
typedef struct janus_stats {
  uint64_t size;  // in: sizeof; no more than that is written
  uint64_t tasks_spawned;
  uint64_t tasks_completed;  // returned 0 or more
  uint64_t tasks_cancelled;
  uint64_t tasks_failed;    // returned a negative value, or exceeded a budget
  uint64_t tasks_panicked;  // these too have ended; spawned = completed + cancelled + failed + panicked + live
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
  uint64_t tasks_inline;      // run to their end on a stack that somebody else stood on
  uint64_t stacks_installed;  // stacks guarded by MADV_GUARD_INSTALL
  uint64_t stacks_protected;  // stacks guarded by mprotect
  uint64_t stacks_canaried;   // stacks with a canary in place of a guard
  uint64_t bytes_peak;        // the most of the root pool that was drawn at once, what workers keep ready included
  uint64_t bytes_limit;       // the root pool
  uint64_t yields_charged;    // yields after a yield with nothing in between, which cost 1 op
  uint64_t workers_pinned;    // to one CPU each
  uint64_t injected;          // tasks that came in through the shared queue
  uint64_t uptime_ns;         // since the runtime began
  uint64_t seed;              // in deterministic mode
  uint64_t yield_interval;    // in force
  uint64_t stack_size;        // in force
  uint64_t fair_turns;        // dispatches that took what had waited longest, so that nobody starved
} janus_stats;

// ---- Frozen by the specification: the current nursery ---------------------------------------------------------------

// Starts the process's runtime [threads outside tasks]. Does nothing if there is one, and nothing in a task, so that a
// program may call it; whether it worked, janus_rt_try_init says.
void janus_rt_init(janus_rt_config config);
// Cancels what still runs, waits for it, and frees everything [threads outside tasks].
void janus_rt_shutdown(void);
// Opens a nursery and makes it the current one of this task, or of this thread outside tasks. Starts the runtime if
// need be, in a host with the settings of its environment (JANUS_*). The pointer is also good as a janus_nursery *, but
// only janus_nursery_await_all ends it. At most 64 threads outside tasks have current nurseries at a time: another one
// gets NULL, and JANUS_E_NO_MEMORY from janus_last_error() [any].
void* janus_nursery_create(void);
// Spawns a detached task in the current nursery: 0, or -1 with the reason in janus_last_error() [any].
int janus_nursery_spawn(janus_task_fn fn, void* arg);
// Closes the current nursery, waits for all its children, destroys it; the one below becomes current again. The table
// above, or JANUS_E_STATE where there is no current nursery [any].
long janus_nursery_await_all(void);

// ---- Nurseries ------------------------------------------------------------------------------------------------------

#define JANUS_NURSERY_OPEN 0
#define JANUS_NURSERY_CLOSING 1     // no more spawns, children live
#define JANUS_NURSERY_CANCELLING 2  // as closing, and children are told to end
#define JANUS_NURSERY_CLOSED 3      // terminal
#define JANUS_NURSERY_CANCELLED 4   // terminal

// Opens a nursery owned by the calling task (or thread); the current nursery stays. NULL options: defaults [any].
janus_nursery* janus_nursery_open(janus_rt* rt, const janus_nursery_options* options);
// Spawns fn(arg). The owner and every task below it may; from inside a task it costs 1 op, and 1 spawn_count of the
// nursery. `arg` is passed untouched. NULL options: defaults [any].
janus_task janus_nursery_spawn_in(janus_nursery* nursery, janus_task_fn fn, void* arg,
                                  const janus_spawn_options* options);
// No more spawns. Closing twice is fine [any].
int janus_nursery_close(janus_nursery* nursery);
// Closes, and tells every child and all below them to end. What has not started never runs [any].
int janus_nursery_cancel(janus_nursery* nursery);
// JANUS_NURSERY_* [any].
int janus_nursery_state(const janus_nursery* nursery);
// 0 and the result once terminal, JANUS_PENDING before. `result` may be NULL [any].
int janus_nursery_try_result(janus_nursery* nursery, janus_result* result);
// Closes, waits for all children, and gives the table above. If the caller is cancelled meanwhile it passes that on and
// still waits. `result` may be NULL [owner].
long janus_nursery_await(janus_nursery* nursery, janus_result* result);
// Frees a terminal nursery with the records of its tasks; JANUS_PENDING if it is not terminal [owner].
int janus_nursery_destroy(janus_nursery* nursery);
// Moves `amount` from the caller's budget to the nursery's and wakes its exhausted children [any].
int janus_nursery_recharge(janus_nursery* nursery, janus_budget amount);

// ---- Tasks ----------------------------------------------------------------------------------------------------------

#define JANUS_TASK_CREATED 0
#define JANUS_TASK_READY 1
#define JANUS_TASK_RUNNING 2
#define JANUS_TASK_BLOCKED 3
#define JANUS_TASK_BUDGET_EXHAUSTED 4
#define JANUS_TASK_COMPLETED 5
#define JANUS_TASK_FAILED 6
#define JANUS_TASK_CANCELLED 7

// Waits until `task` has ended: 0, and in *result (may be NULL) what its function returned or, if it never returned,
// the value of the table. Negative: the wait failed; JANUS_CANCELLED means that the caller was cancelled. Any task
// below the owner of its nursery may join it, several times; oneself or an ancestor is JANUS_E_DEADLOCK [task].
int janus_task_join(janus_task task, int64_t* result);
// 0 and how it ended. JANUS_PENDING while it lives: then *result has that kind and the task's id [any].
int janus_task_result(janus_task task, janus_result* result);
// Gives up the handle: the record goes as soon as the task has ended [any].
int janus_task_release(janus_task task);
// Tells the task, and all below it, to end [any].
int janus_task_cancel(janus_task task);
// JANUS_TASK_* [any].
int janus_task_state(janus_task task);
// The calling task; {0} outside tasks.
janus_task janus_task_self(void);
// Never used twice; the root task's is 1; 0 outside tasks.
uint64_t janus_task_id(void);
// 1 once the calling task was told to end, else 0. It stays so.
int janus_cancelled(void);
// Ends the calling task as JANUS_PANIC; destructors do not run. Outside tasks it ends the process.
JANUS_NORETURN void janus_task_panic(const char* why);
// Up to 31 bytes, the rest is cut off; shown in panics and traces [task].
int janus_task_set_name(const char* name);
// The JANUS_E_* behind this task's (thread's) last NULL, {0} or -1; 0 if there was none.
int janus_last_error(void);
// Keeps the task on the worker that it is on, until as many unpins have followed [task].
int janus_task_pin(void);
int janus_task_unpin(void);

// Task-local values. At most 1,024 keys live in a process, half of them for tasks without a budget of their own alone;
// each has a destructor (may be NULL; of the runtime's own functions janus_free alone) for what is left when a task
// ends, but for a panic. A key costs its maker's account a few bytes until it is deleted, by a task on that account or
// on the root's, and a key that was made below a budget ends with that budget; values that tasks still have under it
// are forgotten then, with no destructor called, and a later key is never taken for it.
int janus_local_new(janus_local_key* key, void (*destroy)(void* value));
int janus_local_delete(janus_local_key key);
void* janus_local_get(janus_local_key key);
int janus_local_set(janus_local_key key, void* value);

// ---- Yield points ---------------------------------------------------------------------------------------------------

// The running task's fuel, an int64_t at %gs:8; the rest of that block is private. The check is
// `subq $cost, %gs:8; jl slow`, and the slow path an ordinary call of janus_yield_slow.
#define JANUS_FUEL_OFFSET 8

// Goes behind every ready task: 0, or JANUS_CANCELLED. Free, but a second one with no charge in between is 1 op [task].
int janus_yield(void);
// What the check calls once the slice is used up: settles it against the budget, yields if others wait, suspends an
// exhausted task. 0, or JANUS_CANCELLED. Before it is used up it costs 1 op [task].
int janus_yield_slow(void);

// Charges `cost` ops. Belongs before calls and into loops. 0, or JANUS_CANCELLED. Tasks only: outside of
// them there is no fuel to count, and the access faults.
static inline int janus_yield_check(uint32_t cost) {
  const int64_t charge = cost;
  int spent;
  __asm__ __volatile__("{subq %[cost], %%gs:%c[fuel]|sub QWORD PTR gs:%c[fuel], %[cost]}"
                       : "=@ccl"(spent)
                       : [cost] "er"(charge), [fuel] "i"(JANUS_FUEL_OFFSET));
  return __builtin_expect(spent, 0) ? janus_yield_slow() : 0;
}

// The loop form: the iterations are counted in a local and charged together once in JANUS_YIELD_INTERVAL of them, which
// costs a tight loop a register instead of a memory chain.
//     uint32_t counter = 0;
//     while (...) { if (JANUS_LOOP_CHECK(counter) < 0) return JANUS_CANCELLED; ... }
//     JANUS_LOOP_END(counter);
// JANUS_LOOP_END charges the iterations since the last check; a loop left without it is undercharged by less than one
// interval. Both give 0 or JANUS_CANCELLED. `counter` is a uint32_t variable of the function.
#ifndef JANUS_YIELD_INTERVAL
#define JANUS_YIELD_INTERVAL 1024u
#endif
#define JANUS_LOOP_CHECK(counter) janus_loop_check(&(counter))
#define JANUS_LOOP_END(counter) janus_loop_end(&(counter))

static inline int janus_loop_check(uint32_t* counter) {
  if (__builtin_expect(++*counter < JANUS_YIELD_INTERVAL, 1)) return 0;
  *counter = 0;
  return janus_yield_check(JANUS_YIELD_INTERVAL);
}

static inline int janus_loop_end(uint32_t* counter) {
  const uint32_t cost = *counter;
  *counter = 0;
  return janus_yield_check(cost);
}

// ---- Time and waiting -----------------------------------------------------------------------------------------------

// 0, or JANUS_CANCELLED [task].
int janus_sleep_ns(uint64_t ns);
// Monotonic; virtual in deterministic mode [any].
uint64_t janus_now_ns(void);
// Since 1970-01-01 UTC [any].
int64_t janus_unix_time_ns(void);
// Waits for the token that janus_unpark leaves, and takes it: 0, JANUS_E_TIMEOUT or JANUS_CANCELLED; JANUS_E_NO_MEMORY
// where nobody else has a stack to go on with. Tokens do not add up. A negative time is for ever. For building one's
// own locks [task].
int janus_park(int64_t timeout_ns);
int janus_unpark(janus_task task);  // [any]

// ---- Channels -------------------------------------------------------------------------------------------------------

// Elements are copied in and out. First come, first served. Sends and receives cost 1 op and 1 channel_op; NULL
// channels are JANUS_E_INVALID.

// Capacity 0: sender and receiver meet. The caller holds the one reference; the last release closes and frees [any].
janus_channel* janus_channel_create(size_t element_size, size_t capacity);
// NULL: JANUS_E_STALE, or JANUS_E_STATE beyond 2^31 references [any].
janus_channel* janus_channel_retain(janus_channel* channel);
// One reference less. Of a channel that is gone: nothing, and JANUS_E_STALE behind janus_last_error [any].
void janus_channel_release(janus_channel* channel);
// 0, JANUS_E_CLOSED or JANUS_CANCELLED; what was not sent was not taken [task].
int janus_channel_send(janus_channel* channel, const void* element);
// 0, JANUS_E_CLOSED once closed and drained, or JANUS_CANCELLED [task].
int janus_channel_recv(janus_channel* channel, void* element);
// As above, but JANUS_E_WOULD_BLOCK in place of waiting [any].
int janus_channel_try_send(janus_channel* channel, const void* element);
int janus_channel_try_recv(janus_channel* channel, void* element);
// Senders get JANUS_E_CLOSED from now on, receivers when they have drained it; so does a second close [any].
int janus_channel_close(janus_channel* channel);
// The index of the case taken, one at random among several that are ready. Timeout 0 polls, below 0 waits for ever.
// Nothing taken: JANUS_E_TIMEOUT or JANUS_CANCELLED [task].
int janus_select(janus_select_case* cases, size_t count, int64_t timeout_ns);

// ---- Budgets and capabilities ---------------------------------------------------------------------------------------

#define JANUS_CAP_SPAWN 1u   // may spawn
#define JANUS_CAP_BUDGET 2u  // may recharge itself, up to the token's limit

// What the calling task has left; all zero outside tasks.
janus_budget janus_budget_get_current(void);
// Adds to the calling task's budget out of its capability's limit; needs JANUS_CAP_BUDGET [task].
int janus_budget_recharge(janus_budget amount);
// As janus_nursery_recharge, for one component beyond the struct's widths; all bits set: all that the caller has [any].
int janus_budget_grant64(janus_nursery* nursery, int component, uint64_t amount);
// The token that everything derives from [the root task].
janus_cap janus_cap_root(janus_rt* rt);
// A token with no more rights and no more limit than `cap` has [task].
janus_cap janus_cap_derive(janus_cap cap, uint32_t rights, janus_budget limit);
// Ends that token and all derived from it [task].
int janus_cap_revoke(janus_cap cap);

// ---- Memory, output, the system -------------------------------------------------------------------------------------

// Charged to the calling task's memory and credited there when freed, by whomever. 16-byte aligned; size 0 gives a
// block of its own. NULL: the budget or the machine has no more [any].
JANUS_ALLOCATES(__alloc_size__(1)) void* janus_alloc(size_t size);
// `align` is a power of two, up to 1 MiB; a sixteenth of it at least is charged [any].
JANUS_ALLOCATES(__alloc_size__(2)) void* janus_alloc_aligned(size_t align, size_t size);
// NULL: as janus_alloc. On failure the old block is as it was; what is no block of the caller's is as for janus_free
// [any].
void* janus_realloc(void* block, size_t size);
// NULL is fine. What is no block, was freed before or is the runtime's own is the calling task's panic, and nothing
// else happens; outside tasks it ends the process [any].
void janus_free(void* block);

// %d %i %u %x %X %o %c %s %p %% with flags, width, precision and hh h l ll z t j; one piece of at most 4 KiB. Gives
// what janus_write gives [any].
JANUS_PRINTF(2, 3) int janus_print(int fd, const char* format, ...);
// 0 when all is written. JANUS_CANCELLED: the caller was told to end, and would have had to wait for its turn or for
// room; some may have been written. Else -errno, with EACCES in place of EPERM, which is -1 as well. Whole lines never
// interleave [any].
int janus_write(int fd, const void* bytes, size_t size);
// The Linux system call `nr`, with as many arguments as it has (up to 6, each an integer or pointer of 64 bits): its
// result or -errno. Costs 9 ops and 1 of `syscalls`; may hold its worker [task].
int64_t janus_syscall(long nr, ...);
// Runs fn(arg) on a helper thread while the task waits and its worker goes on; fn's result [task].
int64_t janus_blocking(janus_task_fn fn, void* arg);
// Fills with random bytes, drawn from the seed in deterministic mode [any].
int janus_entropy(void* bytes, size_t size);
// Ends the process at once. In a task below an explicit budget it is that task's panic [any].
JANUS_NORETURN void janus_exit(int status);

// ---- For runtimes and hosts -----------------------------------------------------------------------------------------

// janus_rt_init with an answer. NULL: defaults. What is 0 in it is as the environment says (JANUS_*), and a senseless
// value there is JANUS_E_INVALID and a line on stderr. JANUS_E_STATE if there is a runtime, and in a task [threads
// outside tasks].
int janus_rt_try_init(const janus_rt_config* config);
// An isolated runtime with workers and memory of its own [threads outside tasks].
janus_rt* janus_rt_create(const janus_rt_config* config);
// Cancels what still runs, waits for it, and frees. A task that does not end is waited for all the same, since it may
// use what it was given; after grace_ms a line on stderr says so [threads outside tasks].
void janus_rt_destroy(janus_rt* rt);
// Runs fn(arg) as a root task and waits; its result as for main. JANUS_E_DEADLOCK once nothing can run any more and
// nobody outside has a hand in it: all is cancelled then. Who brings things on from outside (janus_unpark, a channel
// that a task made) keeps a nursery open there meanwhile; a channel made outside tasks, or shared with another runtime,
// counts as well. The same goes for a thread that awaits a nursery of its own [threads outside tasks].
long janus_rt_run(janus_rt* rt, janus_task_fn fn, void* arg);
// Fills *out up to out->size [any].
void janus_rt_stats(janus_rt* rt, janus_stats* out);
// Returns 0 once no other task of that runtime runs user code, until resumed; JANUS_E_TIMEOUT [any].
int janus_safepoint_stop(janus_rt* rt, int64_t timeout_ns);
int janus_safepoint_resume(janus_rt* rt);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // JANUS_RT_H
