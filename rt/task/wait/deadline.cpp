// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/deadline.cpp — until when a call waits at most. Linked into programs that use deadlines (rt/optional.h).
#include "rt/task/wait/deadline.h"

#include "rt/task/record/price.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/block.h"
#include "rt/task/wait/slice.h"
#include "rt/task/wait/wake.h"

namespace janus {

Deadline::Deadline(Task& task, std::uint64_t limit) noexcept : Timer{nullptr, nullptr, limit}, task_(task) {
  JANUS_ASSERT(!task.is_marked(TaskMarks::kHasDeadline));
  if (limit == platform::kForever) return;
  task.mark(TaskMarks::kHasDeadline);
  task.frame->details.deadline = this;
}

void Deadline::end() noexcept {
  if (at == platform::kForever) return;
  task_.marks &= static_cast<std::uint8_t>(~TaskMarks::kHasDeadline);
  if (where_ != nullptr) where_->disarm(*this);
}

bool Deadline::has_passed() noexcept {
  if (where_ != nullptr) return has_fired_.load(std::memory_order_relaxed);
  const bool is_first = now_ns_ == 0;
  now_ns_ = current_worker().scheduler->now_ns();
  if (at <= now_ns_) return true;
  if (is_first) take_fuel_unchecked(current_worker(), price::kTimer);
  return false;
}

void Deadline::lock(Worker& worker) noexcept {
  Timers& timers = worker.scheduler->idle_workers().timers();
  is_nearest_ = false;
  if (where_ != nullptr) return where_->lock.lock();
  where_ = &timers.of(worker);
  where_->lock.lock();
  is_nearest_ = timers.arm(*where_, *this, at, now_ns_);
}

// A worker without anything else to run will sleep, and sees to its timers then.
void Deadline::unlock(Worker& worker, WaitReason reason) noexcept {
  Task& task = task_;
  const bool is_nearest = is_nearest_, has_passed = !is_pending();
  const std::uint64_t until = at;
  where_->lock.unlock();
  if (has_passed) (void)wake(&worker, task, reason);
  const bool runs_on = worker.task != &task || worker.handoff != nullptr;
  if (is_nearest && (runs_on || worker.scheduler->dispatcher().has_ready(worker)))
    worker.scheduler->idle_workers().see_to_cover(until);
}

Task* Deadline::fire(Worker& worker) noexcept {
  worker.scheduler->trace_event(worker, Event::kTimer, &task_);
  has_fired_.store(true, std::memory_order_relaxed);
  return take_from_wait(&worker, task_) ? &task_ : nullptr;
}

namespace {

// The pending action of a wait with a deadline. The task can leave the wait, and its stack, only once that is unlocked.
void publish_stop_until(Worker& worker, void* task, void* stop_pointer) noexcept {
  const Stop& stop = *static_cast<const Stop*>(stop_pointer);
  Deadline& deadline = *stop.deadline;
  const WaitReason reason = stop.reason;
  deadline.lock(worker);
  publish_stop(worker, task, stop_pointer);
  deadline.unlock(worker, reason);
}

}  // namespace

bool block_until(Task& task, WaitReason reason, Publish publish, void* what, Deadline& deadline) noexcept {
  Stop as{reason, publish, what, &deadline};
  return block_as(task, as, publish_stop_until);
}

}  // namespace janus
