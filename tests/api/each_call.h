// SPDX-License-Identifier: Apache-2.0
// each_call.h — a call of each function of the headers, with its answer as a number. For programs that make them all in
// tasks of some kind: cancelled_calls.c, authority_calls.c.
#ifndef JANUS_TESTS_API_EACH_CALL_H
#define JANUS_TESTS_API_EACH_CALL_H

#include <janus/broadcast.h>
#include <janus/llvm.h>
#include <janus/rt.h>
#include <janus/supervise.h>
#include <janus/sync.h>
#include <janus/ticker.h>
#include <janus/watch.h>

#define REFUSED(handle) ((handle) != 0 ? 1 : janus_last_error())

// The program makes these anew for each call. None of them belongs to the task that calls.
static janus_nursery* others;  // with a budget
static janus_channel *channel, *open_channel;
static janus_task ended, parked, victim;
static janus_local_key key;
static void* block;
// Made by the task itself.
static janus_nursery *mine, *with_ended;

static int64_t nothing(void* arg) {
  (void)arg;
  return 0;
}
static int64_t nothing_without_argument(void) {
  return 0;
}
static int32_t nothing32(void* arg) {
  (void)arg;
  return 0;
}
static int64_t park_until_cancelled(void* arg) {
  (void)arg;
  return janus_park(-1);
}

static int word = 1;
static janus_result result;
static const janus_budget one_op = {1, 0, 0, 0, 0};

