// SPDX-License-Identifier: Apache-2.0
// rt/task/locks/keyed_lock.h — a FIFO mutex keyed by address or descriptor, fair between groups
// (rt/task/account/group.h): groups take turns, and within a group it is first come, first served. For operations that
// take too long for a SpinLock: a write to a descriptor, the initialisation of a static. A task that waits leaves its
// worker; a thread outside tasks sleeps. There is one table for the process: tasks of several runtimes may queue
// together. docs/decisions/0153
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/task/locks/keyed_queue.h"

namespace janus {

// The record of a task or thread that holds a lock or waits for it. It must not move from keyed_lock() to
// keyed_unlock(). Its key is key_of_descriptor() or key_of_object(). The list of a key also holds the lock's holder, which
// stands for no group.
struct LockWaiter : QueuedWaiter {
  enum State : std::uint32_t { kWaits, kHolds, kWasSentAway };

  Task* task;  // nullptr: a thread outside tasks
  std::atomic<std::uint32_t> state;
  LockWaiter* also_held;  // the next lock that the task holds; see add_held_lock()
};

// The key to wait for. A descriptor's key never equals that of an object, whatever address a user passes.
inline std::uint64_t key_of_descriptor(int fd) noexcept {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(fd)) << 1 | 1;
}
inline std::uint64_t key_of_object(const void* object) noexcept {
  return std::uint64_t{reinterpret_cast<std::uintptr_t>(object)} << 1;
}

// 0: the caller got the lock. kErrorDeadlock: it already held it. kCancelledCode: send_cancelled_away() ended the wait.
// A cancel does not end the wait by itself, since the holder is about to unlock. kWouldWait: another one holds it, and
// the caller is a report function, for which its worker does not wait.
inline constexpr int kWouldWait = -11;  // EAGAIN
[[nodiscard]] int keyed_lock(LockWaiter& waiter, std::uint64_t key, Task* task) noexcept;
// True: the caller holds the lock. False: another task or thread does, and nothing has happened.
[[nodiscard]] bool keyed_try_lock(LockWaiter& waiter, std::uint64_t key, Task& task) noexcept;
// Hands the lock to the next waiter, one of another group if there is any.
void keyed_unlock(LockWaiter& waiter) noexcept;
// For a holder that will need the lock for long: lends it to each of the other groups that wait, then holds it again,
// before the rest of its own group. As keyed_lock(); after kCancelledCode the caller does not hold the lock.
[[nodiscard]] int lend_lock(LockWaiter& waiter) noexcept;
// For a holder that cannot tell when it will unlock: ends the waits of cancelled tasks.
void send_cancelled_away(const LockWaiter& waiter) noexcept;

// Locks that a task holds beyond the call that took them, until release_held_locks() at its end. Each is a block of the
// runtime, charged to the task, which holds at most kMaxHeld, since remove_held_lock() searches them one by one.
inline constexpr unsigned kMaxHeld = 64;
[[nodiscard]] bool holds_max_locks(const Task& task) noexcept;
void add_held_lock(Task& task, LockWaiter& waiter) noexcept;
// Takes the lock of that key off the task's list. nullptr: the task does not hold it.
LockWaiter* remove_held_lock(Task& task, std::uint64_t key) noexcept;
// While the half of a fork runs that its task calls: how many of the locks that the task held before it still holds.
// A half may unlock these, too.
struct LocksBefore {
  LocksBefore* outer;  // of the next half around it that began with kHoldsLocks; no more than `count`
  unsigned count;
};
// How many locks, the oldest ones, stay held if the task's innermost half ends by force; 0 if it is in none.
unsigned locks_to_keep(const Task& task) noexcept;
// Releases the newest of the locks that a task holds, until it holds `keep`: all of them when it ends.
void release_held_locks(Task& task, unsigned keep = 0) noexcept;

}  // namespace janus
