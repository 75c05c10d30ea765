// SPDX-License-Identifier: Apache-2.0
// Every call that does work, as a step of a loop: it releases everything that it takes, so it can be repeated,
// anywhere, with any result. hostile_test.py checks that no call is missing.
#ifndef JANUS_TESTS_PROGRAMS_CALLS_H
#define JANUS_TESTS_PROGRAMS_CALLS_H

#include <sys/syscall.h>

#include <janus/broadcast.h>
#include <janus/supervise.h>
#include <janus/sync.h>
#include <janus/ticker.h>
#include <janus/watch.h>

#include "hostile.h"

// The objects of one task's steps. prepare() makes them, release() frees them.
typedef struct belongings {
  janus_channel* room;     // with room for one
  janus_channel* closed;   // a closed one
  janus_mailbox* mailbox;  // with room for one
  janus_mailbox* closed_mailbox;
  janus_channel* results;  // of tasks that are watched
  janus_supervisor* supervisor;
  janus_nursery* nursery;
  janus_task ended;  // a child that has ended
  janus_local_key key;
  void* block;
  int null_file;
} belongings;

static int null_file = -1;
static janus_local_key local_key;

static inline int64_t return_nothing(void* unused) {
  (void)unused;
  return 0;
}

// Called once, by main.
static inline void open_null_file(void) {
  null_file = (int)janus_syscall(SYS_openat, -100 /* AT_FDCWD */, "/dev/null", 1 /* O_WRONLY */, 0);
  CHECK_EQ(janus_local_new(&local_key, NULL), 0);
}

static inline int prepare(belongings* mine) {
  memset(mine, 0, sizeof *mine);
  mine->null_file = null_file;
  mine->key = local_key;
  mine->room = janus_channel_create(64, 1);
  mine->closed = janus_channel_create(8, 0);
  janus_channel_close(mine->closed);
  mine->mailbox = janus_mailbox_create(64, 1);
  mine->closed_mailbox = janus_mailbox_create(64, 1);
  mine->results = janus_channel_create(sizeof(janus_result), 1);
  mine->supervisor = janus_supervisor_open(NULL, NULL);
  mine->nursery = open_plain();
  mine->ended = spawn(mine->nursery, return_nothing, NULL);
  mine->block = janus_alloc(100);
  return mine->room && mine->closed && mine->mailbox && mine->closed_mailbox && mine->results && mine->supervisor &&
                 mine->nursery && mine->block && janus_task_join(mine->ended, NULL) == 0
             ? 0
             : -1;
}

static inline void release(belongings* mine) {
  janus_free(mine->block);
  janus_channel_release(mine->room);
  janus_channel_release(mine->closed);
  janus_mailbox_release(mine->mailbox);
  janus_mailbox_release(mine->closed_mailbox);
  janus_channel_release(mine->results);
  janus_supervisor_close(mine->supervisor);
  janus_nursery_cancel(mine->nursery);
  janus_nursery_await(mine->nursery, NULL);
  janus_nursery_destroy(mine->nursery);
}

// ---- Memory ---------------------------------------------------------------------------------------------------------

static void step_alloc(belongings* mine) {
  (void)mine;
  void* volatile block = janus_alloc(64);
  janus_free(block);
}

static void step_alloc_large(belongings* mine) {
  (void)mine;
  void* volatile block = janus_alloc(100000);
  janus_free(block);
}

static void step_alloc_aligned(belongings* mine) {
  (void)mine;
  void* volatile block = janus_alloc_aligned(256, 300);
  janus_free(block);
}

static void step_realloc(belongings* mine) {
  void* larger = janus_realloc(mine->block, 3000);
  if (larger) mine->block = larger;
  void* smaller = janus_realloc(mine->block, 100);
  if (smaller) mine->block = smaller;
}

// ---- Nurseries and tasks --------------------------------------------------------------------------------------------

static void step_open(belongings* mine) {
  (void)mine;
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  janus_nursery_await(nursery, NULL);
  janus_nursery_destroy(nursery);
}

static int64_t sleep_a_little(void* unused) {
  (void)unused;
  return janus_sleep_ns(100000);
}

