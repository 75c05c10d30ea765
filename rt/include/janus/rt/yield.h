// SPDX-License-Identifier: Apache-2.0
// janus/rt/yield.h: yield points, time, and waiting. A part of janus/rt.h.
#ifndef JANUS_RT_YIELD_H
#define JANUS_RT_YIELD_H

#include <janus/rt/handles.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Yield points --------------------------------------------------------------------------------------------------

// The running task's fuel, an int64_t at %gs:8; the rest of that block is private. The check is `subq $cost, %gs:8; jl
// slow`; the slow path is an ordinary call of janus_yield_slow.
#define JANUS_FUEL_OFFSET 8

// Lets the ready tasks of this worker that share the task's budget run first: 0, or JANUS_CANCELLED. Free, but a second
// call in a row, with no charge in between, costs 1 op [task].
int janus_yield(void);
// The slow path of the check, once the slice is used up: charges it to the budget, yields if other tasks are ready,
// and suspends or ends the task if the budget is used up. 0, or JANUS_CANCELLED. Costs 1 op if called before the slice
// is used up [task].
int janus_yield_slow(void);

// Charges `cost` ops. Place it before calls and in loops. 0, or JANUS_CANCELLED. Tasks only: elsewhere there is no
// fuel, and the access faults.
static inline int janus_yield_check(uint32_t cost) {
  const int64_t charge = cost;
  int spent;
  __asm__ __volatile__("{subq %[cost], %%gs:%c[fuel]|sub QWORD PTR gs:%c[fuel], %[cost]}"
                       : "=@ccl"(spent)
                       : [cost] "er"(charge), [fuel] "i"(JANUS_FUEL_OFFSET));
  return __builtin_expect(spent, 0) ? janus_yield_slow() : 0;
}

#ifndef JANUS_YIELD_INTERVAL
#define JANUS_YIELD_INTERVAL 1024u
#endif

// The yield check of a loop. Counts iterations in a register, and charges them once in JANUS_YIELD_INTERVAL of them.
//     uint32_t counter = 0;
//     while (...) { if (JANUS_LOOP_CHECK(counter) < 0) return JANUS_CANCELLED; ... }
//     JANUS_LOOP_END(counter);
// JANUS_LOOP_END charges the iterations since the last check; a loop left without it is undercharged by less than one
// interval. Both give 0 or JANUS_CANCELLED. `counter` is a uint32_t variable of the function.
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

// ---- Time and waiting ----------------------------------------------------------------------------------------------

// Sleeps for `ns`, and not less: 0, or JANUS_CANCELLED; JANUS_E_NO_MEMORY if there is no stack for other tasks. 0 ns
// yields; UINT64_MAX sleeps until a cancel. Costs 1 op more if it has to wait [task].
int janus_sleep_ns(uint64_t ns);
// The same until janus_now_ns() is `deadline_ns`; at once if it is already. 0: until a cancel [task].
int janus_sleep_until(uint64_t deadline_ns);
// The time, monotonic; virtual in deterministic mode [any].
uint64_t janus_now_ns(void);
// The time since 1970-01-01 UTC [any].
int64_t janus_unix_time_ns(void);
// Waits for the token that janus_unpark leaves, and takes it: 0, JANUS_E_TIMEOUT or JANUS_CANCELLED; JANUS_E_NO_MEMORY
// if there is no stack for other tasks. A task has at most one token. A negative timeout waits for ever; 0 does not
// wait, and takes the token even in a cancelled task. Costs 1 op more if it waits for a time. For building locks [task].
int janus_park(int64_t timeout_ns);
// Calls fn(arg) with the cancel of the calling task put aside: for clean-up that has to wait. Its result is fn's, or
// JANUS_E_INVALID if fn is no function. Calls in there answer as in a task that was not cancelled, janus_cancelled says 0,
// and nurseries opened there are not cancelled from above before fn has returned; those that are still open then are.
// Deadlines go on, and so does the grace of a cancelled task: once that is used up, it ends as a panic here, too. All
// tasks below a nursery that is opened here spend that same grace, once the task was cancelled. A second shield within the
// first is the same one. A deadlock ends no wait in a shield [task].
int64_t janus_shield(janus_task_fn fn, void* arg);
// Leaves a token for the task, and wakes the task if it waits for one [any].
int janus_unpark(janus_task task);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // JANUS_RT_YIELD_H
