// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/deadline.cpp — until when a call waits at most. Linked into programs that use deadlines (rt/optional.h).
#include "rt/task/wait/deadline.h"

#include <arch/opaque.h>

#include "rt/task/record/price.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/pinned.h"
#include "rt/task/wait/slice.h"
#include "rt/task/wait/wake.h"

namespace janus {

Deadline::Deadline(Task& task, std::uint64_t limit, std::uint64_t now_ns) noexcept
    : DeadlineActions{publish_stop_of, has_passed_of},
      Timer{nullptr, nullptr, limit, task.group, 0, false},
      task_(task),
      now_ns_(now_ns) {
  JANUS_ASSERT(!has_deadline(task));
  if (limit == platform::kForever) return;
  task.mark(TaskMarks::kHasContext);
  task.frame->details.deadline = this;
}

void Deadline::end() noexcept {
  if (at == platform::kForever) return;
  task_.frame->details.deadline = nullptr;
  look_at_context(task_);
  if (where_ != nullptr) where_->disarm(*this);
}

// Called before each wait. When this is false for the first time, the task pays for the timer.
bool Deadline::has_passed_of(Task& task) noexcept {
  Deadline& self = of(task);
  if (self.where_ != nullptr) return self.has_fired_.load(std::memory_order_relaxed);
  if (self.now_ns_ == 0) self.now_ns_ = current_worker().scheduler->now_ns();
  if (self.at <= self.now_ns_) return true;
  if (!self.is_paid_) take_fuel_unchecked(current_worker(), price::kTimer);
  self.is_paid_ = true;
  return false;
}

// The state that says that the task waits is stored while the lock is held, so the timer cannot fire unseen, and the task
// can leave the wait, and its stack, only afterwards.
void Deadline::publish_stop_of(Worker& worker, void* task, void* stop) noexcept {
  Deadline& self = of(*static_cast<const Task*>(task));
  static_cast<Stop*>(stop)->has_passed = self.lock(worker);
  janus::publish_stop(worker, task, stop);
  self.unlock(worker);
}

// Arms the timer, unless it is armed. Returns whether its time has passed, and it was taken.
bool Deadline::lock(Worker& worker) noexcept {
  Timers& timers = worker.scheduler->idle_workers().timers();
  const bool is_armed = where_ != nullptr;
  if (!is_armed) where_ = &timers.of(worker);
  where_->lock.lock();
  is_nearest_ = !is_armed && timers.arm(*where_, *this, at, now_ns_);
  return !is_pending();
}

// A worker without anything else to run will sleep, and sees to its timers then.
void Deadline::unlock(Worker& worker) noexcept {
  const Task* const task = &task_;
  const bool is_nearest = is_nearest_;
  const std::uint64_t until = at;
  where_->lock.unlock();
  const bool runs_on = worker.task != task || worker.handoff != nullptr;
  if (is_nearest && (runs_on || worker.scheduler->dispatcher().has_ready(worker)))
    worker.scheduler->idle_workers().see_to_cover(until);
}

Task* Deadline::fire(Worker& worker) noexcept {
  worker.scheduler->trace_event(worker, Event::kTimer, &task_);
  has_fired_.store(true, std::memory_order_relaxed);
  if (!take_from_wait(&worker, task_)) return nullptr;
  // Opaque, since a compiler that sees the whole runtime warns that this is always true.
  auto* const push = arch::opaque(&push_if_pinned);
  return push != nullptr && push(task_) ? nullptr : &task_;
}

}  // namespace janus