static void step_wait_in_vain(belongings* mine) {
  (void)mine;
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  const janus_task task = spawn(nursery, sleep_a_little, NULL);
  janus_task_join_until(task, NULL, janus_now_ns() + 1000);
  janus_nursery_await_until(nursery, NULL, janus_now_ns() + 1000);
  janus_nursery_await(nursery, NULL);
  janus_nursery_destroy(nursery);
}

// As they end, two of them at a time.
static void step_next(belongings* mine) {
  (void)mine;
  const janus_nursery_options options = {.size = sizeof options, .max_running = 2};
  janus_nursery* nursery = janus_nursery_open(NULL, &options);
  if (nursery == NULL) return;
  for (int i = 0; i < 4; ++i) spawn(nursery, return_nothing, NULL);
  janus_result result;
  while (janus_nursery_next(nursery, &result, 0) == 0) {
  }
  janus_nursery_await(nursery, NULL);
  janus_nursery_destroy(nursery);
}

static int64_t wait_behind_shield(void* belongs) {
  step_next((belongings*)belongs);
  return janus_sleep_ns(1000);
}

static void step_shield(belongings* mine) {
  janus_shield(wait_behind_shield, mine);
}

static void step_open_budgeted(belongings* mine) {
  (void)mine;
  const janus_budget little = {1, 64, 1, 1, 0};
  janus_nursery* nursery = open_cage(little);
  janus_nursery_close(nursery);
  janus_nursery_await(nursery, NULL);
  janus_nursery_destroy(nursery);
}

static void step_create(belongings* mine) {
  (void)mine;
  if (janus_nursery_create() != NULL) janus_nursery_await_all();
}

static void step_spawn(belongings* mine) {
  (void)mine;
  if (janus_nursery_create() == NULL) return;
  janus_nursery_spawn(return_nothing, NULL);
  janus_nursery_await_all();
}

static void step_fork(belongings* mine) {
  (void)mine;
  janus_result results[2];
  janus_fork_join(return_nothing, NULL, return_nothing, NULL, results);
}

static void step_spawn_in(belongings* mine) {
  const janus_task task = spawn(mine->nursery, return_nothing, NULL);
  janus_task_release(task);
}

static void step_spawn_named(belongings* mine) {
  const janus_spawn_options options = {.name = "step", .flags = JANUS_SPAWN_DETACHED};
  janus_nursery_spawn_in(mine->nursery, return_nothing, NULL, &options);
}

static void step_spawn_and_join(belongings* mine) {
  const janus_task task = spawn(mine->nursery, return_nothing, NULL);
  janus_task_join(task, NULL);
  janus_task_release(task);
}

static void step_end(belongings* mine) {
  (void)mine;
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  janus_nursery_state(nursery);
  janus_nursery_cancel(nursery);
  janus_nursery_close(nursery);
  janus_nursery_try_result(nursery, NULL);
  janus_nursery_destroy(nursery);
}

static void step_look(belongings* mine) {
  janus_result result;
  janus_task_state(mine->ended);
  janus_task_result(mine->ended, &result);
  janus_task_find(janus_task_id() + 1);
}

static void step_ask(belongings* mine) {
  (void)mine;
  janus_budget_get_current();
  janus_cap_root(NULL);
}

static void step_derive(belongings* mine) {
  (void)mine;
  const janus_budget limit = {.ops = 1};
  const janus_cap none = {0};
  const janus_cap above = janus_cap_derive(none, JANUS_CAP_SPAWN, limit);
  janus_cap_derive(above, JANUS_CAP_SPAWN, limit);
  janus_cap_revoke(above);
}

static void step_recharge(belongings* mine) {
  const janus_budget amount = {.ops = 1};
  janus_nursery_recharge(mine->nursery, amount);
}

