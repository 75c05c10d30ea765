// SPDX-License-Identifier: Apache-2.0
// Every call with invalid arguments: zeroes, all bits set, junk handles, structs of invalid sizes. Each gives an error,
// or the task panics. hostile_test.py checks that no function is missing.
#include <janus/broadcast.h>
#include <janus/llvm.h>
#include <janus/supervise.h>
#include <janus/sync.h>
#include <janus/ticker.h>
#include <janus/watch.h>

#include "hostile.h"

namespace {

constexpr size_t kAll = SIZE_MAX;
constexpr uint64_t kJunk = 0xdeadbeefcafebabe;

janus_channel* channel;
janus_nursery* nursery;
int number;
int64_t value;
janus_mutex mutex;
janus_cond cond;
janus_semaphore semaphore;
janus_ticker ticker;
janus_broadcast broadcast;
janus_broadcast_reader reader;
janus_watch watch;
janus_barrier barrier;
janus_wait_group group;
janus_once once;

int64_t nothing(void*) {
  return 0;
}

// The result of a call: an error (below -4096), kNothing, or kSomething.
constexpr int64_t kNothing = 1, kSomething = 2;

int64_t refused(const void* pointer) {
  return pointer == nullptr ? kNothing : kSomething;
}
int64_t refused(janus_task task) {
  return task.raw == 0 ? kNothing : kSomething;
}
int64_t refused(janus_cap cap) {
  return cap.raw == 0 ? kNothing : kSomething;
}
int64_t refused(long long status) {
  return status;
}

// Hides the size, since compilers know which sizes an allocator must refuse.
size_t hidden(size_t size) {
  volatile size_t copy = size;
  return copy;
}

template <class Pointer>
Pointer nowhere() {
  return (Pointer)hidden(0);
}

template <class Object>
Object* misaligned() {
  alignas(8) static unsigned char bytes[32];
  return (Object*)(bytes + hidden(4));
}

template <class... Fields>
janus_spawn_options spawn_with(Fields... fields) {
  janus_spawn_options options = {};
  (fields(options), ...);
  return options;
}

int64_t open_with(janus_nursery_options options) {
  return refused(janus_nursery_open(nullptr, &options));
}
int64_t spawn_in_with(janus_spawn_options options) {
  return refused(janus_nursery_spawn_in(nursery, nothing, nullptr, &options));
}

// For calls without a result: they must return.
template <class Call>
int64_t survived(Call call) {
  call();
  return kNothing;
}

// For calls that wait for ever: they must answer once the task is told to end.
template <class Call>
int64_t cancelled(Call) {
  static int said;
  janus_nursery* const scope = open_plain();
  const janus_task task = janus_nursery_spawn_in(
      scope, [](void*) -> int64_t { return said = Call{}(); }, nullptr, nullptr);
  while (janus_task_state(task) != JANUS_TASK_BLOCKED) janus_yield();
  janus_nursery_cancel(scope);
  (void)close_cage(scope);
  return said == JANUS_CANCELLED ? kNothing : kSomething;
}

template <class Pointer>
Pointer junk() {
  return (Pointer)(uintptr_t)0x1230;
}

struct EdgeCall {
  const char* name;
  int64_t (*make)();
};

const EdgeCall calls[] = {
    {"alloc(all)", [] { return refused(janus_alloc(hidden(kAll))); }},
    {"alloc(half)", [] { return refused(janus_alloc(hidden(kAll / 2))); }},
    {"alloc(all - 15)", [] { return refused(janus_alloc(hidden(kAll - 15))); }},
    {"alloc(all - 4096)", [] { return refused(janus_alloc(hidden(kAll - 4096))); }},
    {"alloc_aligned(0)", [] { return refused(janus_alloc_aligned(hidden(0), 8)); }},
    {"alloc_aligned(3)", [] { return refused(janus_alloc_aligned(hidden(3), 8)); }},
    {"alloc_aligned(2 MiB)", [] { return refused(janus_alloc_aligned(hidden(2 << 20), 8)); }},
    {"alloc_aligned(1 << 63)", [] { return refused(janus_alloc_aligned(hidden(size_t{1} << 63), 8)); }},
    {"alloc_aligned(of all)", [] { return refused(janus_alloc_aligned(4096, hidden(kAll - 100))); }},
    {"realloc(nothing, all)", [] { return refused(janus_realloc(nullptr, hidden(kAll))); }},
    {"channel_create(all, 0)", [] { return refused(janus_channel_create(kAll, 0)); }},
    {"channel_create(all, all)", [] { return refused(janus_channel_create(kAll, kAll)); }},
    {"channel_create(1, all)", [] { return refused(janus_channel_create(1, kAll)); }},
    {"channel_create(wraps)", [] { return refused(janus_channel_create(16, size_t{1} << 60)); }},
    {"send(nullptr)", [] { return refused(janus_channel_send(nullptr, &number)); }},
    {"send(of nothing)", [] { return refused(janus_channel_send(channel, nullptr)); }},
    {"recv(nullptr)", [] { return refused(janus_channel_recv(nullptr, &number)); }},
    {"recv(into nothing)", [] { return refused(janus_channel_recv(channel, nullptr)); }},
    {"send_until(nullptr)", [] { return refused(janus_channel_send_until(nullptr, &number, 1)); }},
    {"recv_until(nullptr)", [] { return refused(janus_channel_recv_until(nullptr, &number, kAll)); }},
    {"recv_until(nothing comes)", [] { return refused(janus_channel_recv_until(channel, &number, 1)); }},
    {"send_many(nullptr)", [] { return refused(janus_channel_send_many(nullptr, &number, 1)); }},
    {"send_many(of nothing)", [] { return refused(janus_channel_send_many(channel, nullptr, 1)); }},
    {"send_many(all)", [] { return refused(janus_channel_send_many(channel, &number, kAll)); }},
    {"send_many(2^31)", [] { return refused(janus_channel_send_many(channel, &number, size_t{1} << 31)); }},
    {"send_many(nullptr, none)", [] { return refused(janus_channel_send_many(nullptr, nullptr, 0)); }},
    {"recv_many(nullptr)", [] { return refused(janus_channel_recv_many(nullptr, &number, 1)); }},
    {"recv_many(into nothing)", [] { return refused(janus_channel_recv_many(channel, nullptr, 1)); }},
    {"recv_many(all)", [] { return refused(janus_channel_recv_many(channel, &number, kAll)); }},
    {"recv_many(a nursery)", [] { return refused(janus_channel_recv_many((janus_channel*)nursery, &number, 1)); }},
    {"try_send(of nothing)", [] { return refused(janus_channel_try_send(channel, nullptr)); }},
    {"try_recv(into nothing)", [] { return refused(janus_channel_try_recv(channel, nullptr)); }},
    {"close(nullptr)", [] { return refused(janus_channel_close(nullptr)); }},
    {"retain(nullptr)", [] { return refused(janus_channel_retain(nullptr)); }},
    {"close(junk)", [] { return refused(janus_channel_close(junk<janus_channel*>())); }},
    {"send(a nursery)", [] { return refused(janus_channel_send((janus_channel*)nursery, &number)); }},
    {"close(misaligned)", [] { return refused(janus_channel_close((janus_channel*)((char*)channel + 1))); }},
    {"mailbox_create(0, 1)", [] { return refused(janus_mailbox_create(0, 1)); }},
    {"mailbox_create(1, 0)", [] { return refused(janus_mailbox_create(1, 0)); }},
    {"mailbox_create(all, 1)", [] { return refused(janus_mailbox_create(kAll, 1)); }},
    {"mailbox_create(1, all)", [] { return refused(janus_mailbox_create(1, kAll)); }},
    {"mailbox_create(wraps)", [] { return refused(janus_mailbox_create(40, size_t{1} << 58)); }},
    {"mailbox_send(nullptr)", [] { return refused(janus_mailbox_send(nullptr, &number)); }},
    {"mailbox_send(junk)", [] { return refused(janus_mailbox_send(junk<janus_mailbox*>(), &number)); }},
    {"mailbox_send(a channel)", [] { return refused(janus_mailbox_send((janus_mailbox*)channel, &number)); }},
    {"mailbox_send_until(nullptr)", [] { return refused(janus_mailbox_send_until(nullptr, &number, 1)); }},
    {"mailbox_try_send(nullptr)", [] { return refused(janus_mailbox_try_send(nullptr, &number)); }},
    {"mailbox_recv(nullptr)", [] { return refused(janus_mailbox_recv(nullptr, &number)); }},
    {"mailbox_recv_until(nullptr)", [] { return refused(janus_mailbox_recv_until(nullptr, &number, 1)); }},
    {"mailbox_recv_match(nullptr)",
     [] {
       return refused(janus_mailbox_recv_match(
           nullptr, [](const void*, void*) { return 1; }, nullptr, &number));
     }},
    {"mailbox_recv_match(of nothing)",
     [] {
       janus_mailbox* const mailbox = janus_mailbox_create(8, 1);
       const int answer = janus_mailbox_recv_match(mailbox, nullptr, nullptr, &number);
       janus_mailbox_release(mailbox);
       return refused(answer);
     }},
    {"mailbox_recv_match_until(nullptr)",
     [] {
       return refused(janus_mailbox_recv_match_until(
           nullptr, [](const void*, void*) { return 1; }, nullptr, &number, 1));
     }},
    {"mailbox_close(nullptr)", [] { return refused(janus_mailbox_close(nullptr)); }},
    {"mailbox_retain(nullptr)", [] { return refused(janus_mailbox_retain(nullptr)); }},
    {"mailbox_release(nullptr)", [] { return survived([] { janus_mailbox_release(nullptr); }); }},
    {"supervisor_open(a strategy too many)",
     [] {
       const janus_supervisor_options options = {0, 3, 0, 0, 0, 0, 0, {}, nullptr};
       return refused(janus_supervisor_open(nullptr, &options));
     }},
    {"supervisor_open(no size)",
     [] {
       const janus_supervisor_options options = {1, 0, 0, 0, 0, 0, 0, {}, nullptr};
       return refused(janus_supervisor_open(nullptr, &options));
     }},
    {"supervisor_add(nullptr)", [] { return refused((int)janus_supervisor_add(nullptr, nullptr)); }},
    {"supervisor_add(a mailbox)",
     [] {
       janus_mailbox* const mailbox = janus_mailbox_create(8, 1);
       return refused((int)janus_supervisor_add((janus_supervisor*)mailbox, nullptr));
     }},
    {"supervisor_remove(nullptr)", [] { return refused(janus_supervisor_remove(nullptr, 1)); }},
    {"supervisor_remove(of nothing)",
     [] {
       janus_supervisor* const supervisor = janus_supervisor_open(nullptr, nullptr);
       const int answer = janus_supervisor_remove(supervisor, INT64_MIN);
       janus_supervisor_close(supervisor);
       return refused(answer);
     }},
    {"supervisor_run(nullptr)", [] { return refused(janus_supervisor_run(nullptr)); }},
    {"supervisor_run(junk)", [] { return refused(janus_supervisor_run(junk<janus_supervisor*>())); }},
    {"supervisor_children(nullptr)", [] { return refused((int)janus_supervisor_children(nullptr, nullptr, 1)); }},
    {"supervisor_close(nullptr)", [] { return refused(janus_supervisor_close(nullptr)); }},
    {"child_ready(nobody's)", [] { return refused(janus_child_ready()); }},
    {"mutex_lock(nullptr)", [] { return refused(janus_mutex_lock(nullptr)); }},
    {"mutex_lock(misaligned)", [] { return refused(janus_mutex_lock(misaligned<janus_mutex>())); }},
    {"mutex_lock_until(nullptr)", [] { return refused(janus_mutex_lock_until(nullptr, 1)); }},
    {"mutex_lock_until(misaligned)", [] { return refused(janus_mutex_lock_until(misaligned<janus_mutex>(), 1)); }},
    {"mutex_try_lock(nullptr)", [] { return refused(janus_mutex_try_lock(nullptr)); }},
    {"mutex_try_lock(misaligned)", [] { return refused(janus_mutex_try_lock(misaligned<janus_mutex>())); }},
    {"mutex_unlock(nullptr)", [] { return refused(janus_mutex_unlock(nullptr)); }},
    {"mutex_unlock(misaligned)", [] { return refused(janus_mutex_unlock(misaligned<janus_mutex>())); }},
    {"mutex_heal(nullptr)", [] { return refused(janus_mutex_heal(nullptr)); }},
    {"mutex_heal(misaligned)", [] { return refused(janus_mutex_heal(misaligned<janus_mutex>())); }},
    {"rwlock_read_lock(nullptr)", [] { return refused(janus_rwlock_read_lock(nullptr)); }},
    {"rwlock_read_lock(misaligned)", [] { return refused(janus_rwlock_read_lock(misaligned<janus_rwlock>())); }},
    {"rwlock_read_lock_until(nullptr)", [] { return refused(janus_rwlock_read_lock_until(nullptr, 1)); }},
    {"rwlock_read_lock_until(misaligned)",
     [] { return refused(janus_rwlock_read_lock_until(misaligned<janus_rwlock>(), 1)); }},
    {"rwlock_write_lock(nullptr)", [] { return refused(janus_rwlock_write_lock(nullptr)); }},
    {"rwlock_write_lock(misaligned)", [] { return refused(janus_rwlock_write_lock(misaligned<janus_rwlock>())); }},
    {"rwlock_write_lock_until(nullptr)", [] { return refused(janus_rwlock_write_lock_until(nullptr, 1)); }},
    {"rwlock_write_lock_until(misaligned)",
     [] { return refused(janus_rwlock_write_lock_until(misaligned<janus_rwlock>(), 1)); }},
    {"rwlock_try_read_lock(nullptr)", [] { return refused(janus_rwlock_try_read_lock(nullptr)); }},
    {"rwlock_try_read_lock(misaligned)",
     [] { return refused(janus_rwlock_try_read_lock(misaligned<janus_rwlock>())); }},
    {"rwlock_try_write_lock(nullptr)", [] { return refused(janus_rwlock_try_write_lock(nullptr)); }},
    {"rwlock_try_write_lock(misaligned)",
     [] { return refused(janus_rwlock_try_write_lock(misaligned<janus_rwlock>())); }},
    {"rwlock_read_unlock(nullptr)", [] { return refused(janus_rwlock_read_unlock(nullptr)); }},
    {"rwlock_read_unlock(misaligned)", [] { return refused(janus_rwlock_read_unlock(misaligned<janus_rwlock>())); }},
    {"rwlock_write_unlock(nullptr)", [] { return refused(janus_rwlock_write_unlock(nullptr)); }},
    {"rwlock_write_unlock(misaligned)", [] { return refused(janus_rwlock_write_unlock(misaligned<janus_rwlock>())); }},
    {"cond_wait(nullptr)", [] { return refused(janus_cond_wait(nullptr, &mutex)); }},
    {"cond_wait(misaligned)", [] { return refused(janus_cond_wait(misaligned<janus_cond>(), &mutex)); }},
    {"cond_wait_until(nullptr)", [] { return refused(janus_cond_wait_until(nullptr, &mutex, 1)); }},
    {"cond_wait_until(misaligned)", [] { return refused(janus_cond_wait_until(misaligned<janus_cond>(), &mutex, 1)); }},
    {"cond_signal(nullptr)", [] { return refused(janus_cond_signal(nullptr)); }},
    {"cond_signal(misaligned)", [] { return refused(janus_cond_signal(misaligned<janus_cond>())); }},
    {"cond_broadcast(nullptr)", [] { return refused(janus_cond_broadcast(nullptr)); }},
    {"cond_broadcast(misaligned)", [] { return refused(janus_cond_broadcast(misaligned<janus_cond>())); }},
    {"ticker_init(0)", [] { return refused(janus_ticker_init(&ticker, 0, JANUS_TICKER_SKIP)); }},
    {"ticker_init(rule all)", [] { return refused(janus_ticker_init(&ticker, 1, UINT32_MAX)); }},
    {"ticker_init(all, nullptr)", [] { return refused(janus_ticker_init(nullptr, kAll, 0)); }},
    {"ticker_wait(never set up)", [] { return refused(janus_ticker_wait(&ticker, nullptr)); }},
    {"ticker_take(nullptr)", [] { return refused(janus_ticker_take(nullptr, nullptr)); }},
    {"broadcast_init(none)", [] { return refused(janus_broadcast_init(&broadcast, &number, 8, 0)); }},
    {"broadcast_init(nowhere)", [] { return refused(janus_broadcast_init(&broadcast, nullptr, 8, kAll)); }},
    {"broadcast_subscribe(nullptr)", [] { return refused(janus_broadcast_subscribe(&broadcast, nullptr)); }},
    {"broadcast_send(nullptr)", [] { return refused(janus_broadcast_send(nullptr, &number)); }},
    {"broadcast_recv(nullptr)", [] { return refused(janus_broadcast_recv(nullptr, &reader, &number, nullptr)); }},
    {"broadcast_recv_until(nobody)",
     [] { return refused(janus_broadcast_recv_until(&broadcast, nullptr, &number, nullptr, 1)); }},
    {"broadcast_close(nullptr)", [] { return refused(janus_broadcast_close(nullptr)); }},
    {"watch_init(nowhere)", [] { return refused(janus_watch_init(&watch, nullptr, 8)); }},
    {"watch_set(nullptr)", [] { return refused(janus_watch_set(nullptr, &number)); }},
    {"watch_get(nullptr)", [] { return refused(janus_watch_get(nullptr, &number)); }},
    {"watch_next(nobody)", [] { return refused(janus_watch_next(&watch, nullptr, &number)); }},
    {"watch_next_until(nullptr)", [] { return refused(janus_watch_next_until(nullptr, &reader, &number, 1)); }},
    {"watch_close(nullptr)", [] { return refused(janus_watch_close(nullptr)); }},
    {"semaphore_init(nullptr)", [] { return refused(janus_semaphore_init(nullptr, 1)); }},
    {"semaphore_init(misaligned)", [] { return refused(janus_semaphore_init(misaligned<janus_semaphore>(), 1)); }},
    {"semaphore_acquire(nullptr)", [] { return refused(janus_semaphore_acquire(nullptr)); }},
    {"semaphore_acquire(misaligned)", [] { return refused(janus_semaphore_acquire(misaligned<janus_semaphore>())); }},
    {"semaphore_acquire_until(nullptr)", [] { return refused(janus_semaphore_acquire_until(nullptr, 1)); }},
    {"semaphore_acquire_until(misaligned)",
     [] { return refused(janus_semaphore_acquire_until(misaligned<janus_semaphore>(), 1)); }},
    {"semaphore_try_acquire(nullptr)", [] { return refused(janus_semaphore_try_acquire(nullptr)); }},
    {"semaphore_try_acquire(misaligned)",
     [] { return refused(janus_semaphore_try_acquire(misaligned<janus_semaphore>())); }},
    {"semaphore_release(nullptr)", [] { return refused(janus_semaphore_release(nullptr, 1)); }},
    {"semaphore_release(misaligned)",
     [] { return refused(janus_semaphore_release(misaligned<janus_semaphore>(), 1)); }},
    {"barrier_init(nullptr)", [] { return refused(janus_barrier_init(nullptr, 1)); }},
    {"barrier_init(misaligned)", [] { return refused(janus_barrier_init(misaligned<janus_barrier>(), 1)); }},
    {"barrier_wait(nullptr)", [] { return refused(janus_barrier_wait(nullptr)); }},
    {"barrier_wait(misaligned)", [] { return refused(janus_barrier_wait(misaligned<janus_barrier>())); }},
    {"barrier_wait_until(nullptr)", [] { return refused(janus_barrier_wait_until(nullptr, 1)); }},
    {"barrier_wait_until(misaligned)",
     [] { return refused(janus_barrier_wait_until(misaligned<janus_barrier>(), 1)); }},
    {"wait_group_add(nullptr)", [] { return refused(janus_wait_group_add(nullptr, 1)); }},
    {"wait_group_add(misaligned)", [] { return refused(janus_wait_group_add(misaligned<janus_wait_group>(), 1)); }},
    {"wait_group_done(nullptr)", [] { return refused(janus_wait_group_done(nullptr)); }},
    {"wait_group_done(misaligned)", [] { return refused(janus_wait_group_done(misaligned<janus_wait_group>())); }},
    {"wait_group_wait(nullptr)", [] { return refused(janus_wait_group_wait(nullptr)); }},
    {"wait_group_wait(misaligned)", [] { return refused(janus_wait_group_wait(misaligned<janus_wait_group>())); }},
    {"wait_group_wait_until(nullptr)", [] { return refused(janus_wait_group_wait_until(nullptr, 1)); }},
    {"wait_group_wait_until(misaligned)",
     [] { return refused(janus_wait_group_wait_until(misaligned<janus_wait_group>(), 1)); }},
    {"event_set(nullptr)", [] { return refused(janus_event_set(nullptr)); }},
    {"event_set(misaligned)", [] { return refused(janus_event_set(misaligned<janus_event>())); }},
    {"event_reset(nullptr)", [] { return refused(janus_event_reset(nullptr)); }},
    {"event_reset(misaligned)", [] { return refused(janus_event_reset(misaligned<janus_event>())); }},
    {"event_wait(nullptr)", [] { return refused(janus_event_wait(nullptr)); }},
    {"event_wait(misaligned)", [] { return refused(janus_event_wait(misaligned<janus_event>())); }},
    {"event_wait_until(nullptr)", [] { return refused(janus_event_wait_until(nullptr, 1)); }},
    {"event_wait_until(misaligned)", [] { return refused(janus_event_wait_until(misaligned<janus_event>(), 1)); }},
    {"once_call(nullptr)",
     [] {
       return refused(janus_once_call(
           nullptr, [](void*) {}, nullptr));
     }},
    {"once_call(misaligned)",
     [] {
       return refused(janus_once_call(
           misaligned<janus_once>(), [](void*) {}, nullptr));
     }},
    {"once_call_until(nullptr)",
     [] {
       return refused(janus_once_call_until(
           nullptr, [](void*) {}, nullptr, 1));
     }},
    {"once_call_until(misaligned)",
     [] {
       return refused(janus_once_call_until(
           misaligned<janus_once>(), [](void*) {}, nullptr, 1));
     }},
    {"once_call(no function)", [] { return refused(janus_once_call(&once, nullptr, nullptr)); }},
    {"once_call(the runtime's)", [] { return refused(janus_once_call(&once, janus_free, nullptr)); }},
    {"once_call(junk)", [] { return refused(janus_once_call(&once, (void (*)(void*))hidden(kJunk), nullptr)); }},
    {"cond_wait(no mutex)", [] { return refused(janus_cond_wait(&cond, nullptr)); }},
    {"cond_wait(a free mutex)", [] { return refused(janus_cond_wait(&cond, &mutex)); }},
    {"semaphore_release(none)", [] { return refused(janus_semaphore_release(&semaphore, 0)); }},
    {"barrier_init(none)", [] { return refused(janus_barrier_init(&barrier, 0)); }},
    {"barrier_wait(zeroes)", [] { return refused(janus_barrier_wait(&barrier)); }},
    {"wait_group_add(all)", [] { return refused(janus_wait_group_add(&group, INT64_MIN)); }},
    {"select(nothing, 1)", [] { return refused(janus_select(nullptr, 1, 0)); }},
    {"select_until(nothing, 1)", [] { return refused(janus_select_until(nullptr, 1, 1)); }},
    {"select(nothing, all)", [] { return refused(janus_select(nullptr, kAll, 0)); }},
    {"open(on_error 7)",
     [] {
       return open_with({0, 7, 0, 0, {}, {}, nullptr, 0, 0, 0, 0});
     }},
    {"open(on_exhaustion 7)",
     [] {
       return open_with({0, 0, 7, 0, {}, {}, nullptr, 0, 0, 0, 0});
     }},
    {"open(flags)",
     [] {
       return open_with({0, 0, 0, 0x80000000u, {}, {}, nullptr, 0, 0, 0, 0});
     }},
    {"open(size 3)",
     [] {
       return open_with({3, 0, 0, 0, {}, {}, nullptr, 0, 0, 0, 0});
     }},
    {"open(cap of junk)",
     [] {
       return open_with({0, 0, 0, 0, {}, {kJunk}, nullptr, 0, 0, 0, 0});
     }},
    {"open, reserved",
     [] {
       return open_with({sizeof(janus_nursery_options), 0, 0, 0, {}, {}, nullptr, 0, 0, 1, 0});
     }},
    {"open(in junk)", [] { return refused(janus_nursery_open(junk<janus_rt*>(), nullptr)); }},
    {"spawn of nothing", [] { return refused(janus_nursery_spawn_in(nursery, nullptr, nullptr, nullptr)); }},
    {"spawn in nothing", [] { return refused(janus_nursery_spawn_in(nullptr, nothing, nullptr, nullptr)); }},
    {"spawn in a channel",
     [] { return refused(janus_nursery_spawn_in((janus_nursery*)channel, nothing, nullptr, nullptr)); }},
    {"spawn in junk",
     [] { return refused(janus_nursery_spawn_in(junk<janus_nursery*>(), nothing, nullptr, nullptr)); }},
    {"spawn(stack of all)", [] { return spawn_in_with(spawn_with([](auto& o) { o.stack_size = kAll; })); }},
    {"spawn(stack too large)", [] { return spawn_in_with(spawn_with([](auto& o) { o.stack_size = 65 << 20; })); }},
    {"spawn(priority 99)", [] { return spawn_in_with(spawn_with([](auto& o) { o.priority = 99; })); }},
    {"spawn(flags)", [] { return spawn_in_with(spawn_with([](auto& o) { o.flags = uint64_t{1} << 60; })); }},
    {"spawn(size 3)", [] { return spawn_in_with(spawn_with([](auto& o) { o.size = 3; })); }},
    {"spawn(cap of junk)", [] { return spawn_in_with(spawn_with([](auto& o) { o.cap.raw = kJunk; })); }},
    {"spawn, none current", [] { return janus_nursery_spawn(nothing, nullptr) == -1 ? kNothing : kSomething; }},
    {"fork_join of nothing",
     [] {
       janus_result results[2];
       return refused(janus_fork_join(nullptr, nullptr, nothing, nullptr, results));
     }},
    {"fork_join with nothing",
     [] {
       janus_result results[2];
       return refused(janus_fork_join(nothing, nullptr, nullptr, nullptr, results));
     }},
    {"await_all, none current", [] { return refused(janus_nursery_await_all()); }},
    {"close(no nursery)", [] { return refused(janus_nursery_close(nullptr)); }},
    {"cancel(junk nursery)", [] { return refused(janus_nursery_cancel(junk<janus_nursery*>())); }},
    {"state(a stack)", [] { return refused(janus_nursery_state((janus_nursery*)(void*)&calls)); }},
    {"destroy(open nursery)", [] { return refused(janus_nursery_destroy(nursery)); }},
    {"recharge(no nursery)", [] { return refused(janus_nursery_recharge(nullptr, JANUS_BUDGET_ALL)); }},
    {"usage(no nursery)", [] { return refused(janus_nursery_usage(nullptr, nullptr)); }},
    {"usage(no budget)",
     [] {
       janus_usage usage = {};
       return refused(janus_nursery_usage(nursery, &usage));
     }},
    {"withdraw(no budget)", [] { return refused(janus_nursery_withdraw(nursery, nullptr)); }},
    {"pause(no nursery)", [] { return refused(janus_nursery_pause(nullptr)); }},
    {"resume(junk nursery)", [] { return refused(janus_nursery_resume(junk<janus_nursery*>())); }},
    {"keep(no budget)", [] { return refused(janus_nursery_keep(nursery, nullptr, nullptr)); }},
    {"grant64(component -1)", [] { return refused(janus_budget_grant64(nursery, -1, 1)); }},
    {"grant64(component 5)", [] { return refused(janus_budget_grant64(nursery, 5, 1)); }},
    {"grant64(more than all)",
     [] { return refused(janus_budget_grant64(nursery, JANUS_COMPONENT_MEMORY, uint64_t{1} << 62)); }},
    {"join(none)", [] { return refused(janus_task_join({0}, &value)); }},
    {"join(junk)", [] { return refused(janus_task_join({kJunk}, &value)); }},
    {"join_until(junk)", [] { return refused(janus_task_join_until({kJunk}, &value, kAll)); }},
    {"join_until(oneself)", [] { return refused(janus_task_join_until(janus_task_self(), &value, 0)); }},
    {"join(oneself)", [] { return refused(janus_task_join(janus_task_self(), &value)); }},
    {"result(junk)", [] { return refused(janus_task_result({kJunk}, nullptr)); }},
    {"release(junk)", [] { return refused(janus_task_release({kJunk})); }},
    {"cancel(junk)", [] { return refused(janus_task_cancel({kJunk})); }},
    {"watch(junk)", [] { return refused(janus_task_watch({kJunk}, nullptr)); }},
    {"watch(into junk)", [] { return refused(janus_task_watch(janus_task_self(), junk<janus_channel*>())); }},
    {"find(no number)", [] { return refused(janus_task_find(0)); }},
    {"find(the last number)", [] { return refused(janus_task_find(UINT64_MAX)); }},
    {"state(junk)", [] { return refused(janus_task_state({kJunk})); }},
    {"unpark(junk)", [] { return refused(janus_unpark({kJunk})); }},
    {"set_name(nothing)", [] { return refused(janus_task_set_name(nullptr)); }},
    {"unpin, never pinned", [] { return refused(janus_task_unpin()); }},
    {"local_new(into nothing)", [] { return refused(janus_local_new(nullptr, nullptr)); }},
    {"local_new_inherited(into nothing)", [] { return refused(janus_local_new_inherited(nullptr, nullptr)); }},
    {"local_set(junk)", [] { return refused(janus_local_set({0xffffffff}, &value)); }},
    {"local_get(junk)", [] { return refused(janus_local_get({0xffffffff})); }},
    {"budget_recharge(all)", [] { return refused(janus_budget_recharge(JANUS_BUDGET_ALL)); }},
    {"cap_root in a cage", [] { return refused(janus_cap_root(nullptr)); }},
    {"cap_derive(junk)", [] { return refused(janus_cap_derive({kJunk}, 0xffffffff, {})); }},
    {"cap_revoke(junk)", [] { return refused(janus_cap_revoke({kJunk})); }},
    {"print(nothing)", [] { return refused(janus_print(2, (const char*)hidden(0))); }},
    {"print(-1)", [] { return refused(janus_print(-1, "x\n") == 0 ? kSomething : kNothing); }},
    {"print, width of all", [] { return refused(janus_print(-1, "%2147483647d", 1) == 0 ? kSomething : kNothing); }},
    {"print, precision -1", [] { return refused(janus_print(-1, "%.*s", -1, "x") == 0 ? kSomething : kNothing); }},
    {"write(nothing, 1)", [] { return refused(janus_write(1, nullptr, 1)); }},
    {"write(-1)", [] { return refused(janus_write(-1, "x", 1) == 0 ? kSomething : kNothing); }},
    {"write(all)", [] { return refused(janus_write(-1, "x", hidden(kAll)) == 0 ? kSomething : kNothing); }},
    {"entropy(into nothing)", [] { return refused(janus_entropy(nullptr, 8)); }},
    {"entropy(all)", [] { return refused(janus_entropy(UNMAPPED, hidden(kAll)) == 0 ? kSomething : kNothing); }},
    {"last_error_text(nowhere)",
     [] { return refused(*janus_last_error_text(nullptr, hidden(kAll)) != 0 ? kSomething : kNothing); }},
    {"last_error_text(into junk)", [] { return survived([] { janus_last_error_text(junk<char*>(), hidden(kAll)); }); }},
    {"syscall(-1)", [] { return refused(janus_syscall(-1) == 0 ? kSomething : kNothing); }},
    {"syscall(max)", [] { return refused(janus_syscall(INT64_MAX) == 0 ? kSomething : kNothing); }},
    {"blocking(nothing)", [] { return refused(janus_blocking(nullptr, nullptr)); }},
    {"safepoint_resume", [] { return refused(janus_safepoint_resume(nullptr)); }},
    {"safepoint_stop in a cage", [] { return refused(janus_safepoint_stop(nullptr, -1)); }},
    {"safepoint_walk(nobody)", [] { return refused(janus_safepoint_walk(nullptr, nullptr, nullptr)); }},
    {"safepoint_walk(junk)",
     [] { return refused(janus_safepoint_walk(nullptr, junk<int (*)(const janus_task_view*, void*)>(), nullptr)); }},
    {"free(junk)", [] { return survived([] { janus_free(junk<void*>()); }); }},
    {"channel_release(junk)", [] { return survived([] { janus_channel_release(junk<janus_channel*>()); }); }},
    {"shield(nothing)", [] { return refused(janus_shield(nullptr, nullptr)); }},
    {"next(no nursery)", [] { return refused(janus_nursery_next(nullptr, nullptr, 0)); }},
    {"next(nobody there)", [] { return refused(janus_nursery_next(nursery, nullptr, 1)); }},
    {"await_until(no nursery)", [] { return refused(janus_nursery_await_until(nullptr, nullptr, 0)); }},
    {"await(no nursery)", [] { return refused(janus_nursery_await(nullptr, nullptr)); }},
    {"try_result(junk nursery)", [] { return refused(janus_nursery_try_result(junk<janus_nursery*>(), nullptr)); }},
    {"local_delete(junk)", [] { return refused(janus_local_delete({0xffffffff})); }},
    {"park(1)", [] { return refused(janus_park(1)); }},
    {"sleep for long, told to end", [] { return cancelled([] { return janus_sleep_ns(UINT64_MAX - 1); }); }},
    {"sleep for ever, told to end", [] { return cancelled([] { return janus_sleep_ns(UINT64_MAX); }); }},
    {"sleep until no time, told to end", [] { return cancelled([] { return janus_sleep_until(0); }); }},
    {"park for long, told to end", [] { return cancelled([] { return janus_park(INT64_MAX); }); }},
    {"safepoint_stop(junk, -1)", [] { return refused(janus_safepoint_stop(junk<janus_rt*>(), -1)); }},
    {"task_panic(nothing)", [] { return survived([] { janus_task_panic(nullptr); }); }},
    {"exit in a cage", [] { return survived([] { janus_exit(0); }); }},
    {"strerror(least)", [] { return janus_strerror(INT64_MIN) != nullptr ? kNothing : kSomething; }},
    {"rt_worker_stats(into nothing)", [] { return refused(janus_rt_worker_stats(nullptr, 0, nullptr)); }},
    {"rt_worker_stats(of junk)",
     [] {
       janus_worker_stats stats = {};
       stats.size = sizeof stats;
       return refused(janus_rt_worker_stats(junk<janus_rt*>(), 0, &stats));
     }},
    {"rt_worker_stats(of the last number)",
     [] {
       janus_worker_stats stats = {};
       stats.size = sizeof stats;
       return refused(janus_rt_worker_stats(nullptr, UINT32_MAX, &stats));
     }},
    {"rt_stats(into nothing)", [] { return survived([] { janus_rt_stats(nullptr, nullptr); }); }},
    {"rt_create(of junk)", [] { return refused(janus_rt_create(junk<janus_rt_config*>())); }},
    {"rt_destroy(junk)", [] { return survived([] { janus_rt_destroy(junk<janus_rt*>()); }); }},
    {"rt_init", [] { return survived([] { janus_rt_init({}); }); }},
    {"rt_try_init(of junk)", [] { return refused(janus_rt_try_init(junk<janus_rt_config*>())); }},
    {"scheduler_create", [] { return refused(janus_scheduler_create({})); }},
    {"scheduler_shutdown(junk)", [] { return survived([] { janus_scheduler_shutdown(junk<void*>()); }); }},
    {"scheduler_spawn(nothing)", [] { return janus_scheduler_spawn(nullptr, nullptr) == -1 ? kNothing : kSomething; }},
    {"run_task32(nothing)", [] { return janus_run_task32(nowhere<void*>()); }},
    {"run_noarg(nothing)", [] { return janus_run_noarg(nowhere<void*>()); }},
    {"noarg_arg(nothing)", [] { return refused(janus_noarg_arg(nullptr)); }},
    {"yield_check(much)", [] { return refused(janus_yield_check(1u << 31)); }},
    {"loop_check(nothing)", [] { return refused(janus_loop_check(nowhere<uint32_t*>())); }},
    {"loop_end(nothing)", [] { return refused(janus_loop_end(nowhere<uint32_t*>())); }},
    {"rt_run(nothing)", [] { return refused(janus_rt_run(nullptr, nothing, nullptr)); }},
    {"rt_run(junk)", [] { return refused(janus_rt_run(junk<janus_rt*>(), nothing, nullptr)); }},
};

int64_t make(void* call) {
  const int64_t said = static_cast<const EdgeCall*>(call)->make();
  return said == kNothing || said < -4096 ? 0 : said == kSomething ? -5 : said;
}

int64_t attack(void*) {
  for (const EdgeCall& call : calls) {
    const long status = run_in_cage(roomy(), make, const_cast<EdgeCall*>(&call));
    if (status == 0 || status == JANUS_PANIC) continue;
    janus_print(1, "%s: %ld\n", call.name, status);
    CHECK_EQ(status, 0);
  }
  return 0;
}

}  // namespace

int main() {
  channel = janus_channel_create(sizeof number, 4);
  nursery = open_plain();
  for (int round = 0; round < 3; ++round) CHECK_EQ(beside_a_neighbour(200, attack, nullptr), 0);
  CHECK_EQ(janus_channel_close(channel), 0);
  CHECK_EQ(close_cage(nursery), 0);
  return end();
}
