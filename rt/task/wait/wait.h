// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/wait.h — waiting: the one loop of every call that waits, but for the first wait of a channel's fast path
// (block_at(), rt/task/wait/block.h). docs/decisions/0071, 0329
#pragma once

#include <type_traits>

#include "rt/task/wait/block.h"
#include "rt/task/wait/cancel.h"

namespace janus {

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
  // Whether the task goes on waiting in a shield that puts its cancel aside.
  static constexpr bool heeds_shield() noexcept { return true; }
  // Whether the wait passes on a cancel that a shield puts aside. If not, its caller does, which is less deep.
  static constexpr bool kPassesCancelOn = true;
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
    bool is_aside = false;  // the task was told to end, and a shield puts that aside
    if (is_ended_by_cancel(awaited.reason()) && awaited.heeds_cancel(self) && is_told(self)) {
      is_aside = awaited.heeds_shield() && !is_cancelled(self);
      if (!is_aside) {
        end = WaitEnd::kCancelled;
        break;
      }
    }
    if constexpr (std::is_base_of_v<AwaitedUnlocked, T>)
      end = block(self, awaited.reason(), T::publish, awaited.key());
    else  // who was woken cannot leave the wait before the lock is released
      end = block(
          self, awaited.reason(), [](Task&, void* it) { static_cast<T*>(it)->unlock(); }, &awaited);
    if (end != WaitEnd::kOver) break;
    if (T::kPassesCancelOn && is_aside) (void)learn_of_cancel(self);  // not earlier, as the lock was held
    if (awaited.is_over_at_a_glance()) return WaitEnd::kOver;
    awaited.lock();
  }
  awaited.leave();
  awaited.unlock();
  return end;
}

// The result of a call whose wait has ended: 0, kCancelledCode, kErrorTimeout or kErrorNoMemory.
[[nodiscard]] constexpr int code_of(WaitEnd end) noexcept {
  if (end == WaitEnd::kTimedOut) return kErrorTimeout;
  return end == WaitEnd::kOver ? 0 : end == WaitEnd::kCancelled ? kCancelledCode : kErrorNoMemory;
}
// The same. Passes a cancel on, so the caller must hold no lock.
[[nodiscard]] inline int result_of(WaitEnd end, Task& self) noexcept {
  if (end == WaitEnd::kCancelled) (void)sees_cancel(self);
  return code_of(end);
}

}  // namespace janus
