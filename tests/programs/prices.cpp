// SPDX-License-Identifier: Apache-2.0
// prices: prints what a call of each function costs, in lines `NAME OPS`; prices_test.py compares them with
// docs/budgets.md. Functions that do not return have no price and are not called.
#include <janus/llvm.h>
#include <janus/rt.h>
#include <janus/supervise.h>
#include <janus/sync.h>

#include <string.h>

// Functions of no public header: called by function-local statics (linker/cxx) and by streams (linker/c).
extern "C" {
int janus_once_begin(uint8_t* flag);
void janus_once_end(uint8_t* flag, int is_done);
int janus_hold_try(const void* object);
void janus_hold_end(const void* object);
void janus_pay(uint32_t ops);
int* janus_task_errno(void);
size_t janus_write_floating(char* text, uint64_t bits, char conversion, int precision, bool keeps_point,
                            size_t* zeros_at, size_t* zeros);
int janus_may_exit(void);
void janus_has_written(int fd, int64_t answer);
}

namespace {

constexpr int kCalls = 16;

struct Price {
  const char* function;
  void (*call)();
};

janus_nursery* nursery;
janus_nursery* spare[kCalls];
janus_task tasks[kCalls];
janus_task ended;
janus_result results[2];
janus_channel* channel;
janus_mailbox* mailboxes[kCalls];
janus_supervisor* supervisors[kCalls];
janus_channel* channels[kCalls];
void* blocks[kCalls];
janus_local_key key, keys[kCalls];
int turn;
char element[64];
uint8_t once_flags[kCalls];
uint32_t held[kCalls];
janus_mutex mutexes[kCalls], unlocked;
janus_rwlock rwlocks[kCalls];
janus_cond cond;
janus_semaphore semaphore;
janus_barrier barrier;
janus_wait_group group;
janus_event event;
janus_once once;

int64_t nothing(void*) {
  return 0;
}

int wants_any(const void*, void*) {
  return 1;
}

// What a call needs is prepared before the measurement; `turn` counts the calls.
const Price prices[] = {
    {"janus_alloc", [] { blocks[turn] = janus_alloc(64); }},
    {"janus_realloc", [] { blocks[turn] = janus_realloc(blocks[turn], 5000); }},
    {"janus_free", [] { janus_free(blocks[turn]); }},
    {"janus_alloc_aligned", [] { blocks[turn] = janus_alloc_aligned(64, 64); }},
    {"janus_nursery_create", [] { janus_nursery_create(); }},
    {"janus_nursery_spawn", [] { janus_nursery_spawn(nothing, nullptr); }},
    {"janus_scheduler_spawn", [] { janus_scheduler_spawn((void*)nothing, nullptr); }},
    {"janus_nursery_await_all", [] { janus_nursery_await_all(); }},
    {"janus_fork_join", [] { janus_fork_join(nothing, nullptr, nothing, nullptr, results); }},
    {"janus_nursery_open", [] { spare[turn] = janus_nursery_open(nullptr, nullptr); }},
    {"janus_nursery_spawn_in", [] { tasks[turn] = janus_nursery_spawn_in(nursery, nothing, nullptr, nullptr); }},
    {"janus_task_join", [] { janus_task_join(tasks[turn], nullptr); }},
    {"janus_task_join_until", [] { janus_task_join_until(tasks[turn], nullptr, 1); }},
    {"janus_task_result", [] { janus_task_result(tasks[turn], nullptr); }},
    {"janus_task_state", [] { janus_task_state(tasks[turn]); }},
    {"janus_task_cancel", [] { janus_task_cancel(tasks[turn]); }},
    {"janus_unpark", [] { janus_unpark(tasks[turn]); }},
    {"janus_task_release", [] { janus_task_release(tasks[turn]); }},
    {"janus_nursery_usage", [] { janus_nursery_usage(spare[turn], nullptr); }},
    {"janus_nursery_withdraw", [] { janus_nursery_withdraw(spare[turn], nullptr); }},
    {"janus_nursery_pause", [] { janus_nursery_pause(spare[turn]); }},
    {"janus_nursery_resume", [] { janus_nursery_resume(spare[turn]); }},
    {"janus_nursery_keep", [] { janus_nursery_keep(spare[turn], nullptr, nullptr); }},
    {"janus_nursery_recharge", [] { janus_nursery_recharge(spare[turn], {}); }},
    {"janus_budget_grant64", [] { janus_budget_grant64(spare[turn], JANUS_COMPONENT_MEMORY, 0); }},
    {"janus_nursery_state", [] { janus_nursery_state(spare[turn]); }},
    {"janus_nursery_close", [] { janus_nursery_close(spare[turn]); }},
    {"janus_nursery_cancel", [] { janus_nursery_cancel(spare[turn]); }},
    {"janus_nursery_try_result", [] { janus_nursery_try_result(spare[turn], nullptr); }},
    {"janus_nursery_await", [] { janus_nursery_await(spare[turn], nullptr); }},
    {"janus_nursery_next", [] { janus_nursery_next(spare[turn], nullptr, 1); }},
    {"janus_nursery_await_until", [] { janus_nursery_await_until(spare[turn], nullptr, 1); }},
    {"janus_nursery_destroy", [] { janus_nursery_destroy(spare[turn]); }},
    {"janus_task_self", [] { janus_task_self(); }},
    {"janus_task_watch", [] { janus_task_watch(tasks[turn], nullptr); }},
    {"janus_task_find", [] { janus_task_find(janus_task_id()); }},
    {"janus_task_id", [] { janus_task_id(); }},
    {"janus_cancelled", [] { janus_cancelled(); }},
    {"janus_last_error", [] { janus_last_error(); }},
    {"janus_last_error_text",
     [] {
       char text[192];
       janus_last_error_text(text, sizeof text);
     }},
    {"janus_task_set_name", [] { janus_task_set_name("priced"); }},
    {"janus_task_pin", [] { janus_task_pin(); }},
    {"janus_task_unpin", [] { janus_task_unpin(); }},
    {"janus_local_set", [] { janus_local_set(key, element); }},
    {"janus_local_get", [] { janus_local_get(key); }},
    {"janus_local_new", [] { janus_local_new(&keys[turn], nullptr); }},
    {"janus_local_delete", [] { janus_local_delete(keys[turn]); }},
    {"janus_local_new_inherited", [] { janus_local_new_inherited(&keys[turn], nullptr); }},
    {"janus_shield", [] { janus_shield(nothing, nullptr); }},
    {"janus_yield_slow", [] { janus_yield_slow(); }},
    {"janus_scheduler_yield",
     [] {
       if (turn == 0) janus_scheduler_yield();  // the very first yield is free
       janus_scheduler_yield();
     }},
    {"janus_yield",
     [] {
       if (turn % 2 == 1) return;
       janus_yield_check(1);  // charges something in between
       janus_yield();
     }},
    {"janus_sleep_ns", [] { janus_sleep_ns(0); }},
    {"janus_sleep_until", [] { janus_sleep_until(1); }},
    {"janus_now_ns", [] { janus_now_ns(); }},
    {"janus_unix_time_ns", [] { janus_unix_time_ns(); }},
    {"janus_park", [] { janus_park(0); }},
    {"janus_channel_create", [] { channels[turn] = janus_channel_create(64, 4); }},
    {"janus_channel_send", [] { janus_channel_send(channel, element); }},
    {"janus_channel_recv", [] { janus_channel_recv(channel, element); }},
    {"janus_channel_send_until", [] { janus_channel_send_until(channel, element, 1); }},
    {"janus_channel_recv_until", [] { janus_channel_recv_until(channel, element, 1); }},
    {"janus_channel_send_many", [] { janus_channel_send_many(channel, element, 1); }},
    {"janus_channel_recv_many", [] { janus_channel_recv_many(channel, element, 1); }},
    {"janus_channel_try_send", [] { janus_channel_try_send(channel, element); }},
    {"janus_channel_try_recv", [] { janus_channel_try_recv(channel, element); }},
    {"janus_mutex_lock", [] { janus_mutex_lock(&mutexes[turn]); }},
    {"janus_mutex_heal", [] { janus_mutex_heal(&mutexes[turn]); }},
    {"janus_mutex_unlock", [] { janus_mutex_unlock(&mutexes[turn]); }},
    {"janus_mutex_try_lock", [] { janus_mutex_try_lock(&mutexes[turn]); }},
    {"janus_mutex_lock_until", [] { janus_mutex_lock_until(&mutexes[turn], 1); }},
    {"janus_rwlock_read_lock", [] { janus_rwlock_read_lock(&rwlocks[turn]); }},
    {"janus_rwlock_try_read_lock", [] { janus_rwlock_try_read_lock(&rwlocks[turn]); }},
    {"janus_rwlock_read_lock_until", [] { janus_rwlock_read_lock_until(&rwlocks[turn], 1); }},
    {"janus_rwlock_try_write_lock", [] { janus_rwlock_try_write_lock(&rwlocks[turn]); }},
    {"janus_rwlock_write_lock_until", [] { janus_rwlock_write_lock_until(&rwlocks[turn], 1); }},
    {"janus_rwlock_read_unlock", [] { janus_rwlock_read_unlock(&rwlocks[turn]); }},
    {"janus_rwlock_write_lock",
     [] {
       if (turn == 0) memset(rwlocks, 0, sizeof rwlocks);
       janus_rwlock_write_lock(&rwlocks[turn]);
     }},
    {"janus_rwlock_write_unlock", [] { janus_rwlock_write_unlock(&rwlocks[turn]); }},
    {"janus_cond_wait", [] { janus_cond_wait(&cond, &unlocked); }},
    {"janus_cond_wait_until", [] { janus_cond_wait_until(&cond, &unlocked, 1); }},
    {"janus_cond_signal", [] { janus_cond_signal(&cond); }},
    {"janus_cond_broadcast", [] { janus_cond_broadcast(&cond); }},
    {"janus_semaphore_init", [] { janus_semaphore_init(&semaphore, 3 * kCalls); }},
    {"janus_semaphore_acquire", [] { janus_semaphore_acquire(&semaphore); }},
    {"janus_semaphore_acquire_until", [] { janus_semaphore_acquire_until(&semaphore, 1); }},
    {"janus_semaphore_try_acquire", [] { janus_semaphore_try_acquire(&semaphore); }},
    {"janus_semaphore_release", [] { janus_semaphore_release(&semaphore, 1); }},
    {"janus_barrier_init", [] { janus_barrier_init(&barrier, 1); }},
    {"janus_barrier_wait", [] { janus_barrier_wait(&barrier); }},
    {"janus_barrier_wait_until", [] { janus_barrier_wait_until(&barrier, 1); }},
    {"janus_wait_group_wait", [] { janus_wait_group_wait(&group); }},
    {"janus_wait_group_add", [] { janus_wait_group_add(&group, 1); }},
    {"janus_wait_group_wait_until", [] { janus_wait_group_wait_until(&group, 1); }},
    {"janus_wait_group_done", [] { janus_wait_group_done(&group); }},
    {"janus_event_set", [] { janus_event_set(&event); }},
    {"janus_event_wait", [] { janus_event_wait(&event); }},
    {"janus_event_wait_until", [] { janus_event_wait_until(&event, 1); }},
    {"janus_event_reset", [] { janus_event_reset(&event); }},
    {"janus_once_call",
     [] {
       janus_once_call(
           &once, [](void*) {}, nullptr);
     }},
    {"janus_once_call_until",
     [] {
       janus_once_call_until(
           &once, [](void*) {}, nullptr, 1);
     }},
    {"janus_select",
     [] {
       janus_select_case one = {channel, element, JANUS_SEND, 0};
       janus_select(&one, 1, 0);
     }},
    {"janus_select_until",
     [] {
       janus_select_case one = {channel, element, JANUS_RECV, 0};
       janus_select_until(&one, 1, 1);
     }},
    {"janus_channel_retain", [] { janus_channel_retain(channels[turn]); }},
    {"janus_channel_close", [] { janus_channel_close(channels[turn]); }},
    {"janus_channel_release", [] { janus_channel_release(channels[turn]); }},
    {"janus_mailbox_create", [] { mailboxes[turn] = janus_mailbox_create(64, 4); }},
    {"janus_mailbox_send", [] { janus_mailbox_send(mailboxes[turn], element); }},
    {"janus_mailbox_send_until", [] { janus_mailbox_send_until(mailboxes[turn], element, 1); }},
    {"janus_mailbox_recv_match", [] { janus_mailbox_recv_match(mailboxes[turn], wants_any, nullptr, element); }},
    {"janus_mailbox_recv_match_until",
     [] { janus_mailbox_recv_match_until(mailboxes[turn], wants_any, nullptr, element, 1); }},
    {"janus_mailbox_try_send", [] { janus_mailbox_try_send(mailboxes[turn], element); }},
    {"janus_mailbox_recv", [] { janus_mailbox_recv(mailboxes[turn], element); }},
    {"janus_mailbox_recv_until", [] { janus_mailbox_recv_until(mailboxes[turn], element, 1); }},
    {"janus_mailbox_retain", [] { janus_mailbox_retain(mailboxes[turn]); }},
    {"janus_mailbox_close", [] { janus_mailbox_close(mailboxes[turn]); }},
    {"janus_mailbox_release", [] { janus_mailbox_release(mailboxes[turn]); }},
    {"janus_supervisor_open", [] { supervisors[turn] = janus_supervisor_open(nullptr, nullptr); }},
    {"janus_supervisor_children", [] { janus_supervisor_children(supervisors[turn], nullptr, 0); }},
    {"janus_supervisor_add",
     [] {
       janus_child_spec spec = {};
       spec.start = nothing;
       janus_supervisor_add(supervisors[turn], &spec);
     }},
    {"janus_supervisor_remove", [] { janus_supervisor_remove(supervisors[turn], 1); }},
    {"janus_supervisor_run", [] { janus_supervisor_run(nullptr); }},
    {"janus_supervisor_close", [] { janus_supervisor_close(supervisors[turn]); }},
    {"janus_child_ready", [] { janus_child_ready(); }},
    {"janus_budget_get_current", [] { janus_budget_get_current(); }},
    {"janus_budget_recharge", [] { janus_budget_recharge({}); }},
    {"janus_cap_root", [] { janus_cap_root(nullptr); }},
    {"janus_cap_derive", [] { janus_cap_derive({}, 0, {}); }},
    {"janus_cap_revoke", [] { janus_cap_revoke({}); }},
    {"janus_print", [] { janus_print(2, "%s", ""); }},
    {"janus_write", [] { janus_write(2, element, 0); }},
    {"janus_syscall", [] { janus_syscall(39); }},
    {"janus_blocking", [] { janus_blocking(nothing, nullptr); }},
    {"janus_entropy", [] { janus_entropy(element, 16); }},
    {"janus_rt_get", [] { janus_rt_get(); }},
    {"janus_rt_stats",
     [] {
       janus_stats stats;
       stats.size = sizeof stats;
       janus_rt_stats(nullptr, &stats);
     }},
    {"janus_rt_worker_stats",
     [] {
       janus_worker_stats stats;
       stats.size = sizeof stats;
       janus_rt_worker_stats(nullptr, 0, &stats);
     }},
    {"janus_safepoint_stop", [] { janus_safepoint_stop(nullptr, 0); }},
    {"janus_safepoint_walk",
     [] {
       janus_safepoint_walk(
           nullptr, [](const janus_task_view*, void*) { return 0; }, nullptr);
     }},
    {"janus_safepoint_resume", [] { janus_safepoint_resume(nullptr); }},
    {"janus_once_begin", [] { janus_once_begin(&once_flags[turn]); }},
    {"janus_once_end", [] { janus_once_end(&once_flags[turn], 1); }},
    {"janus_hold_try", [] { janus_hold_try(&held[turn]); }},
    {"janus_hold_end", [] { janus_hold_end(&held[turn]); }},
    {"janus_pay", [] { janus_pay(1); }},
    {"janus_task_errno", [] { janus_task_errno(); }},
    {"janus_write_floating",
     [] {
       char text[1096];
       size_t zeros_at, zeros;
       janus_write_floating(text, 0x3ff0000000000000, 'g', 6, false, &zeros_at, &zeros);  // 1.0
     }},
    {"janus_may_exit", [] { janus_may_exit(); }},
    {"janus_has_written", [] { janus_has_written(1, 0); }},
    {"janus_rt_init", [] { janus_rt_init({}); }},
    {"janus_rt_try_init", [] { janus_rt_try_init(nullptr); }},
    // Refused in tasks.
    {"janus_rt_create", [] { janus_rt_create(nullptr); }},
    {"janus_rt_run", [] { janus_rt_run(nullptr, nothing, nullptr); }},
    {"janus_rt_destroy", [] { janus_rt_destroy(nullptr); }},
    {"janus_rt_shutdown", [] { janus_rt_shutdown(); }},
    {"janus_scheduler_create", [] { janus_scheduler_create({}); }},
    {"janus_scheduler_shutdown", [] { janus_scheduler_shutdown(nullptr); }},
};

uint32_t ops_left() {
  return janus_budget_get_current().ops;
}

int64_t measure(void*) {
  nursery = janus_nursery_open(nullptr, nullptr);
  ended = janus_nursery_spawn_in(nursery, nothing, nullptr, nullptr);
  janus_local_new(&key, nullptr);
  channel = janus_channel_create(64, 1000);
  const uint32_t first = ops_left(), of_asking = first - ops_left();
  for (const Price& price : prices) {
    const uint32_t before = ops_left();
    for (turn = 0; turn < kCalls; ++turn) price.call();
    const long hundredths = 100L * (before - ops_left() - of_asking) / kCalls;
    janus_print(1, "%s %ld.%02ld\n", price.function, hundredths / 100, hundredths % 100);
  }
  janus_stats stats;
  stats.size = sizeof stats;
  janus_rt_stats(nullptr, &stats);
  janus_print(1, "price_table %llu\n", static_cast<unsigned long long>(stats.price_table));
  return janus_nursery_await(nursery, nullptr);
}

}  // namespace

int main() {
  const janus_nursery_options options = {0,
                                         JANUS_ON_ERROR_COLLECT,
                                         JANUS_ON_EXHAUSTION_FAIL,
                                         0,
                                         {1000000000, 64 << 20, 10000, 10000, 10000},
                                         {},
                                         nullptr,
                                         0,
                                         0,
                                         0,
                                         0};
  const janus_spawn_options roomy = {0, 0, 65536, {}, {}, nullptr, 0};
  janus_nursery* cage = janus_nursery_open(nullptr, &options);
  janus_nursery_spawn_in(cage, measure, nullptr, &roomy);
  return static_cast<int>(-janus_nursery_await(cage, nullptr));
}
