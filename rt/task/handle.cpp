// SPDX-License-Identifier: Apache-2.0
// rt/task/handle.cpp — handles of tasks: the record's index and its generation, so that a stale one is found out.
#include "rt/task/handle.h"

#include "rt/task/runtime.h"

namespace janus {

std::uint64_t handle_of(Runtime& runtime, Task& task) noexcept {
  // Never 0: what looks like a small number is nobody's handle.
  const std::uint64_t generation = task.generation.load(std::memory_order_relaxed) + std::uint64_t{1};
  return generation << 32 | (runtime.tasks.index_of(&task) + 1);
}

Task* lock_handle(Runtime& runtime, std::uint64_t handle) noexcept {
  const auto index = static_cast<std::uint32_t>(handle);
  if (index == 0) return nullptr;
  auto* task = static_cast<Task*>(runtime.tasks.at(index - 1));
  if (task == nullptr) return nullptr;
  task->lock.lock();
  const bool is_same = task->generation.load(std::memory_order_relaxed) + std::uint64_t{1} == handle >> 32;
  if (is_same && task->has(TaskFlags::kExposed)) return task;
  task->lock.unlock();
  return nullptr;
}

void free_record(Worker* worker, Task& task) noexcept {
  Runtime& runtime = *task.nursery->runtime;
  if (task.has(TaskFlags::kExposed))
    task.generation.store(task.generation.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (task.has(TaskFlags::kNamed)) {
    runtime.heap.free_own(worker != nullptr ? &worker->heap : nullptr, task.extra);
    task.extra = nullptr;
  }
  task.suspend_at(nullptr);
  task.marks = 0;
  task.is_published = task.yielded_free = false;
  task.frame = nullptr;
  task.cancel.store(0, std::memory_order_relaxed);
  task.token.store(0, std::memory_order_relaxed);
  task.flags.store(0, std::memory_order_relaxed);
  task.state.store(TaskState::kCreated, std::memory_order_relaxed);
  JANUS_ASSERT(is_zeroed_when_free(task));
  runtime.tasks.give(worker != nullptr ? &worker->tasks : nullptr, &task);
}

namespace {

// Under the locks of both. The record leaves the nursery's list.
void unlink_record(Task& task) noexcept {
  Nursery& nursery = *task.nursery;
  (task.record_previous != nullptr ? task.record_previous->record_next : nursery.records) = task.record_next;
  if (task.record_next != nullptr) task.record_next->record_previous = task.record_previous;
  task.clear(TaskFlags::kRecorded);
}

}  // namespace

int release_handle(Worker* worker, Runtime& runtime, std::uint64_t handle) noexcept {
  Task* const task = lock_handle(runtime, handle);
  if (task == nullptr) return kErrorStale;
  SpinLock& lock = task->lock;
  bool mine = false;
  if (!task->has(TaskFlags::kEnded)) {
    task->clear(TaskFlags::kKept);
  } else {
    LockGuard guard(task->nursery->lock);
    mine = task->has(TaskFlags::kRecorded);  // else the nursery is just releasing it
    if (mine) unlink_record(*task);
  }
  if (mine) free_record(worker, *task);
  lock.unlock();
  return 0;
}

// All that ended and was kept. The nursery is terminal, so no more come.
[[gnu::noinline]] void release_records(Worker* worker, Nursery& nursery) noexcept {
  for (;;) {
    Task* task;
    {
      LockGuard guard(nursery.lock);
      task = nursery.records;
      if (task == nullptr) return;
      unlink_record(*task);
    }
    task->lock.lock();
    free_record(worker, *task);
    task->lock.unlock();
  }
}

}  // namespace janus