static int64_t alloc(void) {
  return REFUSED(block = janus_alloc(10));
}
static int64_t alloc_aligned(void) {
  return REFUSED(block = janus_alloc_aligned(64, 10));
}
static int64_t resize(void) {
  return REFUSED(block = janus_realloc(janus_alloc(10), 1000));
}
static int64_t fork_join(void) {
  janus_result results[2];
  return janus_fork_join(nothing, 0, nothing, 0, results);
}
static int64_t free_block(void) {
  janus_free(janus_alloc(10));
  return 0;
}
static int64_t blocking(void) {
  return janus_blocking(nothing, 0);
}
static int64_t budget_get_current(void) {
  return janus_budget_get_current().ops != 0;
}
static int64_t budget_grant64(void) {
  return janus_budget_grant64(others, JANUS_COMPONENT_OPS, 1);
}
static int64_t budget_recharge(void) {
  return janus_budget_recharge(one_op);
}
static int64_t cancelled(void) {
  return janus_cancelled();
}
static int64_t cap_derive(void) {
  return REFUSED(janus_cap_derive((janus_cap){0}, 0, (janus_budget){0, 0, 0, 0, 0}).raw);
}
static int64_t cap_derive_limit(void) {
  return REFUSED(janus_cap_derive((janus_cap){0}, 0, one_op).raw);
}
static int64_t cap_revoke(void) {
  return janus_cap_revoke(janus_cap_derive((janus_cap){0}, 0, (janus_budget){0, 0, 0, 0, 0}));
}
static int64_t cap_root(void) {
  return REFUSED(janus_cap_root(0).raw);
}
static int64_t channel_close(void) {
  return janus_channel_close(channel);
}
static int64_t channel_create(void) {
  return REFUSED(open_channel = janus_channel_create(sizeof word, 1));
}
static int64_t channel_recv(void) {
  return janus_channel_recv(channel, &word);
}
static int64_t channel_send_until(void) {
  return janus_channel_send_until(channel, &word, UINT64_MAX);
}
static int64_t channel_recv_until(void) {
  return janus_channel_recv_until(channel, &word, UINT64_MAX);
}
static int64_t channel_send_many(void) {
  const int sent = janus_channel_send_many(channel, &word, 1);
  return sent == 1 ? 0 : sent;
}
static int64_t channel_recv_many(void) {
  const int received = janus_channel_recv_many(channel, &word, 1);
  return received == 1 ? 0 : received;
}
static int64_t channel_release(void) {
  janus_channel_retain(channel);
  janus_channel_release(channel);
  return janus_last_error();
}
static int64_t channel_retain(void) {
  return REFUSED(open_channel = janus_channel_retain(channel));
}
static int64_t channel_send(void) {
  return janus_channel_send(channel, &word);
}
static int64_t channel_try_recv(void) {
  return janus_channel_try_recv(channel, &word);
}
static int64_t channel_try_send(void) {
  return janus_channel_try_send(channel, &word);
}
static int64_t entropy(void) {
  return janus_entropy(&word, sizeof word);
}
static int64_t last_error(void) {
  return janus_last_error();
}
static int64_t last_error_text(void) {
  char text[8];
  return janus_last_error_text(text, sizeof text) == text;
}
static int64_t local_delete(void) {
  return janus_local_delete(key);
}
static int64_t local_get(void) {
  return janus_local_get(key) != 0;
}
static int64_t local_new(void) {
  janus_local_key fresh;
  const int answer = janus_local_new(&fresh, 0);
  janus_local_delete(fresh);
  return answer;
}
static int64_t local_new_inherited(void) {
  janus_local_key fresh;
  const int answer = janus_local_new_inherited(&fresh, 0);
  janus_local_delete(fresh);
  return answer;
}
static int64_t local_set(void) {
  return janus_local_set(key, &word);
}
// A check reports a cancel only at the end of a slice. Each of the four checks costs a slice, so one of them reaches
// the end.
static int64_t yield_check(void) {
  int answer = 0;
  for (int i = 0; i < 4 && answer == 0; ++i) answer = janus_yield_check(JANUS_YIELD_INTERVAL);
  return answer;
}
static int64_t loop_check(void) {
  int answer = 0;
  uint32_t n = 0;
  for (uint32_t i = 0; i < 4 * JANUS_YIELD_INTERVAL && answer == 0; ++i) answer = JANUS_LOOP_CHECK(n);
  return answer;
}
static int64_t loop_end(void) {
  int answer = 0;
  for (int i = 0; i < 4 && answer == 0; ++i) {
    uint32_t n = JANUS_YIELD_INTERVAL;
    answer = JANUS_LOOP_END(n);
  }
  return answer;
}
static int64_t noarg(void) {
  return janus_run_noarg(janus_noarg_arg(nothing_without_argument));
}
static int64_t task32(void) {
  janus_task32 call = {nothing32, 0};
  return janus_run_task32(&call);
}
static int64_t now_ns(void) {
  return janus_now_ns() != 0;
}
static int64_t nursery_await(void) {
  return janus_nursery_await(mine, 0);
}
static int64_t nursery_await_until(void) {
  return janus_nursery_await_until(mine, 0, UINT64_MAX);
}
static int64_t nursery_await_all(void) {
  return janus_nursery_await_all();
}
static int64_t nursery_cancel(void) {
  return janus_nursery_cancel(others);
}
static int64_t nursery_close(void) {
  return janus_nursery_close(others);
}
static int64_t nursery_create(void) {
  return REFUSED(janus_nursery_create());
}
static int64_t nursery_destroy(void) {
  janus_nursery* fresh = janus_nursery_open(0, 0);
  janus_nursery_close(fresh);
  return janus_nursery_destroy(fresh);
}
static int64_t nursery_next(void) {
  return janus_nursery_next(with_ended, &result, 0);
}
static int64_t nursery_open(void) {
  return REFUSED(janus_nursery_open(0, 0));
}
static int64_t nursery_recharge(void) {
  return janus_nursery_recharge(others, one_op);
}
static int64_t nursery_usage(void) {
  janus_usage usage = {0};
  return janus_nursery_usage(others, &usage);
}
static int64_t nursery_withdraw(void) {
  janus_budget amount = one_op;
  return janus_nursery_withdraw(others, &amount);
}
static int64_t nursery_pause(void) {
  return janus_nursery_pause(others);
}
static int64_t nursery_resume(void) {
  return janus_nursery_resume(others);
}
static int64_t nursery_keep(void) {
  return janus_nursery_keep(others, 0, &one_op);
}
static int64_t nursery_spawn(void) {
  const int answer = janus_nursery_spawn(nothing, 0);
  return answer == 0 ? 0 : janus_last_error();
}
static int64_t nursery_spawn_in(void) {
  return REFUSED(janus_nursery_spawn_in(mine, nothing, 0, 0).raw);
}
static int64_t nursery_spawn_in_high(void) {
  const janus_spawn_options options = {.priority = JANUS_PRIORITY_HIGH};
  return REFUSED(janus_nursery_spawn_in(mine, nothing, 0, &options).raw);
}
static int64_t nursery_spawn_in_others(void) {
  return REFUSED(janus_nursery_spawn_in(others, nothing, 0, 0).raw);
}
static int64_t nursery_state(void) {
  return janus_nursery_state(others);
}
static int64_t nursery_try_result(void) {
  return janus_nursery_try_result(others, &result);
}
static int64_t park(void) {
  janus_unpark(janus_task_self());
  return janus_park(-1);
}
static int64_t park0(void) {
  janus_unpark(janus_task_self());
  return janus_park(0);
}
static int64_t print(void) {
  return janus_print(1, "%s", "");
}
static int64_t rt_create(void) {
  return REFUSED(janus_rt_create(0));
}
static int64_t rt_destroy(void) {
  janus_rt_destroy(0);
  return janus_last_error();
}
static int64_t rt_get(void) {
  return janus_rt_get() != 0;
}
static int64_t rt_init(void) {
  const janus_rt_config config = {0};
  janus_rt_init(config);
  return janus_last_error();
}
static int64_t rt_run(void) {
  return janus_rt_run(0, nothing, 0);
}
static int64_t rt_shutdown(void) {
  janus_rt_shutdown();
  return janus_last_error();
}
static int64_t rt_stats(void) {
  janus_stats stats = {.size = sizeof stats};
  janus_rt_stats(0, &stats);
  return stats.workers != 0;
}
static int64_t rt_worker_stats(void) {
  janus_worker_stats stats = {.size = sizeof stats};
  return janus_rt_worker_stats(0, 0, &stats);
}
static int64_t rt_try_init(void) {
  return janus_rt_try_init(0);
}
static int64_t safepoint_resume(void) {
  return janus_safepoint_resume(0);
}
static int64_t safepoint_stop(void) {
  const int answer = janus_safepoint_stop(0, -1);
  if (answer == 0) janus_safepoint_resume(0);
  return answer;
}
static int visit_none(const janus_task_view* view, void* arg) {
  return view == arg;
}
static int64_t safepoint_walk(void) {
  return janus_safepoint_walk(0, visit_none, 0);
}
static int64_t scheduler_create(void) {
  const janus_rt_config config = {0};
  return REFUSED(janus_scheduler_create(config));
}
static int64_t scheduler_shutdown(void) {
  janus_scheduler_shutdown(0);
  return janus_last_error();
}
static int64_t scheduler_spawn(void) {
  const int answer = janus_scheduler_spawn((void*)(uintptr_t)nothing, 0);
  return answer == 0 ? 0 : janus_last_error();
}
static int64_t scheduler_yield(void) {
  return janus_scheduler_yield();
}
static janus_select_case one_case(void) {
  const janus_select_case one = {channel, &word, JANUS_RECV, 0};
  return one;
}
static int64_t select_one(void) {
  janus_select_case one = one_case();
  return janus_select(&one, 1, -1);
}
static int64_t select_0(void) {
  janus_select_case one = one_case();
  const int64_t answer = janus_select(&one, 1, 0);
  return answer == JANUS_E_TIMEOUT ? 0 : answer;
}
static int64_t select_until(void) {
  janus_select_case one = one_case();
  return janus_select_until(&one, 1, UINT64_MAX);
}
// The calls of which the table says that they are cancelled, refused or say so, and others that wait.
static int64_t behind_shield(void* arg) {
  (void)arg;
  janus_nursery* const nursery = janus_nursery_open(0, 0);
  int64_t answer = janus_cancelled() | janus_yield() | janus_yield_check(1) | janus_sleep_ns(1) | janus_sleep_until(1);
  const janus_task task = janus_nursery_spawn_in(nursery, nothing, 0, 0);
  if (task.raw == 0) answer |= janus_last_error();
  answer |= janus_task_join(task, 0) | janus_task_join_until(task, 0, UINT64_MAX);
  answer |= janus_nursery_next(nursery, 0, 0) | janus_fork_join(nothing, 0, nothing, 0, 0);
  answer |= janus_channel_recv(channel, &word) | janus_channel_send(channel, &word);
  answer |= janus_unpark(janus_task_self()) | janus_park(-1);
  janus_select_case one = {channel, &word, JANUS_SEND, 0};
  answer |= janus_select(&one, 1, -1) | janus_channel_recv(channel, &word);
  if (janus_nursery_create() == 0) answer |= janus_last_error();
  answer |= janus_nursery_spawn(nothing, 0) | janus_nursery_await_all() | janus_nursery_await(nursery, 0);
  return answer;
}
static int64_t shield(void) {
  return janus_shield(behind_shield, 0);
}
static int64_t sleep_ns(void) {
  return janus_sleep_ns(1);
}
static int64_t sleep_until(void) {
  return janus_sleep_until(1);
}
static int64_t text_of(void) {
  return janus_strerror(-1) != 0;
}
static int64_t system_call(void) {
  const int64_t answer = janus_syscall(39);
  return answer > 0 ? 1 : answer;
}
static int64_t task_cancel(void) {
  return janus_task_cancel(victim);
}
static int64_t task_find(void) {
  return REFUSED(janus_task_find(janus_task_id()).raw);
}
static int64_t task_id(void) {
  return janus_task_id() > 1;
}
static int64_t task_join_until(void) {
  return janus_task_join_until(ended, 0, UINT64_MAX);
}
static int64_t task_join(void) {
  return janus_task_join(ended, 0);
}
static int64_t task_panic(void) {
  janus_task_panic("on purpose");
}
static int64_t task_pin(void) {
  return janus_task_pin();
}
static int64_t task_release(void) {
  return janus_task_release(ended);
}
static int64_t task_result(void) {
  return janus_task_result(ended, &result);
}
static int64_t task_self(void) {
  return janus_task_self().raw != 0;
}
static int64_t task_set_name(void) {
  return janus_task_set_name("x");
}
static int64_t task_state(void) {
  return janus_task_state(ended);
}
static int64_t task_unpin(void) {
  return janus_task_unpin();
}
static int64_t task_watch(void) {
  janus_channel* const results = janus_channel_create(sizeof(janus_result), 1);
  const int64_t answer = results != 0 ? janus_task_watch(ended, results) : janus_last_error();
  janus_channel_release(results);
  return answer;
}
static int64_t unix_time_ns(void) {
  return janus_unix_time_ns() != 0;
}
static int64_t unpark(void) {
  return janus_unpark(parked);
}
static int64_t write_some(void) {
  return janus_write(1, "", 0);
}
static int64_t write_elsewhere(void) {
  return janus_write(9, "", 0);
}
static int64_t yield(void) {
  return janus_yield();
}
// janus_yield_slow() as a check calls it at the end of a slice; before that it answers as a check does.
static int64_t yield_slow(void) {
  int answer = 0;
  for (int i = 0; i < 4 && answer == 0; ++i) answer = janus_yield_slow();
  return answer;
}
// Of janus/supervise.h, made anew for each call.
static int wants_all(const void* message, void* arg) {
  (void)message;
  return arg == 0;
}
static janus_mailbox* new_mailbox(void) {
  return janus_mailbox_create(sizeof word, 2);
}
static int64_t and_released(janus_mailbox* mailbox, int64_t answer) {
  janus_mailbox_release(mailbox);
  return answer;
}
static janus_mailbox* mailbox_with_one(void) {
  janus_mailbox* const mailbox = new_mailbox();
  janus_mailbox_try_send(mailbox, &word);
  return mailbox;
}
static int64_t mailbox_create(void) {
  janus_mailbox* const mailbox = new_mailbox();
  return mailbox ? and_released(mailbox, 1) : janus_last_error();
}
static int64_t mailbox_retain(void) {
  janus_mailbox* const mailbox = new_mailbox();
  const int is_same = janus_mailbox_retain(mailbox) == mailbox;
  janus_mailbox_release(mailbox);
  return and_released(mailbox, is_same);
}
static int64_t mailbox_release(void) {
  janus_mailbox* const mailbox = new_mailbox();
  janus_mailbox_release(mailbox);
  return janus_mailbox_close(mailbox);  // stale
}
static int64_t mailbox_send(void) {
  janus_mailbox* const mailbox = new_mailbox();
  return and_released(mailbox, janus_mailbox_send(mailbox, &word));
}
static int64_t mailbox_send_until(void) {
  janus_mailbox* const mailbox = new_mailbox();
  return and_released(mailbox, janus_mailbox_send_until(mailbox, &word, UINT64_MAX));
}
static int64_t mailbox_try_send(void) {
  janus_mailbox* const mailbox = new_mailbox();
  return and_released(mailbox, janus_mailbox_try_send(mailbox, &word));
}
static int64_t mailbox_recv(void) {
  janus_mailbox* const mailbox = mailbox_with_one();
  return and_released(mailbox, janus_mailbox_recv(mailbox, &word));
}
static int64_t mailbox_recv_until(void) {
  janus_mailbox* const mailbox = mailbox_with_one();
  return and_released(mailbox, janus_mailbox_recv_until(mailbox, &word, UINT64_MAX));
}
static int64_t mailbox_recv_match(void) {
  janus_mailbox* const mailbox = mailbox_with_one();
  return and_released(mailbox, janus_mailbox_recv_match(mailbox, wants_all, 0, &word));
}
static int64_t mailbox_recv_match_until(void) {
  janus_mailbox* const mailbox = mailbox_with_one();
  return and_released(mailbox, janus_mailbox_recv_match_until(mailbox, wants_all, 0, &word, UINT64_MAX));
}
static int64_t mailbox_close(void) {
  janus_mailbox* const mailbox = new_mailbox();
  return and_released(mailbox, janus_mailbox_close(mailbox));
}
static int64_t closes_its_supervisor(void* supervisor) {
  return janus_supervisor_close(*(janus_supervisor**)supervisor);
}
static janus_supervisor* supervisor;
static janus_supervisor* with_child(void) {
  const janus_child_spec spec = {.start = closes_its_supervisor, .arg = &supervisor};
  supervisor = janus_supervisor_open(0, 0);
  janus_supervisor_add(supervisor, &spec);
  return supervisor;
}
static int64_t and_closed(int64_t answer) {
  janus_supervisor_close(supervisor);
  return answer;
}
static int64_t supervisor_open(void) {
  supervisor = janus_supervisor_open(0, 0);
  return supervisor ? and_closed(1) : janus_last_error();
}
static int64_t supervisor_add(void) {
  const janus_child_spec spec = {.start = nothing};
  supervisor = janus_supervisor_open(0, 0);
  return and_closed(janus_supervisor_add(supervisor, &spec));
}
static int64_t supervisor_remove(void) {
  return and_closed(janus_supervisor_remove(with_child(), 1));
}
static int64_t supervisor_run(void) {
  janus_supervisor* const its = with_child();
  const int has_child = janus_supervisor_children(its, 0, 0) > 0;  // else it would wait for one
  return and_closed(has_child ? janus_supervisor_run(its) : 1);
}
static int64_t supervisor_children(void) {
  return and_closed(janus_supervisor_children(with_child(), 0, 0));
}
static int64_t supervisor_close(void) {
  return janus_supervisor_close(with_child());
}
static int64_t child_ready(void) {
  return janus_child_ready();
}

