// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/handle.cpp — making and checking handles, so that stale and forged ones are detected.
#include "rt/task/nurseries/handle.h"

#include <arch/cpu.h>
#include "rt/base/assert.h"
#include "rt/base/rng.h"
#include "rt/base/siphash.h"
#include "rt/task/account/memory.h"
#include "rt/task/record/nursery.h"
#include "rt/task/record/price.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/slice.h"
#include "rt/task/wait/yield.h"

namespace janus {

namespace {

constexpr unsigned kPausesOfGuess = 300;  // 3 to 15 us

std::uint32_t make_secret(const Runtime& runtime, HandleKind kind, std::uint64_t number) noexcept {
  const std::uint64_t word = static_cast<std::uint64_t>(kind) << 62 | number;
  const auto secret = static_cast<std::uint32_t>(siphash_1_3(runtime.handle_key, word));
  return secret != 0 ? secret : 1;
}

std::uint64_t assemble(const Runtime& runtime, std::uint32_t secret, std::uint32_t index) noexcept {
  JANUS_CHECK(index < kIndexMask);
  return std::uint64_t{secret} << 32 | runtime.number << kIndexBits | (index + 1);
}

}  // namespace

std::uint64_t make_handle(const Runtime& runtime, HandleKind kind, std::uint64_t number, std::uint32_t index) noexcept {
  return assemble(runtime, make_secret(runtime, kind, number), index);
}

void init_handle_key(Runtime& runtime) noexcept {
  const bool is_random =
      !runtime.options.deterministic && platform::entropy_at_once(runtime.handle_key, sizeof runtime.handle_key);
  if (is_random) return;
  Rng rng(runtime.options.deterministic ? runtime.options.seed : platform::now_ns());
  for (std::uint64_t& word : runtime.handle_key) word = rng.next();
}

// A task's number is never used twice, so each handle has a secret of its own; 0 means none.
std::uint64_t handle_of(Runtime& runtime, Task& task) noexcept {
  std::uint32_t secret = task.secret.load(std::memory_order_relaxed);
  if (secret == 0) {
    secret = make_secret(runtime, HandleKind::kTask, task.id);
    task.secret.store(secret, std::memory_order_release);  // pairs with find_task(): the record is complete
  }
  return assemble(runtime, secret, runtime.tasks.index_of(&task));
}

std::uint64_t own_handle(Runtime& runtime, Task& self) noexcept {
  if (!self.has(TaskFlags::kExposed)) {  // no other task reads its state yet
    self.state.store(TaskState::kRunning, std::memory_order_relaxed);
    self.set(TaskFlags::kExposed);
  }
  return handle_of(runtime, self);
}

[[gnu::noinline, gnu::cold]] void pay_for_guess(Worker* caller) noexcept {
  for (unsigned i = 0; i < kPausesOfGuess; ++i) arch::pause();
  if (caller != nullptr) take_fuel_unchecked(*caller, price::kGuess);
}

Task* lock_handle(Worker* caller, Runtime& runtime, std::uint64_t handle) noexcept {
  const auto secret = static_cast<std::uint32_t>(handle >> 32);
  if (secret == 0 || runtime_number_of(handle) != runtime.number) return nullptr;
  auto* task = static_cast<Task*>(runtime.tasks.at(index_of_handle(handle)));
  if (task == nullptr) return nullptr;
  task->lock.lock();
  const std::uint32_t its = task->secret.load(std::memory_order_relaxed);
  if (its == secret && task->has(TaskFlags::kExposed)) return task;
  task->lock.unlock();
  if (its != 0) pay_for_guess(caller);
  return nullptr;
}

void free_record(Worker* worker, Task& task) noexcept {
  Runtime& runtime = *task.nursery->runtime;
  if (task.has(TaskFlags::kExposed)) {
    task.secret.store(0, std::memory_order_relaxed);
    task.holdings.store(0, std::memory_order_relaxed);
  }
  if (task.has(TaskFlags::kNamed)) {
    release_own(runtime, worker, task.extra);
    task.extra = nullptr;
  }
  task.suspend_at(nullptr);
  task.marks = 0;
  task.is_published = task.yielded_free = false;
  task.group = 0;
  task.frame = nullptr;
  task.cancel.store(0, std::memory_order_relaxed);
  task.token.store(0, std::memory_order_relaxed);
  task.flags.store(0, std::memory_order_relaxed);
  task.state.store(TaskState::kCreated, std::memory_order_relaxed);
  JANUS_ASSERT(is_zeroed_when_free(task));
  runtime.tasks.give(worker != nullptr ? &worker->tasks : nullptr, &task);
}

namespace {

// Under the nursery's lock. Takes the record off the nursery's list.
void unlink_record(Task& task) noexcept {
  Nursery& nursery = *task.nursery;
  if (nursery.untold.load(std::memory_order_relaxed) == &task)
    nursery.untold.store(task.record_previous, std::memory_order_relaxed);
  (task.record_previous != nullptr ? task.record_previous->record_next : nursery.records) = task.record_next;
  if (task.record_next != nullptr) task.record_next->set_record_previous(task.record_previous);
  task.clear(TaskFlags::kRecorded);
}

}  // namespace

int release_locked(Worker* worker, Task* task) noexcept {
  auto& lock = task->lock;
  bool mine = false;
  if (!task->has(TaskFlags::kEnded)) {
    task->clear(TaskFlags::kKept);
  } else {
    LockGuard guard(task->nursery->lock);
    mine = task->has(TaskFlags::kRecorded);  // otherwise release_records() is freeing it
    if (mine) unlink_record(*task);
  }
  if (mine) free_record(worker, *task);
  lock.unlock();
  return 0;
}

namespace {

// The number of records is limited only by memory, so others run in between.
Worker* pause_between_records(Worker& worker) noexcept {
  if (Task* const task = current_task(worker)) let_others_run(*task);
  return &current_worker();
}

}  // namespace

// Frees the records of all tasks that ended and were kept. The nursery is terminal, so no more come.
[[gnu::noinline]] void release_records(Worker* worker, Nursery& nursery) noexcept {
  for (unsigned released = 1;; ++released) {
    if (worker != nullptr && released % price::kRecordsAtOnce == 0) worker = pause_between_records(*worker);
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