static void step_tenant(belongings* mine) {
  (void)mine;
  const janus_nursery_options options = {.budget = {1000, 64 << 10, 2, 0, 0}};
  janus_nursery* tenant = janus_nursery_open(NULL, &options);
  if (tenant == NULL) return;
  janus_channel* keeper = janus_channel_create(sizeof(janus_keep), 1);
  const janus_budget low = {.ops = 500};
  janus_nursery_keep(tenant, keeper, &low);
  janus_nursery_pause(tenant);
  spawn(tenant, return_nothing, NULL);
  janus_nursery_resume(tenant);
  janus_usage usage = {.size = sizeof usage};
  janus_nursery_usage(tenant, &usage);
  janus_budget amount = {.ops = 100};
  janus_nursery_withdraw(tenant, &amount);
  janus_channel_release(keeper);
  janus_nursery_await(tenant, NULL);
  janus_nursery_destroy(tenant);
}

static void step_grant64(belongings* mine) {
  janus_budget_grant64(mine->nursery, JANUS_COMPONENT_OPS, 1);
}

static void step_budget_recharge(belongings* mine) {
  (void)mine;
  const janus_budget amount = {.ops = 0};
  janus_budget_recharge(amount);
}

static void step_join(belongings* mine) {
  janus_task_join(mine->ended, NULL);
}

static void step_cancel(belongings* mine) {
  janus_task_cancel(mine->ended);
}

static void step_task_watch(belongings* mine) {
  janus_task_watch(mine->ended, mine->results);
  janus_task_watch(mine->ended, mine->closed);
}

static void step_set_name(belongings* mine) {
  (void)mine;
  janus_task_set_name("step");
}

static void step_unpark(belongings* mine) {
  janus_unpark(mine->ended);
}

static void step_park(belongings* mine) {
  (void)mine;
  janus_unpark(janus_task_self());
  janus_park(-1);
}

static void step_park_for_a_time(belongings* mine) {
  (void)mine;
  janus_park(1);
}

static void step_sleep(belongings* mine) {
  (void)mine;
  janus_sleep_ns(1);
}

static void step_sleep_until(belongings* mine) {
  (void)mine;
  janus_sleep_until(janus_now_ns() + 1000);
}

static void step_yield(belongings* mine) {
  (void)mine;
  janus_yield();
}

static void step_yield_slow(belongings* mine) {
  (void)mine;
  janus_yield_slow();
}

static void step_yield_and_slow(belongings* mine) {
  (void)mine;
  janus_yield();
  janus_yield_slow();
}

static void step_local_set(belongings* mine) {
  janus_local_set(mine->key, mine);
}

static void step_local_key(belongings* mine) {
  (void)mine;
  janus_local_key key;
  if (janus_local_new(&key, NULL) == 0) janus_local_delete(key);
}

static void step_inherited(belongings* mine) {
  janus_local_key key;
  if (janus_local_new_inherited(&key, NULL) != 0) return;
  janus_local_set(key, mine);
  janus_local_delete(key);
}

// ---- Channels -------------------------------------------------------------------------------------------------------

static void step_channel(belongings* mine) {
  (void)mine;
  janus_channel* channel = janus_channel_create(8, 2);
  janus_channel_release(channel);
}

static void step_retain(belongings* mine) {
  if (janus_channel_retain(mine->room) != NULL) janus_channel_release(mine->room);
}

static void step_channel_close(belongings* mine) {
  janus_channel_close(mine->closed);
}

static void step_send_and_recv(belongings* mine) {
  char element[64];
  memset(element, 0, sizeof element);
  if (janus_channel_send(mine->room, element) == 0) janus_channel_recv(mine->room, element);
}

static void step_transfer_until(belongings* mine) {
  char element[64];
  memset(element, 0, sizeof element);
  janus_channel_recv_until(mine->room, element, janus_now_ns() + 1000);
  if (janus_channel_send_until(mine->room, element, UINT64_MAX) == 0) janus_channel_recv(mine->room, element);
}

static void step_transfer_many(belongings* mine) {
  char elements[3 * 64];
  memset(elements, 0, sizeof elements);
  if (janus_channel_send_many(mine->room, elements, 3) > 0) janus_channel_recv_many(mine->room, elements, 3);
}

static void step_select(belongings* mine) {
  char element[64];
  memset(element, 0, sizeof element);
  janus_select_case cases[] = {{mine->room, element, JANUS_RECV, 0}, {mine->room, element, JANUS_SEND, 0}};
  janus_select(cases, 1, 1000);
  if (janus_select(cases, 2, 1000) == 1) janus_select_until(cases, 1, UINT64_MAX);
}