// Of janus/sync.h; each call leaves them free.
static janus_mutex mutex;
static janus_rwlock rwlock;
static janus_cond cond;
static janus_semaphore semaphore;
static janus_barrier barrier;
static janus_wait_group group;
static janus_event event;
static janus_once once;

static int64_t unlocked(int locked) {
  if (locked == 0) janus_mutex_unlock(&mutex);
  return locked;
}
static int64_t unread(int locked) {
  if (locked == 0) janus_rwlock_read_unlock(&rwlock);
  return locked;
}
static int64_t unwritten(int locked) {
  if (locked == 0) janus_rwlock_write_unlock(&rwlock);
  return locked;
}
static int64_t signals(void* arg) {
  while (janus_mutex_lock(&mutex) == 0) {
    const int is_over = group.word == 0;
    janus_cond_broadcast(&cond);
    janus_mutex_unlock(&mutex);
    if (is_over) return 0;
    janus_yield();
  }
  return (int64_t)arg;
}
static int64_t waits_for_signal(uint64_t until) {
  janus_wait_group_add(&group, 1);
  if (janus_nursery_spawn_in(others, signals, 0, 0).raw == 0) until = janus_now_ns();  // nobody will signal
  while (janus_mutex_try_lock(&mutex) != 0) janus_yield();
  const int answer = until ? janus_cond_wait_until(&cond, &mutex, until) : janus_cond_wait(&cond, &mutex);
  janus_wait_group_done(&group);
  janus_mutex_unlock(&mutex);
  return answer;
}
static void does_nothing(void* arg) {
  (void)arg;
}
static int64_t mutex_lock(void) {
  return unlocked(janus_mutex_lock(&mutex));
}
static int64_t mutex_lock_until(void) {
  return unlocked(janus_mutex_lock_until(&mutex, UINT64_MAX));
}
static int64_t mutex_try_lock(void) {
  return unlocked(janus_mutex_try_lock(&mutex));
}
static int64_t mutex_unlock(void) {
  janus_mutex_try_lock(&mutex);
  return janus_mutex_unlock(&mutex);
}
static int64_t mutex_heal(void) {
  janus_mutex_try_lock(&mutex);
  return unlocked(janus_mutex_heal(&mutex));
}
static int64_t rwlock_read_lock(void) {
  return unread(janus_rwlock_read_lock(&rwlock));
}
static int64_t rwlock_read_lock_until(void) {
  return unread(janus_rwlock_read_lock_until(&rwlock, UINT64_MAX));
}
static int64_t rwlock_write_lock(void) {
  return unwritten(janus_rwlock_write_lock(&rwlock));
}
static int64_t rwlock_write_lock_until(void) {
  return unwritten(janus_rwlock_write_lock_until(&rwlock, UINT64_MAX));
}
static int64_t rwlock_try_read_lock(void) {
  return unread(janus_rwlock_try_read_lock(&rwlock));
}
static int64_t rwlock_try_write_lock(void) {
  return unwritten(janus_rwlock_try_write_lock(&rwlock));
}
static int64_t rwlock_read_unlock(void) {
  janus_rwlock_try_read_lock(&rwlock);
  return janus_rwlock_read_unlock(&rwlock);
}
static int64_t rwlock_write_unlock(void) {
  janus_rwlock_try_write_lock(&rwlock);
  return janus_rwlock_write_unlock(&rwlock);
}
static int64_t cond_wait(void) {
  return waits_for_signal(0);
}
static int64_t cond_wait_until(void) {
  return waits_for_signal(UINT64_MAX);
}
static int64_t cond_signal(void) {
  return janus_cond_signal(&cond);
}
static int64_t cond_broadcast(void) {
  return janus_cond_broadcast(&cond);
}
static int64_t semaphore_init(void) {
  return janus_semaphore_init(&semaphore, 1);
}
static int64_t semaphore_acquire(void) {
  janus_semaphore_init(&semaphore, 1);
  return janus_semaphore_acquire(&semaphore);
}
static int64_t semaphore_acquire_until(void) {
  janus_semaphore_init(&semaphore, 1);
  return janus_semaphore_acquire_until(&semaphore, UINT64_MAX);
}
static int64_t semaphore_try_acquire(void) {
  janus_semaphore_init(&semaphore, 1);
  return janus_semaphore_try_acquire(&semaphore);
}
static int64_t semaphore_release(void) {
  return janus_semaphore_release(&semaphore, 1);
}
static int64_t barrier_init(void) {
  return janus_barrier_init(&barrier, 1);
}
static int64_t barrier_wait(void) {
  janus_barrier_init(&barrier, 1);
  return janus_barrier_wait(&barrier) == 1 ? 0 : JANUS_CANCELLED;
}
static int64_t barrier_wait_until(void) {
  janus_barrier_init(&barrier, 1);
  return janus_barrier_wait_until(&barrier, UINT64_MAX) == 1 ? 0 : JANUS_CANCELLED;
}
static int64_t wait_group_add(void) {
  return janus_wait_group_add(&group, 0);
}
static int64_t wait_group_done(void) {
  janus_wait_group_add(&group, 1);
  return janus_wait_group_done(&group);
}
static int64_t wait_group_wait(void) {
  return janus_wait_group_wait(&group);
}
static int64_t wait_group_wait_until(void) {
  return janus_wait_group_wait_until(&group, UINT64_MAX);
}
static int64_t event_set(void) {
  return janus_event_set(&event);
}
static int64_t event_reset(void) {
  return janus_event_reset(&event);
}
static int64_t event_wait(void) {
  janus_event_set(&event);
  return janus_event_wait(&event);
}
static int64_t event_wait_until(void) {
  janus_event_set(&event);
  return janus_event_wait_until(&event, UINT64_MAX);
}
static int64_t once_call(void) {
  return janus_once_call(&once, does_nothing, 0);
}
static int64_t once_call_until(void) {
  return janus_once_call_until(&once, does_nothing, 0, UINT64_MAX);
}
// ---- Tickers, broadcasts, watches -----------------------------------------------------------------------------------

