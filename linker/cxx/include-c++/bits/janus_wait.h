// SPDX-License-Identifier: Apache-2.0
// bits/janus_wait.h: what the locks and waits of the C++ library are made of: calls of janus/sync.h, with an answer for
// each of their errors, since the library's functions return none and there are no exceptions (linker/cxx/wait.cpp).
//
// No lock function returns without the lock, and no wait returns without what it waits for. In a cancelled task, a lock
// is waited for all the same; a wait for other tasks ends the task as cancelled, without destructors; a wait with a time
// ends as if the time had passed, and a sleep ends. A task that would wait for itself panics, and so does one that gets a
// lock whose holder has ended. docs/decisions/0339
#pragma once

#include <janus/rt.h>
#include <janus/sync.h>

#include <chrono>
#include <cstddef>
#include <cstdint>

// NOLINTBEGIN(readability-identifier-naming): a program's macros must not meet the names of a header of the C++ library

namespace __janus {

// Locks and unlocks an object. The try forms: false if the lock is not had, whatever the reason is.
void lock(janus_mutex&) noexcept;
bool try_lock(janus_mutex&) noexcept;
bool try_lock_until(janus_mutex&, std::uint64_t deadline_ns) noexcept;
void unlock(janus_mutex&) noexcept;

void lock(janus_rwlock&) noexcept;
bool try_lock(janus_rwlock&) noexcept;
bool try_lock_until(janus_rwlock&, std::uint64_t deadline_ns) noexcept;
void unlock(janus_rwlock&) noexcept;
void lock_shared(janus_rwlock&) noexcept;
bool try_lock_shared(janus_rwlock&) noexcept;
bool try_lock_shared_until(janus_rwlock&, std::uint64_t deadline_ns) noexcept;
void unlock_shared(janus_rwlock&) noexcept;

// The mutex is held before and after. `deadline_ns` 0: none.
enum class Woken { signalled, timed_out, cancelled };
Woken wait(janus_cond&, janus_mutex&, std::uint64_t deadline_ns = 0) noexcept;

void acquire(janus_semaphore&) noexcept;
bool try_acquire(janus_semaphore&) noexcept;
bool try_acquire_until(janus_semaphore&, std::uint64_t deadline_ns) noexcept;
void release(janus_semaphore&, std::ptrdiff_t) noexcept;

void count_down(janus_wait_group&, std::ptrdiff_t) noexcept;
void wait(janus_wait_group&) noexcept;

// Ends the calling task: as a cancelled one, or as a panic.
[[noreturn]] void end_as_cancelled() noexcept;
[[noreturn]] void misuse(const char* call, const char* why) noexcept;
constexpr const char* kNotHeld = "the task does not hold it";
constexpr const char* kOutOfRange = "the count is out of its range";

// False: the task was cancelled. UINT64_MAX: until then.
bool sleep_ns(std::uint64_t) noexcept;
bool sleep_until(std::uint64_t deadline_ns) noexcept;

// Nanoseconds, rounded up; 0 for what is not positive, and UINT64_MAX for what is too long.
template <class _Rep, class _Period>
std::uint64_t nanoseconds_of(const std::chrono::duration<_Rep, _Period>& __time) noexcept {
  const std::chrono::duration<double> __seconds = __time;
  if (!(__seconds.count() > 0)) return 0;
  if (__seconds.count() >= 9e9) return UINT64_MAX;  // beyond the range of std::chrono::nanoseconds, nearly
  auto __whole = std::chrono::duration_cast<std::chrono::nanoseconds>(__time);
  if (__whole < __time) ++__whole;
  return static_cast<std::uint64_t>(__whole.count());
}

// Times of janus_now_ns(), never 0, which would be no deadline.
template <class _Rep, class _Period>
std::uint64_t deadline_in(const std::chrono::duration<_Rep, _Period>& __time) noexcept {
  const std::uint64_t __now = janus_now_ns(), __ns = nanoseconds_of(__time);
  return __ns < UINT64_MAX - __now ? __now + __ns : UINT64_MAX;
}
template <class _Duration>
std::uint64_t deadline_at(const std::chrono::time_point<std::chrono::steady_clock, _Duration>& __time) noexcept {
  const std::uint64_t __ns = nanoseconds_of(__time.time_since_epoch());
  return __ns != 0 ? __ns : 1;
}
// A clock that is set meanwhile does not change the deadline.
template <class _Clock, class _Duration>
std::uint64_t deadline_at(const std::chrono::time_point<_Clock, _Duration>& __time) noexcept {
  const auto __now = _Clock::now();
  return __time > __now ? deadline_in(__time - __now) : 1;
}

// The part of the locks that has no time.
template <class _Lock>
class Lockable {
 public:
  constexpr Lockable() noexcept : _M_lock() {}
  Lockable(const Lockable&) = delete;
  Lockable& operator=(const Lockable&) = delete;

  void lock() { __janus::lock(_M_lock); }
  bool try_lock() { return __janus::try_lock(_M_lock); }
  void unlock() { __janus::unlock(_M_lock); }

  typedef _Lock* native_handle_type;
  native_handle_type native_handle() noexcept { return &_M_lock; }

 protected:
  _Lock _M_lock;
};

// Adds try_lock_for() and try_lock_until() to a lock that has _M_try_lock_until().
template <class _Base>
class Timed : public _Base {
 public:
  template <class _Rep, class _Period>
  bool try_lock_for(const std::chrono::duration<_Rep, _Period>& __time) {
    return this->_M_try_lock_until(__janus::deadline_in(__time));
  }
  template <class _Clock, class _Duration>
  bool try_lock_until(const std::chrono::time_point<_Clock, _Duration>& __time) {
    return this->_M_try_lock_until(__janus::deadline_at(__time));
  }
};

}  // namespace __janus

// NOLINTEND(readability-identifier-naming)