static void step_try_send(belongings* mine) {
  char element[64];
  memset(element, 0, sizeof element);
  janus_channel_try_send(mine->room, element);
  janus_channel_try_recv(mine->room, element);
}

static void step_try_recv(belongings* mine) {
  char element[64];
  janus_channel_try_recv(mine->room, element);
}

static void step_send_closed(belongings* mine) {
  char element[64];
  memset(element, 0, sizeof element);
  janus_channel_send(mine->closed, element);
}

static void step_ticker(belongings* mine) {
  (void)mine;
  janus_ticker ticker;
  if (janus_ticker_init(&ticker, 1000, JANUS_TICKER_SKIP) == 0) janus_ticker_wait(&ticker, NULL);
  janus_ticker_take(&ticker, NULL);
}

static void step_broadcast(belongings* mine) {
  (void)mine;
  uint64_t room[2] = {0}, word = 0, missed;
  janus_broadcast channel;
  janus_broadcast_reader reader;
  janus_broadcast_init(&channel, room, sizeof room[0], 2);
  janus_broadcast_subscribe(&channel, &reader);
  if (janus_broadcast_send(&channel, &word) == 0) janus_broadcast_recv(&channel, &reader, &word, &missed);
  janus_broadcast_recv_until(&channel, &reader, &word, &missed, janus_now_ns() + 1000);
  janus_broadcast_close(&channel);
}

static void step_watch(belongings* mine) {
  (void)mine;
  uint64_t room = 0, word = 1;
  janus_watch watch;
  janus_broadcast_reader reader = {0};
  janus_watch_init(&watch, &room, sizeof room);
  janus_watch_get(&watch, &word);
  janus_watch_next(&watch, &reader, &word);
  janus_watch_set(&watch, &word);
  janus_watch_next_until(&watch, &reader, &word, janus_now_ns() + 1000);
  janus_watch_close(&watch);
}

// ---- Output and the system ------------------------------------------------------------------------------------------

static void step_print(belongings* mine) {
  janus_print(mine->null_file, "%d %s\n", 4711, "step");
}

static void step_write(belongings* mine) {
  janus_write(mine->null_file, "step\n", 5);
}

static void step_syscall(belongings* mine) {
  (void)mine;
  janus_syscall(SYS_getpid);
}

static void step_blocking(belongings* mine) {
  (void)mine;
  janus_blocking(return_nothing, NULL);
}

static void step_pin(belongings* mine) {
  (void)mine;
  if (janus_task_pin() != 0) return;
  janus_yield();
  janus_task_unpin();
}

static void step_entropy(belongings* mine) {
  janus_entropy(mine->block, 16);
}

static void step_last_error_text(belongings* mine) {
  (void)mine;
  char text[64];
  janus_last_error_text(text, sizeof text);
}

static void step_stats(belongings* mine) {
  (void)mine;
  janus_stats stats;
  stats.size = sizeof stats;
  janus_rt_stats(NULL, &stats);
  janus_worker_stats worker;
  worker.size = sizeof worker;
  janus_rt_worker_stats(NULL, 0, &worker);
}

// ---- Locks ------------------------------------------------------------------------------------------------------------

static void step_mutex(belongings* mine) {
  (void)mine;
  janus_mutex mutex = {0};
  if (janus_mutex_lock(&mutex) == 0 || janus_mutex_try_lock(&mutex) == 0) janus_mutex_heal(&mutex);
  janus_mutex_lock_until(&mutex, janus_now_ns() + 1000);
  janus_mutex_unlock(&mutex);
}

static int64_t lock_and_signal(void* shared) {
  janus_mutex* const mutex = (janus_mutex*)shared;
  if (janus_mutex_lock(mutex) != 0) return 0;
  janus_cond_signal((janus_cond*)(mutex + 1));
  return janus_mutex_unlock(mutex);
}

