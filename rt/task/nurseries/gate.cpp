// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/gate.cpp — a nursery of which only some children run at a time. Linked into programs that open
// nurseries with options (rt/optional.h).
#include "rt/task/nurseries/gate.h"

#include "rt/task/record/runtime.h"

namespace janus {

namespace {

// Both under the nursery's lock.
void put_last(Nursery& nursery, Task& task) noexcept {
  Task* const last = nursery.last_unstarted;
  task.next = last != nullptr ? last->next : &task;
  if (last != nullptr) last->next = &task;
  nursery.last_unstarted = &task;
}

Task* take_first(Nursery& nursery) noexcept {
  Task* const last = nursery.last_unstarted;
  if (last == nullptr) return nullptr;
  auto* const first = static_cast<Task*>(last->next);
  last->next = first->next;
  if (first == last) nursery.last_unstarted = nullptr;
  return first;
}

void queue(Worker* worker, Task& task) noexcept {
  Scheduler& scheduler = task.nursery->runtime->scheduler;
  if (worker == nullptr) return scheduler.inject(&task);
  task.has_priority() ? scheduler.push_with_priority(*worker, &task) : scheduler.push_yielded(*worker, &task);
}

}  // namespace

NurseryGate gate_of(std::uint32_t max_running) noexcept {
  return {max_running, 0};
}

void launch_at_gate(Worker* worker, Task& task) noexcept {
  Nursery& nursery = *task.nursery;
  {
    LockGuard guard(nursery.lock);
    if (nursery.gate.running == nursery.gate.most) return put_last(nursery, task);
    ++nursery.gate.running;
  }
  queue(worker, task);
}

void let_next_pass(Worker& worker, Nursery& nursery) noexcept {
  Task* next;
  {
    LockGuard guard(nursery.lock);
    next = take_first(nursery);
    if (next == nullptr) --nursery.gate.running;
  }
  if (next != nullptr) queue(&worker, *next);
}

std::uint64_t count_at_gate(const Nursery& nursery) noexcept {
  std::uint64_t count = 0;
  const Runnable* const last = nursery.last_unstarted;
  for (const Runnable* at = last; at != nullptr; at = at->next != last ? at->next : nullptr) ++count;
  return count;
}

}  // namespace janus
