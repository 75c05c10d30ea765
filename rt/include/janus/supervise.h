// SPDX-License-Identifier: Apache-2.0
// janus/supervise.h: mailboxes, from which a task receives what it wants first; and supervisors, which start tasks again
// that have died. C99 and C++11; may be included alone.
//
// How to read the notes: as in janus/rt.h. A handle of another thing, or of none, makes the calling task panic.
#ifndef JANUS_SUPERVISE_H
#define JANUS_SUPERVISE_H

#include <janus/rt/budget.h>
#include <janus/rt/handles.h>
#include <janus/rt/result.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Mailboxes -----------------------------------------------------------------------------------------------------

// A bounded queue of messages of one size. Any task may send and receive that has the handle; as a rule one receives.
typedef struct janus_mailbox janus_mailbox;

// A send or receive costs 1 op, 1 more for each whole 4 KiB of the message, and 1 channel_op; a call that waits for a time
// 1 op more. If `mailbox` is NULL, a call's error is JANUS_E_INVALID. A form with _until waits until janus_now_ns() is
// `deadline_ns` (0: for ever), and then returns JANUS_E_TIMEOUT; a deadline that has passed does not wait.

// Creates a mailbox for up to `capacity` messages (1 or more) of 1 byte to 64 KiB, and 24 bytes for each. The caller holds
// the only reference; the last release closes the mailbox and frees it [any].
janus_mailbox* janus_mailbox_create(size_t element_size, size_t capacity);
// Adds a reference. If that fails, returns NULL: JANUS_E_STALE, or JANUS_E_STATE beyond 2^31 references [any].
janus_mailbox* janus_mailbox_retain(janus_mailbox* mailbox);
// Drops a reference. For a mailbox that has ended it does nothing, and janus_last_error gives JANUS_E_STALE [any].
void janus_mailbox_release(janus_mailbox* mailbox);
// Sends a message. 0, JANUS_E_CLOSED or JANUS_CANCELLED; on failure it was not taken. Senders that wait get room in the
// order in which they came [task].
int janus_mailbox_send(janus_mailbox* mailbox, const void* message);
int janus_mailbox_send_until(janus_mailbox* mailbox, const void* message, uint64_t deadline_ns);
// The same, but returns JANUS_E_WOULD_BLOCK instead of waiting; a cancelled task can send, too [any].
int janus_mailbox_try_send(janus_mailbox* mailbox, const void* message);
// Receives the oldest message. 0, JANUS_E_CLOSED once closed and empty, or JANUS_CANCELLED [task].
int janus_mailbox_recv(janus_mailbox* mailbox, void* message);
int janus_mailbox_recv_until(janus_mailbox* mailbox, void* message, uint64_t deadline_ns);
// Receives the oldest message for which wants(message, arg) is not 0, and waits until there is one; the others stay as they
// are. JANUS_E_CLOSED: closed, and there is none. In one call `wants` is asked about each message once, and about none for
// which the answer was no in an earlier call with the same `wants` and a NULL `arg`: without an argument a filter must
// always say the same of the same message. (The mailbox remembers this of 8 filters.) `wants` is called in the calling
// task, which pays 1 op for each message, and 1 more for each whole 4 KiB of it. It gets the message in the caller's
// buffer, which may therefore have changed when the call fails; it may wait, yield, end the task, or use the mailbox, with
// another buffer. The deadline is not for `wants`. JANUS_E_INVALID: `wants` is NULL or a function of the runtime [task].
int janus_mailbox_recv_match(janus_mailbox* mailbox, int (*wants)(const void* message, void* arg), void* arg,
                             void* message);
int janus_mailbox_recv_match_until(janus_mailbox* mailbox, int (*wants)(const void* message, void* arg), void* arg,
                                   void* message, uint64_t deadline_ns);
// Closes the mailbox: senders get JANUS_E_CLOSED from now on, receivers once nothing is left for them. A second close
// returns JANUS_E_CLOSED [any].
int janus_mailbox_close(janus_mailbox* mailbox);

// ---- Supervisors ---------------------------------------------------------------------------------------------------

// A task that owns others, its children, starts them in order, and again when they have died; and gives up when they die
// too often, so that who started it can do the same one level higher.
typedef struct janus_supervisor janus_supervisor;

// Which children are started again when one has died: that one; all; that one and those added after it. The others are
// stopped for it, the last first.
#define JANUS_ONE_FOR_ONE 0u
#define JANUS_ONE_FOR_ALL 1u
#define JANUS_REST_FOR_ONE 2u

#define JANUS_RESTARTS_ANY UINT32_MAX  // as max_restarts: it never gives up for their number

