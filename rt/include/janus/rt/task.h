// SPDX-License-Identifier: Apache-2.0
// janus/rt/task.h: tasks by handle, the calling task, and task-local values. A part of janus/rt.h.
#ifndef JANUS_RT_TASK_H
#define JANUS_RT_TASK_H

#include <janus/rt/handles.h>
#include <janus/rt/result.h>

#define JANUS_TASK_CREATED 0
#define JANUS_TASK_READY 1
#define JANUS_TASK_RUNNING 2
#define JANUS_TASK_BLOCKED 3
#define JANUS_TASK_BUDGET_EXHAUSTED 4
#define JANUS_TASK_COMPLETED 5
#define JANUS_TASK_FAILED 6
#define JANUS_TASK_CANCELLED 7

#ifdef __cplusplus
extern "C" {
#endif

// Waits until `task` has ended: 0, and in *result (may be NULL) the return value of its function or, if it did not
// return, the value of janus/rt/result.h for its end. Negative: the wait failed; JANUS_CANCELLED means that the caller
// was cancelled, whether the task has ended or not. The owner of the task's nursery and every task below it may join,
// several times; joining oneself or an ancestor is JANUS_E_DEADLOCK [task].
int janus_task_join(janus_task task, int64_t* result);
// The same until janus_now_ns() is `deadline_ns` (0: for ever): then JANUS_E_TIMEOUT [task].
int janus_task_join_until(janus_task task, int64_t* result, uint64_t deadline_ns);
// Gets the task's result without waiting: 0 and the result. JANUS_PENDING while the task lives: then *result has the
// kind JANUS_KIND_PENDING and the task's id. Tasks that may join it may call this [any].
int janus_task_result(janus_task task, janus_result* result);
// Watches a task: when it ends, its result is sent into `channel`, whose elements are of the type janus_result; if it has
// ended already, at once. Tasks that may join it may call this, any number of times. The task's end does not wait for
// the channel: a message that finds it full, closed or gone is lost, so it should have a place for each watch. The watch
// holds no reference to the channel. Costs a channel_op, and some 100 bytes of memory until the task ends. JANUS_E_INVALID:
// elements of another size; JANUS_E_STATE: a channel of another runtime; JANUS_E_WOULD_BLOCK, JANUS_E_CLOSED: the task
// has ended, and the channel is full or closed [task].
int janus_task_watch(janus_task task, janus_channel* channel);
// Gives up the handle: the task's record is freed as soon as the task has ended [any].
int janus_task_release(janus_task task);
// Tells the task, and all tasks below it, to end [any].
int janus_task_cancel(janus_task task);
// Its state: JANUS_TASK_* [any].
int janus_task_state(janus_task task);
// The calling task; {0} outside tasks.
janus_task janus_task_self(void);
// The task with that number, if it lives, and the caller may spawn into the nursery that it is in, or is that task. {0}
// and JANUS_E_STALE otherwise, and for a task of which there is no handle and that has not called janus_task_id. Looks at
// the records of all tasks, for 1 op each 32; so keep handles where you can [task].
janus_task janus_task_find(uint64_t id);
// The calling task's number, unique in its runtime; the first task's, such as main's, is 1; 0 outside tasks.
uint64_t janus_task_id(void);
// 1 once the calling task was told to end, else 0. Once 1 it stays 1, but for janus_shield, in which it is 0.
int janus_cancelled(void);
// Ends the calling task as JANUS_PANIC without running destructors. Outside tasks it ends the process.
JANUS_NORETURN void janus_task_panic(const char* why);
// Names the calling task in the runtime's reports. Up to 31 bytes; the rest is cut off [task].
int janus_task_set_name(const char* name);
// The reason of the calling task's latest failure, or of the thread's outside tasks. A JANUS_E_* or JANUS_CANCELLED; 0
// before the first. Calls that set it when they fail: those that return a pointer or a handle, except janus_task_self
// and janus_local_get; janus_nursery_spawn; a task's janus_fork_join; janus_channel_release, janus_rt_destroy and
// janus_rt_stats; all calls to which the task's budget refuses a component (JANUS_E_BUDGET, JANUS_E_NO_CAP), except
// recharges; and, in a task, those for threads outside tasks.
int janus_last_error(void);
// The same as text, with the exact reason: which argument, which state, or which component of a budget and how much of
// it is left. Writes up to `size` bytes, the last of them 0, and returns `text`; "" if there is no room [any].
const char* janus_last_error_text(char* text, size_t size);
// Keeps the calling task on its current worker, and so on its thread, until as many janus_task_unpin have followed, or its
// function has ended and what it left behind (values with destructors, nurseries) is gone. Others run on that thread, too,
// while it waits. Its children are not pinned, and none runs in its place. 0; JANUS_E_NO_CAP: it is in a cage, or confined
// by a token, and was not given the right JANUS_CAP_PIN [task].
int janus_task_pin(void);
// Undoes one janus_task_pin. After the last one the task may go on elsewhere whenever it waits or yields. 0;
// JANUS_E_STATE: it is not pinned [task].
int janus_task_unpin(void);

// Makes a key for task-local values: 0, JANUS_E_NO_MEMORY if none is left, or JANUS_E_BUDGET. A process has at most
// 1,024 keys, half of them reserved for threads and tasks below no budget. `destroy` (may be NULL; of the runtime's
// functions only janus_free) is called with each value that a task has left, unless the task was ended by force (by a
// panic or a used-up budget). A key made below a budget costs it 64 bytes and ends with it [any].
int janus_local_new(janus_local_key* key, void (*destroy)(void* value));
// The same for a key whose values children inherit: a child begins with the value that the task whose nursery it is in has
// when it is spawned, the pointer itself. `destroy` is called by the task that has set the value, once its nurseries have
// ended. A task has at most 32 values of such keys: JANUS_E_NO_MEMORY from janus_local_set [any].
int janus_local_new_inherited(janus_local_key* key, void (*destroy)(void* value));
// Ends a key. Drops values that tasks still have under it, without calling the destructor; no later key equals it.
// JANUS_E_INVALID: it is no key; JANUS_E_NO_CAP: the caller is below a budget, which did not pay for the key [any].
int janus_local_delete(janus_local_key key);
// The calling task's value under a key. NULL: it has set none, the key is invalid, or the caller is outside tasks.
void* janus_local_get(janus_local_key key);
// Sets the calling task's value under a key. The table of its values is charged to the task: JANUS_E_BUDGET [task].
int janus_local_set(janus_local_key key, void* value);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // JANUS_RT_TASK_H