static void step_cond(belongings* mine) {
  (void)mine;
  struct {
    janus_mutex mutex;
    janus_cond cond;
  } shared = {{0}, {0}};
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  janus_mutex_try_lock(&shared.mutex);
  spawn(nursery, lock_and_signal, &shared);
  janus_cond_wait_until(&shared.cond, &shared.mutex, janus_now_ns() + 1000);
  janus_cond_broadcast(&shared.cond);
  janus_mutex_unlock(&shared.mutex);
  janus_cond_wait(&shared.cond, &shared.mutex);
  janus_nursery_await(nursery, NULL);
  janus_nursery_destroy(nursery);
}

static void step_rwlock(belongings* mine) {
  (void)mine;
  janus_rwlock lock = {{0}};
  if (janus_rwlock_read_lock(&lock) == 0) janus_rwlock_read_unlock(&lock);
  if (janus_rwlock_read_lock_until(&lock, janus_now_ns() + 1000) == 0) janus_rwlock_read_unlock(&lock);
  if (janus_rwlock_try_read_lock(&lock) == 0) janus_rwlock_write_lock_until(&lock, janus_now_ns() + 1000);
  janus_rwlock_read_unlock(&lock);
  if (janus_rwlock_write_lock(&lock) == 0 || janus_rwlock_try_write_lock(&lock) == 0) janus_rwlock_write_unlock(&lock);
}

static void step_semaphore(belongings* mine) {
  (void)mine;
  janus_semaphore semaphore;
  janus_semaphore_init(&semaphore, 1);
  janus_semaphore_acquire(&semaphore);
  janus_semaphore_acquire_until(&semaphore, janus_now_ns() + 1000);
  janus_semaphore_try_acquire(&semaphore);
  janus_semaphore_release(&semaphore, 1);
}

static void step_barrier(belongings* mine) {
  (void)mine;
  janus_barrier barrier;
  janus_barrier_init(&barrier, 1);
  janus_barrier_wait(&barrier);
  janus_barrier_init(&barrier, 2);
  janus_barrier_wait_until(&barrier, janus_now_ns() + 1000);
}

static void step_wait_group(belongings* mine) {
  (void)mine;
  janus_wait_group group = {0};
  janus_wait_group_add(&group, 1);
  janus_wait_group_wait_until(&group, janus_now_ns() + 1000);
  janus_wait_group_done(&group);
  janus_wait_group_wait(&group);
}

static void step_event(belongings* mine) {
  (void)mine;
  janus_event event = {0};
  janus_event_wait_until(&event, janus_now_ns() + 1000);
  janus_event_set(&event);
  janus_event_wait(&event);
  janus_event_reset(&event);
}

static int wants_large(const void* message, void* least) {
  return *(const char*)message >= (char)(intptr_t)least;
}

static void step_new_mailbox(belongings* mine) {
  (void)mine;
  janus_mailbox_release(janus_mailbox_create(64, 2));
}

static void step_mailbox(belongings* mine) {
  char message[64] = {1};
  janus_mailbox_send_until(mine->mailbox, message, janus_now_ns() + 1000);
  janus_mailbox_try_send(mine->mailbox, message);
  janus_mailbox_recv_match(mine->mailbox, wants_large, (void*)1, message);
  janus_mailbox_recv_match_until(mine->mailbox, wants_large, (void*)2, message, janus_now_ns() + 1000);
  if (janus_mailbox_send(mine->mailbox, message) == 0) janus_mailbox_recv(mine->mailbox, message);
  if (janus_mailbox_retain(mine->mailbox) != NULL) janus_mailbox_release(mine->mailbox);
  janus_mailbox_recv_until(mine->mailbox, message, 1);
}

static void step_closed_mailbox(belongings* mine) {
  char message[64] = {1};
  janus_mailbox_close(mine->closed_mailbox);
  janus_mailbox_send(mine->closed_mailbox, message);
}

static int64_t be_ready_and_fail(void* unused) {
  (void)unused;
  return janus_child_ready() - 1;
}

static void step_new_supervisor(belongings* mine) {
  (void)mine;
  janus_supervisor_close(janus_supervisor_open(NULL, NULL));
}

