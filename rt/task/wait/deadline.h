// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/deadline.h — until when a call waits at most. While a task has a deadline, each of its waits ends when that
// has passed, if is_ended_by_deadline(). A task that waits so waits as any other, and has a timer that wakes it to look
// again; whoever it waits for knows nothing of deadlines. docs/decisions/0330
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/optional.h"
#include "rt/sched/timers.h"
#include "rt/task/wait/block.h"

namespace janus {

// On the stack of the task, around one call; a task has one at a time. Only the constructor is no weak symbol: a program
// that makes no deadline is linked without timers.
class Deadline : public DeadlineActions, Timer {
 public:
  // `at`: a time of now_ns() of the scheduler; platform::kForever: none. `now_ns`: an earlier time that it has just told,
  // or 0.
  Deadline(Task& task, std::uint64_t at, std::uint64_t now_ns = 0) noexcept;
  ~Deadline() { end(); }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  // The deadline of a task that has one.
  static Deadline& of(const Task& task) noexcept {
    return const_cast<Deadline&>(*static_cast<const Deadline*>(task.frame->details.deadline));
  }
  static Deadline& of(Timer& timer) noexcept { return static_cast<Deadline&>(timer); }

  // For hooks::on_timer(). Returns the task if it has to be queued now.
  [[nodiscard, JANUS_OPTIONAL]] Task* fire(Worker& worker) noexcept;
  // Afterwards the task has no deadline, and nobody uses this object. Called also for a task that ends by force, before
  // its frames are left.
  [[JANUS_OPTIONAL]] void end() noexcept;

 private:
  static void publish_stop_of(Worker& worker, void* task, void* stop) noexcept;
  static bool has_passed_of(Task& task) noexcept;
  bool lock(Worker& worker) noexcept;
  void unlock(Worker& worker) noexcept;

  Task& task_;
  WorkerTimers* where_ = nullptr;  // once armed
  std::uint64_t now_ns_;           // when it had not passed yet; 0: not known
  bool is_paid_ = false;           // for the timer
  bool is_nearest_ = false;        // under the lock of where_
  std::atomic<bool> has_fired_{false};
};

}  // namespace janus