typedef struct janus_supervisor_options {
  uint32_t size;      // sizeof, or 0 for the size that version 1 began with
  uint32_t strategy;  // JANUS_ONE_FOR_*, JANUS_REST_FOR_ONE
  // It gives up when a child has died and there have been `max_restarts` (0 to 4,096, or JANUS_RESTARTS_ANY) recent
  // restarts. A restart is recent if the tasks of the runtime have spent at most `within_ops` since, and at most
  // `within_ns` have passed. 0: that does not count; both 0: all restarts are recent.
  uint32_t max_restarts;
  uint64_t within_ops;
  uint64_t within_ns;
  // A child is started again at once; if it dies soon, after delay_min_ns, and then each time after twice as long, up to
  // delay_max_ns. A child that has lived for delay_max_ns begins anew. 0 and 0: always at once. If one is 0: 1 ms, 1 s.
  uint64_t delay_min_ns;
  uint64_t delay_max_ns;
  janus_budget budget;  // for the children and their starts, taken from that of the task that runs it
  const char* name;     // up to 31 bytes, NULL for none
} janus_supervisor_options;

// When a child is started again that has died: always; unless its result was 0 or more; never, and then it is removed.
#define JANUS_PERMANENT 0u
#define JANUS_TRANSIENT 1u
#define JANUS_TEMPORARY 2u

typedef struct janus_child_spec {
  uint32_t size;     // sizeof, or 0 for the size that version 1 began with
  uint32_t restart;  // JANUS_PERMANENT, JANUS_TRANSIENT, JANUS_TEMPORARY
  janus_task_fn start;
  void* arg;
  janus_budget budget;  // new at each start, taken from the supervisor's; none: it spends the supervisor's
  uint64_t stop_ns;     // how long to wait for its end when it is stopped; 0: as long as it takes
  const char* name;     // up to 31 bytes, NULL for none
  // 0: those after it are started at once. Else when it calls janus_child_ready; if it has not within that time, it is
  // stopped and counts as dead, and not until it has ended.
  uint64_t ready_ns;
} janus_child_spec;

#define JANUS_CHILD_WAITS 0u  // to be started
#define JANUS_CHILD_RUNS 1u
#define JANUS_CHILD_STOPS 2u  // it was told to end
#define JANUS_CHILD_ENDED 3u  // as it should: it is not started again alone

typedef struct janus_child {
  int64_t id;
  uint32_t state;     // JANUS_CHILD_*
  uint32_t restarts;  // how often it was started again
  uint64_t task_id;   // of the task that it is, or was last; 0: it has not been started
  janus_result last;  // how it ended the last time; of the kind JANUS_KIND_PENDING: it has not
  char name[32];
} janus_child;

// Calls for supervisors are for tasks of their runtime; those of others get JANUS_E_NO_CAP.

// Opens a supervisor that runs nothing yet. NULL options, or all zero: one for one, and it gives up when a child has died
// [task].
janus_supervisor* janus_supervisor_open(janus_rt* rt, const janus_supervisor_options* options);
// Adds a child after all others: its number, 1 or more, or an error. The caller pays for its record; the supervisor, while
// it runs, starts it as soon as it comes to it. JANUS_E_NO_CAP: the caller has not opened the supervisor, and may not spawn
// where its children run; while it does not run: spends from another budget than its opener, or is confined to a token
// [task].
int64_t janus_supervisor_add(janus_supervisor* supervisor, const janus_child_spec* spec);
// Removes a child, and stops it if it runs: waits for its end. JANUS_E_STALE: there is no such child. JANUS_E_DEADLOCK: the
// caller is the child, or below it; or the child waits for the caller in a shield, and then it was told to end, and is
// removed when it ends. JANUS_E_TIMEOUT: it has not ended within its stop_ns, JANUS_CANCELLED: the caller was
// told to end; it is removed when it ends [task].
int janus_supervisor_remove(janus_supervisor* supervisor, int64_t id);
// Runs the supervisor in the calling task: starts the children in the order of their numbers, and watches them. At its end
// stops them all, the last first, and waits for them; if the calling task was told to end, and half of the ops are spent
// that children may spend until their end, it stops all that are left at once.
// JANUS_CANCELLED: the caller was told to end. JANUS_E_STATE: it gave up; janus_last_error is JANUS_E_STATE if children
// have died too often or did not stop in time, or else the error of a start for which the budget has too little. 0: it was
// closed. Then it can be run again, with all children. JANUS_E_STATE also if it runs already [task].
int janus_supervisor_run(janus_supervisor* supervisor);
// Writes up to `n` of its children, from the lowest number on, to `children` (may be NULL if n is 0): how many there are.
// Costs 1 op for each that is written [task].
int64_t janus_supervisor_children(janus_supervisor* supervisor, janus_child* children, size_t n);
// Ends the supervisor: if it runs, janus_supervisor_run stops its children and returns. The handle is stale at once. Costs
// nothing [task].
int janus_supervisor_close(janus_supervisor* supervisor);
// Called by a child with ready_ns: those after it may be started. JANUS_E_STATE: the caller is no child of a supervisor
// [task].
int janus_child_ready(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // JANUS_SUPERVISE_H