static void step_supervisor(belongings* mine) {
  const janus_child_spec spec = {.start = be_ready_and_fail, .ready_ns = 1000};
  janus_child child;
  const int64_t first = janus_supervisor_add(mine->supervisor, &spec);
  const int64_t second = janus_supervisor_add(mine->supervisor, &spec);
  if (first > 0 || second > 0) janus_supervisor_run(mine->supervisor);  // without children it would wait for ever
  if (janus_supervisor_children(mine->supervisor, &child, 1) > 0) janus_supervisor_remove(mine->supervisor, child.id);
  janus_supervisor_remove(mine->supervisor, second);
}

static void call_nothing(void* unused) {
  (void)unused;
}

static void step_once(belongings* mine) {
  (void)mine;
  janus_once once = {0};
  janus_once_call(&once, call_nothing, NULL);
  janus_once_call_until(&once, call_nothing, NULL, 1);
}

typedef struct step {
  const char* name;
  void (*run)(belongings*);
  const char* calls;  // the exported functions that the step covers
} step;

static int visit_none(const janus_task_view* view, void* arg) {
  return view == arg;
}
static void step_safepoint(belongings* mine) {
  (void)mine;
  if (janus_safepoint_stop(NULL, 20000) != 0) return;
  janus_safepoint_walk(NULL, visit_none, NULL);
  janus_safepoint_resume(NULL);
}