static janus_ticker ticker;
static janus_broadcast broadcast;
static janus_broadcast_reader reader;
static janus_watch watch;
static uint64_t kept[2], number;

static void set_up_broadcast(void) {
  janus_broadcast_init(&broadcast, kept, sizeof kept[0], 2);
  broadcast.sent = 1;
  reader.next = 0;
  janus_watch_init(&watch, kept, sizeof kept[0]);
}
static int64_t ticker_init(void) {
  return janus_ticker_init(&ticker, UINT64_MAX, JANUS_TICKER_SKIP);
}
static int64_t ticker_take(void) {
  janus_ticker_init(&ticker, UINT64_MAX, JANUS_TICKER_SKIP);
  return janus_ticker_take(&ticker, NULL);
}
static int64_t ticker_wait(void) {
  janus_ticker_init(&ticker, 1, JANUS_TICKER_SKIP);
  return janus_ticker_wait(&ticker, NULL);
}
static int64_t broadcast_init(void) {
  return janus_broadcast_init(&broadcast, kept, sizeof kept[0], 2);
}
static int64_t broadcast_subscribe(void) {
  set_up_broadcast();
  return janus_broadcast_subscribe(&broadcast, &reader);
}
static int64_t broadcast_send(void) {
  set_up_broadcast();
  return janus_broadcast_send(&broadcast, &number);
}
static int64_t broadcast_recv(void) {
  set_up_broadcast();
  return janus_broadcast_recv(&broadcast, &reader, &number, NULL);
}
static int64_t broadcast_recv_until(void) {
  set_up_broadcast();
  return janus_broadcast_recv_until(&broadcast, &reader, &number, NULL, UINT64_MAX);
}
static int64_t broadcast_close(void) {
  set_up_broadcast();
  return janus_broadcast_close(&broadcast);
}
static int64_t watch_init(void) {
  return janus_watch_init(&watch, kept, sizeof kept[0]);
}
static int64_t watch_set(void) {
  set_up_broadcast();
  return janus_watch_set(&watch, &number);
}
static int64_t watch_get(void) {
  set_up_broadcast();
  return janus_watch_get(&watch, &number);
}
static int64_t watch_next(void) {
  set_up_broadcast();
  return janus_watch_next(&watch, &reader, &number);
}
static int64_t watch_next_until(void) {
  set_up_broadcast();
  return janus_watch_next_until(&watch, &reader, &number, UINT64_MAX);
}
static int64_t watch_close(void) {
  set_up_broadcast();
  return janus_watch_close(&watch);
}

