// SPDX-License-Identifier: Apache-2.0
// rt/task/spawn.cpp — a new child of a nursery.
#include "rt/task/spawn.h"

#include "rt/task/charge.h"
#include "rt/task/name.h"
#include "rt/task/runtime.h"

namespace janus {

// What a spawn gives to a record; the rest is zeroed when free.
[[gnu::always_inline]] static inline void init_task(Task& task, Nursery& nursery, Account* account, TaskFn fn,
                                                    void* arg, std::uint8_t stack_class, std::uint8_t flags) noexcept {
  JANUS_ASSERT(is_zeroed_when_free(task) && may_be_running(state_of(task)));
  task.stack_class = stack_class;
  task.fn = fn;
  task.arg = arg;
  task.belong_to(nursery);
  task.account = account;
  if (flags != 0) task.flags.store(flags, std::memory_order_relaxed);
}

Task* spawn_quickly(Worker& worker, Nursery& nursery, TaskFn fn, void* arg) noexcept {
  constexpr std::uint64_t kShut = NurseryWord::kClosed | NurseryWord::kCancelled;
  const std::uint64_t spawned = worker.counters.spawned.read();
  if (nursery.owner_worker.load(std::memory_order_relaxed) != &worker ||
      nursery.alive.load(std::memory_order_relaxed) != Nursery::kAlive ||
      (nursery.word.load(std::memory_order_relaxed) & kShut) != 0 || spawned == worker.ids.end) [[unlikely]]
    return nullptr;
  auto* task = static_cast<Task*>(Slab::take_hot(worker.tasks));
  if (task == nullptr) [[unlikely]]
    return nullptr;
  ++nursery.local_count;
  const std::uint8_t stack_class = runtime_of(worker).options.stack_class;
  init_task(*task, nursery, nursery.account, fn, arg, stack_class, 0);
  task->id = worker.ids.first + spawned;
  worker.counters.spawned.add();
  return task;
}

// Queues a task that spawn() made; it may be over when this returns.
void launch(Worker* worker, Task& task) noexcept {
  Scheduler& scheduler = task.nursery->runtime->scheduler;
  if (worker == nullptr) return scheduler.inject(&task);
  scheduler.push_fresh(*worker, &task);
  scheduler.sched_point();
}

Task* spawn(Worker* worker, Nursery& nursery, TaskFn fn, void* arg, const SpawnOptions& options, int* error) noexcept {
  Runtime& runtime = *nursery.runtime;
  *error = kErrorState;
  if (!count_child_in(worker, nursery)) [[unlikely]]
    return nullptr;
  Account* account = nursery.account;
  std::uint8_t flags = options.flags;
  if (nursery.traits.draws || options.budget != nullptr) [[unlikely]] {
    account = pay_for_spawn(nursery, options, error);
    if (account == nullptr) return count_child_out(worker, nursery), nullptr;
    flags |= TaskFlags::kDraws | (options.budget != nullptr ? TaskFlags::kOwnAccount : 0);
  }
  auto* task = static_cast<Task*>(runtime.tasks.take(worker != nullptr ? &worker->tasks : nullptr));
  if (task == nullptr) [[unlikely]] {
    const bool has_paid = (flags & TaskFlags::kDraws) != 0;
    task = static_cast<Task*>(
        alloc_under_pressure(runtime, runtime.tasks, worker != nullptr ? &worker->tasks : nullptr, has_paid, error));
    if (task == nullptr) {
      refund_spawn(nursery, account, options);
      count_child_out(worker, nursery);
      return nullptr;
    }
  }
  init_task(*task, nursery, account, fn, arg, options.stack_class, flags);
  if ((flags & TaskFlags::kDraws) != 0)
    task->party = account->index();  // a cage is one party, and the root's are another
  task->id = count_spawned(runtime, worker);
  if (options.name != nullptr) [[unlikely]]
    name_at_birth(worker, *task, options.name);
  if (flags != 0) task->state.store(TaskState::kCreated, std::memory_order_relaxed);
  if (worker != nullptr) runtime.scheduler.trace_event(*worker, Event::kSpawn, task);
  return task;
}

}  // namespace janus