static const step steps[] = {
    {"alloc", step_alloc, "janus_alloc"},
    {"alloc of 100 KB", step_alloc_large, "janus_alloc"},
    {"aligned alloc", step_alloc_aligned, "janus_alloc_aligned"},
    {"realloc", step_realloc, "janus_realloc"},
    {"open, await, destroy", step_open, "janus_nursery_open janus_nursery_await janus_nursery_destroy"},
    {"open with a budget", step_open_budgeted, "janus_nursery_open"},
    {"join_until and await_until in vain", step_wait_in_vain, "janus_task_join_until janus_nursery_await_until"},
    {"next", step_next, "janus_nursery_next"},
    {"shield", step_shield, "janus_shield"},
    {"create, await_all", step_create, "janus_nursery_create janus_nursery_await_all"},
    {"create, spawn, await_all", step_spawn, "janus_nursery_spawn"},
    {"fork_join", step_fork, "janus_fork_join"},
    {"spawn_in, release", step_spawn_in, "janus_nursery_spawn_in"},
    {"spawn_in with a name", step_spawn_named, "janus_nursery_spawn_in"},
    {"spawn_in, join, release", step_spawn_and_join, "janus_task_join"},
    {"state, cancel, close, try_result", step_end,
     "janus_nursery_state janus_nursery_cancel janus_nursery_close janus_nursery_try_result"},
    {"state and result of what has ended", step_look, "janus_task_state janus_task_result janus_task_find"},
    {"budget_get_current, cap_root", step_ask, "janus_budget_get_current janus_cap_root"},
    {"cap_derive, cap_revoke", step_derive, "janus_cap_derive janus_cap_revoke"},
    {"nursery_recharge", step_recharge, "janus_nursery_recharge"},
    {"a tenant", step_tenant,
     "janus_nursery_usage janus_nursery_withdraw janus_nursery_pause janus_nursery_resume janus_nursery_keep"},
    {"grant64", step_grant64, "janus_budget_grant64"},
    {"budget_recharge", step_budget_recharge, "janus_budget_recharge"},
    {"join of what has ended", step_join, "janus_task_join"},
    {"cancel of what has ended", step_cancel, "janus_task_cancel"},
    {"watch of what has ended", step_task_watch, "janus_task_watch"},
    {"set_name", step_set_name, "janus_task_set_name"},
    {"unpark of what has ended", step_unpark, "janus_unpark"},
    {"unpark, park", step_park, "janus_park"},
    {"park for a time", step_park_for_a_time, "janus_park"},
    {"sleep_ns", step_sleep, "janus_sleep_ns"},
    {"sleep_until", step_sleep_until, "janus_sleep_until"},
    {"yield", step_yield, "janus_yield"},
    {"yield_slow without need", step_yield_slow, "janus_yield_slow"},
    {"yield, yield_slow", step_yield_and_slow, "janus_yield_slow"},
    {"local_set", step_local_set, "janus_local_set"},
    {"local_new, local_delete", step_local_key, "janus_local_new janus_local_delete"},
    {"local_new_inherited, local_set", step_inherited, "janus_local_new_inherited"},
    {"channel_create, release", step_channel, "janus_channel_create"},
    {"retain, release", step_retain, "janus_channel_retain"},
    {"close of what is closed", step_channel_close, "janus_channel_close"},
    {"send, recv", step_send_and_recv, "janus_channel_send janus_channel_recv"},
    {"recv_until in vain, send_until", step_transfer_until, "janus_channel_send_until janus_channel_recv_until"},
    {"send_many, recv_many", step_transfer_many, "janus_channel_send_many janus_channel_recv_many"},
    {"select in vain, select", step_select, "janus_select janus_select_until"},
    {"try_send, try_recv", step_try_send, "janus_channel_try_send janus_channel_try_recv"},
    {"try_recv of nothing", step_try_recv, "janus_channel_try_recv"},
    {"send to a closed channel", step_send_closed, "janus_channel_send"},
    {"print", step_print, "janus_print"},
    {"write", step_write, "janus_write"},
    {"syscall", step_syscall, "janus_syscall"},
    {"blocking", step_blocking, "janus_blocking"},
    {"pin, unpin", step_pin, "janus_task_pin janus_task_unpin"},
    {"entropy", step_entropy, "janus_entropy"},
    {"last_error_text", step_last_error_text, "janus_last_error_text"},
    {"stats", step_stats, "janus_rt_stats janus_rt_worker_stats"},
    {"mutex", step_mutex,
     "janus_mutex_lock janus_mutex_try_lock janus_mutex_lock_until janus_mutex_heal janus_mutex_unlock"},
    {"cond", step_cond, "janus_cond_wait janus_cond_wait_until janus_cond_signal janus_cond_broadcast"},
    {"rwlock", step_rwlock,
     "janus_rwlock_read_lock janus_rwlock_read_lock_until janus_rwlock_try_read_lock janus_rwlock_write_lock "
     "janus_rwlock_write_lock_until janus_rwlock_try_write_lock janus_rwlock_read_unlock janus_rwlock_write_unlock"},
    {"ticker", step_ticker, "janus_ticker_init janus_ticker_wait janus_ticker_take"},
    {"broadcast", step_broadcast,
     "janus_broadcast_init janus_broadcast_subscribe janus_broadcast_send janus_broadcast_recv "
     "janus_broadcast_recv_until janus_broadcast_close"},
    {"watch", step_watch,
     "janus_watch_init janus_watch_get janus_watch_next janus_watch_set janus_watch_next_until janus_watch_close"},
    {"semaphore", step_semaphore,
     "janus_semaphore_init janus_semaphore_acquire janus_semaphore_acquire_until janus_semaphore_try_acquire "
     "janus_semaphore_release"},
    {"barrier", step_barrier, "janus_barrier_init janus_barrier_wait janus_barrier_wait_until"},
    {"wait group", step_wait_group,
     "janus_wait_group_add janus_wait_group_wait janus_wait_group_wait_until janus_wait_group_done"},
    {"event", step_event, "janus_event_wait janus_event_wait_until janus_event_set janus_event_reset"},
    {"mailbox_create, release", step_new_mailbox, "janus_mailbox_create"},
    {"mailbox", step_mailbox,
     "janus_mailbox_send janus_mailbox_send_until janus_mailbox_try_send janus_mailbox_recv janus_mailbox_recv_until "
     "janus_mailbox_recv_match janus_mailbox_recv_match_until janus_mailbox_retain"},
    {"closed mailbox", step_closed_mailbox, "janus_mailbox_close"},
    {"supervisor_open, close", step_new_supervisor, "janus_supervisor_open"},
    {"supervisor", step_supervisor,
     "janus_supervisor_add janus_supervisor_run janus_supervisor_children janus_supervisor_remove janus_child_ready"},
    {"once", step_once, "janus_once_call janus_once_call_until"},
    {"safepoint", step_safepoint, "janus_safepoint_stop janus_safepoint_walk janus_safepoint_resume"},
};
enum { kSteps = sizeof steps / sizeof *steps };

#endif
