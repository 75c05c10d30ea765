// SPDX-License-Identifier: Apache-2.0
// janus/rt/sync.hpp: locks with guards, over janus/sync.h. A part of janus/rt.hpp.
//
//     janus::Mutex mutex;
//     if (auto guard = mutex.lock()) { ... }                  // unlocked at the end of the block
//     if (auto guard = mutex.lock_until(janus::deadline_in(5_ms))) { ... } else return guard.error();
#ifndef JANUS_RT_SYNC_HPP
#define JANUS_RT_SYNC_HPP

#include <janus/sync.h>
#include <janus/rt/calling_task.hpp>
#include <janus/rt/result.hpp>

namespace janus {
inline namespace v1 {

namespace detail {

template <class Object>
using LockCall = int (*)(Object*);

}  // namespace detail

// What a lock gave: the lock, until the guard is destroyed, or an error.
template <class Object, detail::LockCall<Object> kUnlock>
class [[nodiscard]] Guard {
 public:
  // `answer`: of a call that locks. JANUS_E_STATE: the lock is held, too.
  Guard(Object& object, int answer) noexcept
      : object_(answer == 0 || answer == JANUS_E_STATE ? &object : nullptr), answer_(answer) {}
  Guard(Guard&& other) noexcept : object_(std::exchange(other.object_, nullptr)), answer_(other.answer_) {}
  Guard& operator=(Guard&&) = delete;
  ~Guard() { unlock(); }

  // Whether the lock is held, also by one whose is_poisoned().
  explicit operator bool() const noexcept { return object_ != nullptr; }
  // Whether a holder before has ended without unlocking, so that what the lock guards may be half changed.
  [[nodiscard]] bool is_poisoned() const noexcept { return answer_ == JANUS_E_STATE; }
  [[nodiscard]] Error error() const noexcept { return detail::error_of(answer_); }
  // Before the end of the block. A second time it does nothing.
  void unlock() noexcept {
    if (Object* const object = std::exchange(object_, nullptr)) (void)kUnlock(object);
  }

 private:
  friend class Condition;

  Object* object_;
  int answer_;
};

class Mutex {
 public:
  using Lock = Guard<janus_mutex, janus_mutex_unlock>;

  constexpr Mutex() noexcept = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  Lock lock() noexcept { return {raw_, janus_mutex_lock(&raw_)}; }
  Lock lock_until(std::uint64_t deadline_ns) noexcept { return {raw_, janus_mutex_lock_until(&raw_, deadline_ns)}; }
  Lock try_lock() noexcept { return {raw_, janus_mutex_try_lock(&raw_)}; }
  // For a holder that was told is_poisoned().
  Result<void> heal() noexcept { return detail::result_of(janus_mutex_heal(&raw_)); }
  janus_mutex* raw() noexcept { return &raw_; }

 private:
  janus_mutex raw_ = {};
};

class RwLock {
 public:
  using ReadLock = Guard<janus_rwlock, janus_rwlock_read_unlock>;
  using WriteLock = Guard<janus_rwlock, janus_rwlock_write_unlock>;

  constexpr RwLock() noexcept = default;
  RwLock(const RwLock&) = delete;
  RwLock& operator=(const RwLock&) = delete;

  ReadLock read() noexcept { return {raw_, janus_rwlock_read_lock(&raw_)}; }
  ReadLock read_until(std::uint64_t deadline_ns) noexcept {
    return {raw_, janus_rwlock_read_lock_until(&raw_, deadline_ns)};
  }
  ReadLock try_read() noexcept { return {raw_, janus_rwlock_try_read_lock(&raw_)}; }
  WriteLock write() noexcept { return {raw_, janus_rwlock_write_lock(&raw_)}; }
  WriteLock write_until(std::uint64_t deadline_ns) noexcept {
    return {raw_, janus_rwlock_write_lock_until(&raw_, deadline_ns)};
  }
  WriteLock try_write() noexcept { return {raw_, janus_rwlock_try_write_lock(&raw_)}; }
  janus_rwlock* raw() noexcept { return &raw_; }

 private:
  janus_rwlock raw_ = {};
};

class Condition {
 public:
  constexpr Condition() noexcept = default;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  // The mutex is held again whatever this returns. A guard that holds nothing: JANUS_E_INVALID.
  Result<void> wait(Mutex::Lock& lock) noexcept { return detail::result_of(janus_cond_wait(&raw_, lock.object_)); }
  Result<void> wait_until(Mutex::Lock& lock, std::uint64_t deadline_ns) noexcept {
    return detail::result_of(janus_cond_wait_until(&raw_, lock.object_, deadline_ns));
  }
  // Waits until `holds()`.
  template <class Holds>
  Result<void> wait(Mutex::Lock& lock, Holds holds) noexcept {
    while (!holds()) {
      if (Result<void> waited = wait(lock); !waited) return waited;
    }
    return {};
  }
  void signal() noexcept { (void)janus_cond_signal(&raw_); }
  void broadcast() noexcept { (void)janus_cond_broadcast(&raw_); }

 private:
  janus_cond raw_ = {};
};

class Semaphore {
 public:
  explicit constexpr Semaphore(std::uint32_t permits) noexcept : raw_{std::uint64_t{permits} << 32} {}
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  Result<void> acquire() noexcept { return detail::result_of(janus_semaphore_acquire(&raw_)); }
  Result<void> acquire_until(std::uint64_t deadline_ns) noexcept {
    return detail::result_of(janus_semaphore_acquire_until(&raw_, deadline_ns));
  }
  Result<void> try_acquire() noexcept { return detail::result_of(janus_semaphore_try_acquire(&raw_)); }
  Result<void> release(std::uint32_t permits = 1) noexcept {
    return detail::result_of(janus_semaphore_release(&raw_, permits));
  }

 private:
  janus_semaphore raw_;
};

}  // namespace v1
}  // namespace janus

#endif  // JANUS_RT_SYNC_HPP
