// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/deadline.h — until when a call waits at most. While a task has a deadline, each of its waits ends when that
// has passed, but for those whose end comes soon or that a budget imposes. A task that waits so waits as any other, and
// has a timer that wakes it to look again; whoever it waits for knows nothing of deadlines. docs/decisions/0330
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/optional.h"
#include "rt/sched/timers.h"
#include "rt/task/wait/block.h"

namespace janus {

constexpr bool is_ended_by_deadline(WaitReason reason) noexcept {
  return is_ended_by_cancel(reason) && reason != WaitReason::kBudget;
}

// On the stack of the task, around one call; a task has one at a time. Only the constructor is no weak symbol: a program
// that makes no deadline is linked without timers.
class Deadline : Timer {
 public:
  // `at`: now_ns() of the scheduler; platform::kForever: none.
  Deadline(Task& task, std::uint64_t at) noexcept;
  ~Deadline() { end(); }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  // Called by the task before it waits. If this is false for the first time, the task pays for the timer.
  [[nodiscard, JANUS_OPTIONAL]] bool has_passed() noexcept;

  // For block_until(). The state that says that the task waits is stored between these two, so that the timer
  // cannot fire unseen. lock() arms the timer, unless it is armed. After unlock() the deadline may be gone; if its time
  // had passed, the task is woken.
  void lock(Worker& worker) noexcept;
  void unlock(Worker& worker, WaitReason reason) noexcept;

  // For hooks::on_timer(). Returns the task if it has to be queued now.
  [[nodiscard, JANUS_OPTIONAL]] Task* fire(Worker& worker) noexcept;
  static Deadline& of(Timer& timer) noexcept { return static_cast<Deadline&>(timer); }

  // Afterwards the task has no deadline, and nobody uses this object. Called also for a task that ends by force, before
  // its frames are left.
  [[JANUS_OPTIONAL]] void end() noexcept;

 private:
  Task& task_;
  WorkerTimers* where_ = nullptr;  // once armed
  std::uint64_t now_ns_ = 0;       // when it was found not to have passed
  bool is_nearest_ = false;        // under the lock of where_
  std::atomic<bool> has_fired_{false};
};

// As block(), until the deadline has passed at most.
[[nodiscard, JANUS_OPTIONAL]] bool block_until(Task& task, WaitReason reason, Publish publish, void* what,
                                               Deadline& deadline) noexcept;

// The deadline that ends a wait of `task` for that reason, or nullptr.
[[nodiscard]] inline Deadline* deadline_for(const Task& task, WaitReason reason) noexcept {
  return is_ended_by_deadline(reason) && task.is_marked(TaskMarks::kHasDeadline) ? task.frame->details.deadline
                                                                                 : nullptr;
}

}  // namespace janus