static int64_t leave(void) {
  janus_exit(7);
}

typedef struct {
  const char* name;
  int64_t (*make)(void);
} call;
static const call calls[] = {
    {"janus_alloc", alloc},
    {"janus_alloc_aligned", alloc_aligned},
    {"janus_realloc", resize},
    {"janus_ticker_init", ticker_init},
    {"janus_ticker_take", ticker_take},
    {"janus_ticker_wait", ticker_wait},
    {"janus_broadcast_init", broadcast_init},
    {"janus_broadcast_subscribe", broadcast_subscribe},
    {"janus_broadcast_send", broadcast_send},
    {"janus_broadcast_recv", broadcast_recv},
    {"janus_broadcast_recv_until", broadcast_recv_until},
    {"janus_broadcast_close", broadcast_close},
    {"janus_watch_init", watch_init},
    {"janus_watch_set", watch_set},
    {"janus_watch_get", watch_get},
    {"janus_watch_next", watch_next},
    {"janus_watch_next_until", watch_next_until},
    {"janus_watch_close", watch_close},
    {"janus_free", free_block},
    {"janus_blocking", blocking},
    {"janus_budget_get_current", budget_get_current},
    {"janus_budget_grant64", budget_grant64},
    {"janus_budget_recharge", budget_recharge},
    {"janus_cancelled", cancelled},
    {"janus_cap_derive", cap_derive},
    {"janus_cap_derive(limit)", cap_derive_limit},
    {"janus_cap_revoke", cap_revoke},
    {"janus_cap_root", cap_root},
    {"janus_channel_close", channel_close},
    {"janus_channel_create", channel_create},
    {"janus_channel_send_until", channel_send_until},
    {"janus_channel_recv", channel_recv},
    {"janus_channel_recv_many", channel_recv_many},
    {"janus_channel_recv_until", channel_recv_until},
    {"janus_channel_release", channel_release},
    {"janus_channel_retain", channel_retain},
    {"janus_channel_send", channel_send},
    {"janus_channel_send_many", channel_send_many},
    {"janus_channel_try_recv", channel_try_recv},
    {"janus_channel_try_send", channel_try_send},
    {"janus_entropy", entropy},
    {"janus_fork_join", fork_join},
    {"janus_last_error", last_error},
    {"janus_last_error_text", last_error_text},
    {"janus_local_delete", local_delete},
    {"janus_local_get", local_get},
    {"janus_local_new", local_new},
    {"janus_local_new_inherited", local_new_inherited},
    {"janus_local_set", local_set},
    {"janus_yield_check", yield_check},
    {"janus_loop_check", loop_check},
    {"JANUS_LOOP_CHECK", loop_check},
    {"janus_loop_end", loop_end},
    {"JANUS_LOOP_END", loop_end},
    {"janus_noarg_arg", noarg},
    {"janus_run_noarg", noarg},
    {"janus_run_task32", task32},
    {"janus_now_ns", now_ns},
    {"janus_nursery_await", nursery_await},
    {"janus_nursery_await_until", nursery_await_until},
    {"janus_nursery_await_all", nursery_await_all},
    {"janus_nursery_cancel", nursery_cancel},
    {"janus_nursery_close", nursery_close},
    {"janus_nursery_create", nursery_create},
    {"janus_nursery_destroy", nursery_destroy},
    {"janus_nursery_next", nursery_next},
    {"janus_nursery_open", nursery_open},
    {"janus_nursery_keep", nursery_keep},
    {"janus_nursery_pause", nursery_pause},
    {"janus_nursery_recharge", nursery_recharge},
    {"janus_nursery_resume", nursery_resume},
    {"janus_nursery_usage", nursery_usage},
    {"janus_nursery_withdraw", nursery_withdraw},
    {"janus_nursery_spawn", nursery_spawn},
    {"janus_nursery_spawn_in", nursery_spawn_in},
    {"janus_nursery_spawn_in(high)", nursery_spawn_in_high},
    {"janus_nursery_spawn_in(others)", nursery_spawn_in_others},
    {"janus_nursery_state", nursery_state},
    {"janus_nursery_try_result", nursery_try_result},
    {"janus_park", park},
    {"janus_park(0)", park0},
    {"janus_print", print},
    {"janus_rt_create", rt_create},
    {"janus_rt_destroy", rt_destroy},
    {"janus_rt_get", rt_get},
    {"janus_rt_init", rt_init},
    {"janus_rt_run", rt_run},
    {"janus_rt_shutdown", rt_shutdown},
    {"janus_rt_stats", rt_stats},
    {"janus_rt_worker_stats", rt_worker_stats},
    {"janus_rt_try_init", rt_try_init},
    {"janus_safepoint_resume", safepoint_resume},
    {"janus_safepoint_stop", safepoint_stop},
    {"janus_safepoint_walk", safepoint_walk},
    {"janus_scheduler_create", scheduler_create},
    {"janus_scheduler_shutdown", scheduler_shutdown},
    {"janus_scheduler_spawn", scheduler_spawn},
    {"janus_scheduler_yield", scheduler_yield},
    {"janus_select", select_one},
    {"janus_select(0)", select_0},
    {"janus_select_until", select_until},
    {"janus_shield", shield},
    {"janus_sleep_ns", sleep_ns},
    {"janus_sleep_until", sleep_until},
    {"janus_strerror", text_of},
    {"janus_syscall", system_call},
    {"janus_task_cancel", task_cancel},
    {"janus_task_find", task_find},
    {"janus_task_id", task_id},
    {"janus_task_join", task_join},
    {"janus_task_join_until", task_join_until},
    {"janus_task_panic", task_panic},
    {"janus_task_pin", task_pin},
    {"janus_task_release", task_release},
    {"janus_task_result", task_result},
    {"janus_task_self", task_self},
    {"janus_task_set_name", task_set_name},
    {"janus_task_state", task_state},
    {"janus_task_unpin", task_unpin},
    {"janus_task_watch", task_watch},
    {"janus_unix_time_ns", unix_time_ns},
    {"janus_unpark", unpark},
    {"janus_write", write_some},
    {"janus_write(9)", write_elsewhere},
    {"janus_yield", yield},
    {"janus_yield_slow", yield_slow},
    {"janus_mutex_lock", mutex_lock},
    {"janus_mutex_lock_until", mutex_lock_until},
    {"janus_mutex_try_lock", mutex_try_lock},
    {"janus_mutex_unlock", mutex_unlock},
    {"janus_mutex_heal", mutex_heal},
    {"janus_rwlock_read_lock", rwlock_read_lock},
    {"janus_rwlock_read_lock_until", rwlock_read_lock_until},
    {"janus_rwlock_write_lock", rwlock_write_lock},
    {"janus_rwlock_write_lock_until", rwlock_write_lock_until},
    {"janus_rwlock_try_read_lock", rwlock_try_read_lock},
    {"janus_rwlock_try_write_lock", rwlock_try_write_lock},
    {"janus_rwlock_read_unlock", rwlock_read_unlock},
    {"janus_rwlock_write_unlock", rwlock_write_unlock},
    {"janus_cond_wait", cond_wait},
    {"janus_cond_wait_until", cond_wait_until},
    {"janus_cond_signal", cond_signal},
    {"janus_cond_broadcast", cond_broadcast},
    {"janus_semaphore_init", semaphore_init},
    {"janus_semaphore_acquire", semaphore_acquire},
    {"janus_semaphore_acquire_until", semaphore_acquire_until},
    {"janus_semaphore_try_acquire", semaphore_try_acquire},
    {"janus_semaphore_release", semaphore_release},
    {"janus_barrier_init", barrier_init},
    {"janus_barrier_wait", barrier_wait},
    {"janus_barrier_wait_until", barrier_wait_until},
    {"janus_wait_group_add", wait_group_add},
    {"janus_wait_group_done", wait_group_done},
    {"janus_wait_group_wait", wait_group_wait},
    {"janus_wait_group_wait_until", wait_group_wait_until},
    {"janus_event_set", event_set},
    {"janus_event_reset", event_reset},
    {"janus_event_wait", event_wait},
    {"janus_event_wait_until", event_wait_until},
    {"janus_mailbox_create", mailbox_create},
    {"janus_mailbox_retain", mailbox_retain},
    {"janus_mailbox_release", mailbox_release},
    {"janus_mailbox_send", mailbox_send},
    {"janus_mailbox_send_until", mailbox_send_until},
    {"janus_mailbox_try_send", mailbox_try_send},
    {"janus_mailbox_recv", mailbox_recv},
    {"janus_mailbox_recv_until", mailbox_recv_until},
    {"janus_mailbox_recv_match", mailbox_recv_match},
    {"janus_mailbox_recv_match_until", mailbox_recv_match_until},
    {"janus_mailbox_close", mailbox_close},
    {"janus_supervisor_open", supervisor_open},
    {"janus_supervisor_add", supervisor_add},
    {"janus_supervisor_remove", supervisor_remove},
    {"janus_supervisor_run", supervisor_run},
    {"janus_supervisor_children", supervisor_children},
    {"janus_supervisor_close", supervisor_close},
    {"janus_child_ready", child_ready},
    {"janus_once_call", once_call},
    {"janus_once_call_until", once_call_until},
};

#endif
