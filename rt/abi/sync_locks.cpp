// SPDX-License-Identifier: Apache-2.0
// rt/abi/sync_locks.cpp — janus/sync.h: mutexes, conditions, what is done once.
#include "rt/abi/sync_calls.h"
#include "rt/task/sync/condition.h"
#include "rt/task/sync/mutex.h"

namespace janus {

int wait_for_signal(janus_cond* cond, janus_mutex* mutex, bool& has_released) noexcept {
  std::uint64_t* const lock = words_of(mutex);
  if (lock == nullptr) return calling_task() != nullptr ? JANUS_E_INVALID : JANUS_E_NO_TASK;
  return wait_at(cond, [&](Task& self, std::uint64_t* word) noexcept {
    order_hooks::release(lock);
    return await_signal(self, word, lock, has_released);
  });
}

int lock_again(janus_mutex* mutex, int answer) noexcept {
  const Caller me = enter_free();
  const int locked = taken(mutex, relock_mutex(*me.task, words_of(mutex)));
  return locked == 0 || (locked == kErrorState && answer == kCancelledCode) ? answer : answer_of(locked);
}

int begin_once(janus_once* once, void (*fn)(void*)) noexcept {
  if (!may_be_called(fn)) return calling_task() != nullptr ? JANUS_E_INVALID : JANUS_E_NO_TASK;
  return wait_at(once, kCalls<begin_once_call>);
}

int call_once(janus_once* once, void (*fn)(void*), void* arg) noexcept {
  fn(arg);
  return release_at(enter_free(), once, kCalls<end_once_call>);
}

namespace {

// What a call does that cannot take or free a mutex at once. `me`: as from enter_fast(), which has charged if it gave a
// task.
[[gnu::noinline]] int lock_slow(janus_mutex* mutex, Caller me) noexcept {
  if (me.task != nullptr) put_fuel_back(*me.worker, price::kCall);
  return wait_at(mutex, kCalls<lock_mutex>);
}

[[gnu::noinline]] int unlock_slow(janus_mutex* mutex) noexcept {
  return release_at(enter_free(), mutex, kCalls<unlock_mutex>);
}

}  // namespace

}  // namespace janus

using namespace janus;

extern "C" {

int janus_mutex_lock(janus_mutex* mutex) {
  const Caller me = enter_fast();
  std::uint64_t* const word = words_of(mutex);
  if (me.task == nullptr || word == nullptr) [[unlikely]]
    return lock_slow(mutex, me);
  if (is_cancelled(*me.task) || !take_free_mutex(*me.task, word)) [[unlikely]]
    return lock_slow(mutex, me);
  order_hooks::acquire(word);
  return 0;
}

int janus_mutex_try_lock(janus_mutex* mutex) {
  return take_at(mutex, kCalls<try_lock_mutex>);
}

int janus_mutex_unlock(janus_mutex* mutex) {
  const Caller me = enter_yield();
  std::uint64_t* const word = words_of(mutex);
  if (me.task == nullptr || word == nullptr) [[unlikely]]
    return unlock_slow(mutex);
  order_hooks::release(word);
  return free_mutex(*me.task, word) ? 0 : unlock_slow(mutex);
}

int janus_mutex_heal(janus_mutex* mutex) {
  return call_on(enter(), mutex, kCalls<heal_mutex>);
}

int janus_cond_wait(janus_cond* cond, janus_mutex* mutex) {
  bool has_released = false;
  const int answer = wait_for_signal(cond, mutex, has_released);
  return has_released ? lock_again(mutex, answer) : answer;
}

int janus_cond_signal(janus_cond* cond) {
  return call_on(enter_free(), cond, [](Task&, std::uint64_t* word) noexcept { return signal_one(word); });
}

int janus_cond_broadcast(janus_cond* cond) {
  return call_on(enter_free(), cond, kCalls<signal_all>);
}

int janus_once_call(janus_once* once, void (*fn)(void*), void* arg) {
  const int begun = begin_once(once, fn);
  return begun == kToCall ? call_once(once, fn, arg) : begun;
}

}  // extern "C"
