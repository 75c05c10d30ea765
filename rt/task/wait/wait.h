// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/wait.h — waiting: the one loop of every call that waits, but for the first wait of a channel's fast path
// (block_at(), rt/task/wait/block.h). docs/decisions/0071, 0329
#pragma once

#include <type_traits>

#include "rt/task/wait/cancel.h"
#include "rt/task/wait/deadline.h"

namespace janus {

enum class WaitEnd : std::uint8_t {
  kOver,       // what the task waited for has come
  kCancelled,  // the task was told to end
  kTimedOut,   // its deadline has passed
  kNoStack,    // there is no stack that the worker could go on with
};

// What a task waits for, guarded by a lock: the base of a class for each reason. The object lies on the stack of the
// task that waits. Each class has
//     reason()    constant for the object
//     is_over()   under the lock: whether the wait need not begin, or is over. Who makes this true then wakes the task.
//     lock(), unlock()
// and replaces what differs of the following.
struct Awaited {
  // After a wake, without the lock: true if the wait is over, and leave() has nothing to do.
  static constexpr bool is_over_at_a_glance() noexcept { return false; }
  static constexpr bool heeds_cancel(const Task&) noexcept { return true; }
  // Under the lock: takes the object out of its queue, if it is still there.
  static constexpr void leave() noexcept {}
};

// The same without a lock. Each such class also has
//     key()               what publish() gets: a cancel may already have ended the wait, and with it the object
//     publish(task, key)  called on the next stack, once the state says that the task waits: wakes it if the wait is
//                         over, since who ended it may not have seen the state
struct AwaitedUnlocked : Awaited {
  static constexpr void lock() noexcept {}
  static constexpr void unlock() noexcept {}
};

// Waits until the wait is over. Called with the lock held, and releases it. A wait that is over has not timed out.
template <typename T>
[[nodiscard]] WaitEnd wait(Task& self, T& awaited) noexcept {
  WaitEnd end = WaitEnd::kOver;
  while (!awaited.is_over()) {
    if (is_ended_by_cancel(awaited.reason()) && awaited.heeds_cancel(self) && is_cancelled(self)) {
      end = WaitEnd::kCancelled;
      break;
    }
    Deadline* const deadline = deadline_for(self, awaited.reason());
    if (deadline != nullptr && deadline->has_passed()) {
      end = WaitEnd::kTimedOut;
      break;
    }
    bool has_stack;
    const auto leave_stack = [&](Publish publish, void* what) {
      return deadline == nullptr ? block(self, awaited.reason(), publish, what)
                                 : block_until(self, awaited.reason(), publish, what, *deadline);
    };
    if constexpr (std::is_base_of_v<AwaitedUnlocked, T>)
      has_stack = leave_stack(T::publish, awaited.key());
    else  // who was woken cannot leave the wait before the lock is released
      has_stack = leave_stack([](Task&, void* it) { static_cast<T*>(it)->unlock(); }, &awaited);
    if (!has_stack) {
      end = WaitEnd::kNoStack;
      break;
    }
    if (awaited.is_over_at_a_glance()) return WaitEnd::kOver;
    awaited.lock();
  }
  awaited.leave();
  awaited.unlock();
  return end;
}

// The result of a call whose wait has ended: 0, kCancelledCode, kErrorTimeout or kErrorNoMemory. Passes a cancel on, so
// the caller must hold no lock.
[[nodiscard]] inline int result_of(WaitEnd end, Task& self) noexcept {
  if (end == WaitEnd::kCancelled) (void)sees_cancel(self);
  if (end == WaitEnd::kTimedOut) return kErrorTimeout;
  return end == WaitEnd::kOver ? 0 : end == WaitEnd::kCancelled ? kCancelledCode : kErrorNoMemory;
}

}  // namespace janus
