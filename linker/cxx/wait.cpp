// SPDX-License-Identifier: Apache-2.0
// wait.cpp: the locks and waits of the C++ library over janus/sync.h: what becomes of each error that its functions
// cannot return (bits/janus_wait.h). docs/decisions/0339
#include "linker/cxx/include-c++/bits/janus_wait.h"

#include <cstdio>

#include "linker/start/program.h"

#define WEAK [[gnu::weak]]

namespace __janus {

namespace {

[[noreturn]] void panic(std::uint32_t cause, const char* call, const char* why) noexcept {
  char text[160];
  snprintf(text, sizeof text, "%s: %s", call, why);
  janus_panic_because(cause, text);
}

// Ends the task, for a call that cannot be answered.
[[noreturn]] void fail(const char* call, int answer) noexcept {
  switch (answer) {
    case JANUS_CANCELLED:
      end_as_cancelled();
    case JANUS_E_STATE:
      panic(JANUS_CAUSE_TASK_PANIC, call, "a task has ended that held the lock; what it guards may be half changed");
    case JANUS_E_DEADLOCK:
      panic(JANUS_CAUSE_TASK_PANIC, call, "a deadlock: the task would wait for itself");
    case JANUS_E_NO_MEMORY:
      panic(JANUS_CAUSE_NO_MEMORY, call, "no memory");
    default:
      panic(JANUS_CAUSE_TASK_PANIC, call, janus_strerror(answer));
  }
}

// Calls of janus/sync.h for an object.
template <typename Object>
using Call = int (*)(Object*);
template <typename Object>
using CallUntil = int (*)(Object*, std::uint64_t);

// Locks, also in a cancelled task.
template <typename Object, Call<Object> kLock>
void lock_with(Object& object, const char* call) noexcept {
  int answer = kLock(&object);
  if (answer == JANUS_CANCELLED)
    answer = static_cast<int>(
        janus_shield([](void* at) -> std::int64_t { return kLock(static_cast<Object*>(at)); }, &object));
  if (answer != 0) fail(call, answer);
}

// Whether the call has given what it should. What else may become of a try is no failure.
bool is_given(int answer, const char* call) noexcept {
  switch (answer) {
    case 0:
      return true;
    case JANUS_E_WOULD_BLOCK:
    case JANUS_E_TIMEOUT:
    case JANUS_E_DEADLOCK:
      return false;
    default:
      fail(call, answer);
  }
}

// A cancelled task tries once.
template <typename Object, CallUntil<Object> kUntil, Call<Object> kTry>
bool try_until(Object& object, std::uint64_t deadline_ns, const char* call) noexcept {
  int answer = kUntil(&object, deadline_ns);
  if (answer == JANUS_CANCELLED) answer = kTry(&object);
  return is_given(answer, call);
}

template <typename Object, Call<Object> kUnlock>
void unlock_with(Object& object, const char* call) noexcept {
  if (kUnlock(&object) != 0) misuse(call, kNotHeld);
}

}  // namespace

WEAK void end_as_cancelled() noexcept {
  janus_end_as_cancelled();
}

WEAK void misuse(const char* call, const char* why) noexcept {
  panic(JANUS_CAUSE_MISUSE, call, why);
}

WEAK void lock(janus_mutex& mutex) noexcept {
  lock_with<janus_mutex, janus_mutex_lock>(mutex, "std::mutex::lock");
}
WEAK bool try_lock(janus_mutex& mutex) noexcept {
  return is_given(janus_mutex_try_lock(&mutex), "std::mutex::try_lock");
}
WEAK bool try_lock_until(janus_mutex& mutex, std::uint64_t deadline_ns) noexcept {
  return try_until<janus_mutex, janus_mutex_lock_until, janus_mutex_try_lock>(mutex, deadline_ns,
                                                                              "std::timed_mutex::try_lock_until");
}
WEAK void unlock(janus_mutex& mutex) noexcept {
  unlock_with<janus_mutex, janus_mutex_unlock>(mutex, "std::mutex::unlock");
}

WEAK void lock(janus_rwlock& lock) noexcept {
  lock_with<janus_rwlock, janus_rwlock_write_lock>(lock, "std::shared_mutex::lock");
}
WEAK bool try_lock(janus_rwlock& lock) noexcept {
  return is_given(janus_rwlock_try_write_lock(&lock), "std::shared_mutex::try_lock");
}
WEAK bool try_lock_until(janus_rwlock& lock, std::uint64_t deadline_ns) noexcept {
  return try_until<janus_rwlock, janus_rwlock_write_lock_until, janus_rwlock_try_write_lock>(
      lock, deadline_ns, "std::shared_timed_mutex::try_lock_until");
}
WEAK void unlock(janus_rwlock& lock) noexcept {
  unlock_with<janus_rwlock, janus_rwlock_write_unlock>(lock, "std::shared_mutex::unlock");
}
WEAK void lock_shared(janus_rwlock& lock) noexcept {
  lock_with<janus_rwlock, janus_rwlock_read_lock>(lock, "std::shared_mutex::lock_shared");
}
WEAK bool try_lock_shared(janus_rwlock& lock) noexcept {
  return is_given(janus_rwlock_try_read_lock(&lock), "std::shared_mutex::try_lock_shared");
}
WEAK bool try_lock_shared_until(janus_rwlock& lock, std::uint64_t deadline_ns) noexcept {
  return try_until<janus_rwlock, janus_rwlock_read_lock_until, janus_rwlock_try_read_lock>(
      lock, deadline_ns, "std::shared_timed_mutex::try_lock_shared_until");
}
WEAK void unlock_shared(janus_rwlock& lock) noexcept {
  unlock_with<janus_rwlock, janus_rwlock_read_unlock>(lock, "std::shared_mutex::unlock_shared");
}

WEAK Woken wait(janus_cond& cond, janus_mutex& mutex, std::uint64_t deadline_ns) noexcept {
  const int answer =
      deadline_ns == 0 ? janus_cond_wait(&cond, &mutex) : janus_cond_wait_until(&cond, &mutex, deadline_ns);
  switch (answer) {
    case 0:
      return Woken::signalled;
    case JANUS_E_TIMEOUT:
      return Woken::timed_out;
    case JANUS_CANCELLED:
      return Woken::cancelled;
    case JANUS_E_STATE:
      panic(JANUS_CAUSE_TASK_PANIC, "std::condition_variable::wait",
            "the task does not hold the mutex, or a task has ended that held it meanwhile");
    default:
      fail("std::condition_variable::wait", answer);
  }
}

WEAK void acquire(janus_semaphore& semaphore) noexcept {
  if (const int answer = janus_semaphore_acquire(&semaphore)) fail("std::counting_semaphore::acquire", answer);
}
WEAK bool try_acquire(janus_semaphore& semaphore) noexcept {
  return is_given(janus_semaphore_try_acquire(&semaphore), "std::counting_semaphore::try_acquire");
}
WEAK bool try_acquire_until(janus_semaphore& semaphore, std::uint64_t deadline_ns) noexcept {
  return try_until<janus_semaphore, janus_semaphore_acquire_until, janus_semaphore_try_acquire>(
      semaphore, deadline_ns, "std::counting_semaphore::try_acquire_until");
}
WEAK void release(janus_semaphore& semaphore, std::ptrdiff_t permits) noexcept {
  if (permits == 0) return;
  if (permits < 0 || permits > UINT32_MAX ||
      janus_semaphore_release(&semaphore, static_cast<std::uint32_t>(permits)) != 0)
    misuse("std::counting_semaphore::release", kOutOfRange);
}

WEAK void count_down(janus_wait_group& group, std::ptrdiff_t count) noexcept {
  if (count < 0 || janus_wait_group_add(&group, -count) != 0) misuse("std::latch::count_down", kOutOfRange);
}
WEAK void wait(janus_wait_group& group) noexcept {
  if (const int answer = janus_wait_group_wait(&group)) fail("std::latch::wait", answer);
}

WEAK bool sleep_ns(std::uint64_t ns) noexcept {
  return janus_sleep_ns(ns) == 0;
}
WEAK bool sleep_until(std::uint64_t deadline_ns) noexcept {
  return janus_sleep_until(deadline_ns) == 0;
}

}  // namespace __janus
