// SPDX-License-Identifier: Apache-2.0
// janus/sync.h: locks, and what tasks wait for together. C99 and C++11; may be included alone.
//
// The objects are plain memory: 8 or 16 bytes, aligned to 8, without a pointer in them. All bytes zero are a valid object
// that nobody holds, and nothing has to be freed. An object may be forgotten or reused as soon as nobody waits at it.
// Objects are for the tasks of one runtime; they may be shared between cages, whose tasks take turns in the queues.
//
// How to read the notes: as in janus/rt.h. A call that may wait returns JANUS_CANCELLED in a task that was told to end,
// whether it would have waited or not, and has then done nothing, unless its note says otherwise; what was given to a
// task before the cancel stays given, and the call returns 0. JANUS_E_NO_MEMORY: there is no stack for other tasks.
// A form with _until waits until janus_now_ns() is `deadline_ns` (0: for ever), and then returns JANUS_E_TIMEOUT; a
// deadline that has passed does not wait. NULL, and an object that is not aligned, are JANUS_E_INVALID; memory that
// cannot be accessed makes the calling task panic. A call that may wait costs 1 op, and 1 more if it waits for a time.
#ifndef JANUS_SYNC_H
#define JANUS_SYNC_H

#include <janus/rt/handles.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Mutexes -------------------------------------------------------------------------------------------------------

// A lock that one task holds. A task that comes while it is free gets it; one that has waited and was passed four times
// is handed it.
typedef struct janus_mutex {
  uint64_t word;
} janus_mutex;

// Locks the mutex. 0: the caller holds it. JANUS_E_STATE: the caller holds it, too, but a task has ended that held it, and
// what it guards may be half changed; so say all locks until janus_mutex_heal. JANUS_E_DEADLOCK: the caller holds it
// already, or this wait would close a circle of tasks that wait for locks of each other, or for each other's end [task].
int janus_mutex_lock(janus_mutex* mutex);
int janus_mutex_lock_until(janus_mutex* mutex, uint64_t deadline_ns);
// As janus_mutex_lock, but returns JANUS_E_WOULD_BLOCK instead of waiting, also to its holder; works in a cancelled task.
// Costs 1 op [task].
int janus_mutex_try_lock(janus_mutex* mutex);
// Unlocks it. JANUS_E_STATE: the caller does not hold it [task].
int janus_mutex_unlock(janus_mutex* mutex);
// Says that what the mutex guards is whole again, so that locks return 0. The caller holds it, and goes on doing so;
// else JANUS_E_STATE. Costs 1 op [task].
int janus_mutex_heal(janus_mutex* mutex);

// ---- Reader-writer locks -------------------------------------------------------------------------------------------

// A lock that one task holds to write, or up to 2^30 to read. While a writer waits, no more readers get it; after a
// writer come all readers that wait, then the next writer. Which tasks read is not known: the lock of a reader that has
// ended stays locked, and a reader that waits to write waits for itself. Nothing recursive.
typedef struct janus_rwlock {
  uint64_t words[2];
} janus_rwlock;

// Lock it to read or to write. 0: the caller has it. JANUS_E_STATE: the caller has it, too, but the writer before has ended
// without unlocking it; only those who get it next are told. JANUS_E_DEADLOCK: as for mutexes, where a writer holds it
// [task].
int janus_rwlock_read_lock(janus_rwlock* lock);
int janus_rwlock_read_lock_until(janus_rwlock* lock, uint64_t deadline_ns);
int janus_rwlock_write_lock(janus_rwlock* lock);
int janus_rwlock_write_lock_until(janus_rwlock* lock, uint64_t deadline_ns);
// The same, but they return JANUS_E_WOULD_BLOCK instead of waiting, and work in a cancelled task. Cost 1 op [task].
int janus_rwlock_try_read_lock(janus_rwlock* lock);
int janus_rwlock_try_write_lock(janus_rwlock* lock);
// Unlock it. JANUS_E_STATE: nobody reads, or the caller does not write. Each task that this wakes beyond the first costs
// 1 op [task].
int janus_rwlock_read_unlock(janus_rwlock* lock);
int janus_rwlock_write_unlock(janus_rwlock* lock);

// ---- Conditions ----------------------------------------------------------------------------------------------------

typedef struct janus_cond {
  uint64_t word;
} janus_cond;

// Unlocks the mutex, waits for a signal, and locks it again. A signal sent by a task that had the mutex after the caller
// is not missed. Check the condition in a loop. Whatever it returns, the caller holds the mutex as before; for that it
// waits on even if it was told to end or its time has passed. JANUS_E_STATE: the caller does not hold the mutex, and
// nothing has happened; or, holding it, as for janus_mutex_lock, also where the time has passed [task].
int janus_cond_wait(janus_cond* cond, janus_mutex* mutex);
int janus_cond_wait_until(janus_cond* cond, janus_mutex* mutex, uint64_t deadline_ns);
// Ends the wait of one task, if any waits [task].
int janus_cond_signal(janus_cond* cond);
// Ends the waits of all that wait. Each but the first costs 1 op; others may run meanwhile [task].
int janus_cond_broadcast(janus_cond* cond);

// ---- Semaphores ----------------------------------------------------------------------------------------------------

// A number of permits, below 2^32; none at first.
typedef struct janus_semaphore {
  uint64_t word;
} janus_semaphore;

// Makes it one with `permits`, if nobody uses it. Costs 1 op [any].
int janus_semaphore_init(janus_semaphore* semaphore, uint32_t permits);
// Takes a permit. Tasks that wait get them in turn, and before those who come later [task].
int janus_semaphore_acquire(janus_semaphore* semaphore);
int janus_semaphore_acquire_until(janus_semaphore* semaphore, uint64_t deadline_ns);
// The same, but returns JANUS_E_WOULD_BLOCK instead of waiting, and works in a cancelled task. Costs 1 op [task].
int janus_semaphore_try_acquire(janus_semaphore* semaphore);
// Adds permits, whoever took them. JANUS_E_INVALID: 0 permits. JANUS_E_STATE: there would be too many, and there are as
// before. Each task that this wakes beyond the first costs 1 op; others may run meanwhile [task].
int janus_semaphore_release(janus_semaphore* semaphore, uint32_t permits);

// ---- Barriers ------------------------------------------------------------------------------------------------------

// Where a number of tasks meet, again and again.
typedef struct janus_barrier {
  uint64_t words[2];
} janus_barrier;

// Makes it one for `parties` tasks, if nobody uses it. JANUS_E_INVALID: 0. Costs 1 op [any].
int janus_barrier_init(janus_barrier* barrier, uint32_t parties);
// Waits until as many tasks have come. 1 for the last of them, 0 for the others. A task whose wait ends otherwise has not
// come. JANUS_E_STATE: it is not initialised. Each task that the last one wakes beyond the first costs it 1 op [task].
int janus_barrier_wait(janus_barrier* barrier);
int janus_barrier_wait_until(janus_barrier* barrier, uint64_t deadline_ns);

// ---- Wait groups ---------------------------------------------------------------------------------------------------

// A count, from 0 to 2^31 - 1, of what is to be done.
typedef struct janus_wait_group {
  uint64_t word;
} janus_wait_group;

// Adds to the count; `n` may be negative. JANUS_E_STATE: the count would be out of its range, and is as before. At 0 the
// waits end; each but the first costs 1 op, and others may run meanwhile. Costs 1 op [task].
int janus_wait_group_add(janus_wait_group* group, int64_t n);
// The same with -1, without that op [task].
int janus_wait_group_done(janus_wait_group* group);
// Waits until the count is 0 [task].
int janus_wait_group_wait(janus_wait_group* group);
int janus_wait_group_wait_until(janus_wait_group* group, uint64_t deadline_ns);

// ---- Events --------------------------------------------------------------------------------------------------------

// Something that has happened, or has not.
typedef struct janus_event {
  uint64_t word;
} janus_event;

// Sets it, and ends the waits of all that wait, also if it is reset at once. Each but the first costs 1 op; others may run
// meanwhile [task].
int janus_event_set(janus_event* event);
// Costs 1 op [task].
int janus_event_reset(janus_event* event);
// Waits until it is set [task].
int janus_event_wait(janus_event* event);
int janus_event_wait_until(janus_event* event, uint64_t deadline_ns);

// ---- What is done once ---------------------------------------------------------------------------------------------

typedef struct janus_once {
  uint64_t word;
} janus_once;

// Calls fn(arg), unless that was done before; waits while another task does it. 0: it was called, and has returned. If
// the task that calls it ends by force meanwhile, the next one calls it again. JANUS_E_DEADLOCK: `fn` itself waits for
// that. JANUS_E_INVALID: `fn` is NULL or a function of the runtime [task].
int janus_once_call(janus_once* once, void (*fn)(void*), void* arg);
// The deadline is for the wait for another task, not for `fn` [task].
int janus_once_call_until(janus_once* once, void (*fn)(void*), void* arg, uint64_t deadline_ns);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // JANUS_SYNC_H
