// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/spawn.cpp — makes a task, a new child of a nursery, and queues it.
#include "rt/task/nurseries/spawn.h"

#include "rt/base/order_hooks.h"
#include "rt/task/account/inherited.h"
#include "rt/task/account/name.h"
#include "rt/task/nurseries/cap.h"
#include "rt/task/nurseries/gate.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/authority.h"
#include "rt/task/wait/cancelled.h"
#include "rt/task/wait/children.h"
#include "rt/task/wait/records.h"

namespace janus {

namespace {

// Sets the fields of a record that a spawn determines; the rest is zeroed when free.
[[gnu::always_inline]] inline void init_task(Task& task, Nursery& nursery, Account* account, TaskFn fn, void* arg,
                                             std::uint8_t stack_class, std::uint8_t flags) noexcept {
  JANUS_ASSERT(is_zeroed_when_free(task) && may_be_running(state_of(task)));
  task.stack_class = stack_class;
  task.fn = fn;
  task.arg = arg;
  task.belong_to(nursery);
  task.account = account;
  if (flags != 0) task.flags.store(flags, std::memory_order_relaxed);
  order_hooks::release(&task);
}

constexpr std::uint64_t kIdBlock = 256;  // numbers that a worker takes at once

OrError<void*> take_record(Runtime& runtime, Worker* worker, bool has_paid) noexcept {
  SlabCache* const cache = worker != nullptr ? &worker->tasks : nullptr;
  void* const record = runtime.tasks.take(cache);
  if (record == nullptr) [[unlikely]]
    return alloc_under_pressure(runtime, runtime.tasks, cache, has_paid);
  return record;
}

// Whether spawn<kFast>() can proceed. `spawned`: the worker's counter.
template <bool kIsFirst>
[[gnu::always_inline]] inline bool is_ready_to_spawn(const Worker& worker, const Nursery& nursery,
                                                     std::uint64_t spawned) noexcept {
  const bool is_ready =
      kIsFirst || (is_at_home(nursery, worker) && nursery.alive.load(std::memory_order_relaxed) == Nursery::kAlive);
  return is_ready && spawned != worker.ids.end && Slab::hot(worker.tasks) != nullptr;
}

// Counts a spawned task, and returns its number. `spawned`: the worker's counter.
[[gnu::always_inline]] inline std::uint64_t count_spawned(Worker& worker, std::uint64_t spawned) noexcept {
  JANUS_ASSERT(spawned != worker.ids.end && spawned == worker.counters.spawned.read());
  worker.counters.spawned.add();
  return worker.ids.first + spawned;
}
std::uint64_t count_spawned_anywhere(Runtime& runtime, Worker* worker) noexcept {
  if (worker == nullptr) [[unlikely]] {
    runtime.spawned_outside.fetch_add(1, std::memory_order_relaxed);
    return runtime.next_id.fetch_add(1, std::memory_order_relaxed);
  }
  const std::uint64_t spawned = worker->counters.spawned.read();
  if (spawned == worker->ids.end) [[unlikely]] {
    worker->ids.first = runtime.next_id.fetch_add(kIdBlock, std::memory_order_relaxed) - spawned;
    worker->ids.end = spawned + kIdBlock;
  }
  return count_spawned(*worker, spawned);
}

// Beside TaskFlags: the task has to know by itself what it is confined to. In a cage it asks its nursery, if it has no token
// of its own: there no fast path opens a nursery.
constexpr unsigned kNeedsContext = 256;

struct Paid {
  Account* account;  // the child's; nullptr: refused
  int answer;        // its further flags; or the error
};

// What a spawn in a confined nursery, in a cage, or with extras needs first.
[[gnu::noinline, gnu::cold]] Paid ask_and_pay(Nursery& nursery, const SpawnOptions& options) noexcept {
  static constexpr SpawnExtras kNone{};
  const SpawnExtras& extras = options.extras != nullptr ? *options.extras : kNone;
  const NurseryTraits traits = nursery.traits;
  unsigned flags = extras.cap != nullptr ? kNeedsContext : 0;
  if (traits.is_confined) {
    const bool may = extras.within == nullptr && does_give_at_once(*nursery.runtime, nursery.cap, Right::kSpawn);
    if (!may && !(may_have_child != nullptr && may_have_child(nursery, extras.within, extras.cap)))
      return {nullptr, with_why(kErrorNoCap, Why::kRight)};
    if (!traits.draws && nursery.cap != nullptr) flags = kNeedsContext;
  } else if (extras.within != nullptr) {
    return {nullptr, with_why(kErrorNoCap, Why::kRight)};  // the record serves another nursery by now
  }
  if (!traits.draws && extras.budget == nullptr) return {nursery.account, static_cast<int>(flags)};
  flags |= TaskFlags::kDraws | (extras.budget != nullptr ? TaskFlags::kOwnAccount : 0u);
  const OrError<Account*> payer = pay_for_spawn(nursery, options.stack_class, extras.budget);
  return {payer.value, payer ? static_cast<int>(flags) : payer.error};
}

// The error for a spawn into a nursery that takes no more spawns.
[[gnu::noinline, gnu::cold]] int why_closed(Nursery& nursery) noexcept {
  return with_why(kErrorState, is_cancelled(nursery) ? Why::kNurseryCancelled : Why::kNurseryClosed);
}

}  // namespace

void launch(Worker* worker, Task& task) noexcept {
  if (task.nursery->traits.is_gated) [[unlikely]] {
    launch_at_gate(worker, task);
    if (worker != nullptr) worker->scheduler->sched_point();
    return;
  }
  Scheduler& scheduler = task.nursery->runtime->scheduler;
  if (worker == nullptr) return scheduler.inject(&task);
  task.has_priority() ? scheduler.push_with_priority(*worker, &task) : scheduler.push_fresh(*worker, &task);
  scheduler.sched_point();
}

template <Path kPath, bool kIsFirst>
OrError<Task*> spawn(Worker* worker, Nursery& nursery, TaskFn fn, void* arg, const SpawnOptions& options) noexcept {
  constexpr bool kIsFast = kPath == Path::kFast;
  const std::uint64_t spawned = kIsFast ? worker->counters.spawned.read() : 0;
  if (kIsFast && !is_ready_to_spawn<kIsFirst>(*worker, nursery, spawned)) [[unlikely]]
    return nullptr;
  Runtime& runtime = kIsFast ? runtime_of(*worker) : *nursery.runtime;
  if constexpr (kIsFirst) {
    nursery.local_count = 1;
  } else if (!count_child_in<kPath>(worker, nursery)) [[unlikely]] {
    if constexpr (kIsFast) return nullptr;
    return Failed{why_closed(nursery)};
  }
  Account* account = nursery.account;
  unsigned flags = options.flags;
  if (!kIsFast && (nursery.traits.asks_spawns() || options.extras != nullptr)) [[unlikely]] {
    const Paid paid = ask_and_pay(nursery, options);
    if (paid.account == nullptr) {
      count_child_out(worker, nursery);
      return Failed{paid.answer};
    }
    account = paid.account;
    flags |= static_cast<unsigned>(paid.answer);
  }
  const OrError<void*> record =
      kIsFast ? Slab::take_hot(worker->tasks) : take_record(runtime, worker, (flags & TaskFlags::kDraws) != 0);
  if (!kIsFast && !record) [[unlikely]] {
    refund_spawn(nursery, account, options.stack_class);
    count_child_out(worker, nursery);
    return Failed{record.error};
  }
  if (!kIsFast && (nursery.word.load(std::memory_order_acquire) & NurseryWord::kPassing) != 0) [[unlikely]] {
    if (!pass_inherited(worker, nursery, account, fn, arg)) {
      runtime.tasks.give(worker != nullptr ? &worker->tasks : nullptr, record.value);
      refund_spawn(nursery, account, options.stack_class);
      count_child_out(worker, nursery);
      return Failed{kErrorNoMemory};
    }
  }
  auto* const task = static_cast<Task*>(record.value);
  init_task(*task, nursery, account, fn, arg, options.stack_class, static_cast<std::uint8_t>(flags));
  // Atomic: others may still read the record as that of the task that it served before (rt/task/record/awaits.h).
  std::atomic_ref(task->id).store(kIsFast ? count_spawned(*worker, spawned) : count_spawned_anywhere(runtime, worker),
                                  std::memory_order_relaxed);
  if constexpr (kIsFast) return task;
  if ((flags & (TaskFlags::kDraws | kNeedsContext)) != 0) [[unlikely]] {
    // A cage is one group, and the tasks of the root another.
    if ((flags & TaskFlags::kDraws) != 0) task->group = account->index();
    if ((flags & kNeedsContext) != 0) give_context(*task, options.extras != nullptr ? options.extras->cap : nullptr);
  }
  JANUS_ASSERT(task->is_caged() == (account != runtime.root_account));
  if (options.name != nullptr) [[unlikely]]
    name_at_birth(worker, *task, options.name);
  if (flags != 0) task->state.store(TaskState::kCreated, std::memory_order_relaxed);
  if (worker != nullptr) runtime.scheduler.trace_event(*worker, Event::kSpawn, task);
  return task;
}
template OrError<Task*> spawn<Path::kGeneral>(Worker*, Nursery&, TaskFn, void*, const SpawnOptions&) noexcept;
template OrError<Task*> spawn<Path::kFast>(Worker*, Nursery&, TaskFn, void*, const SpawnOptions&) noexcept;
template OrError<Task*> spawn<Path::kFast, true>(Worker*, Nursery&, TaskFn, void*, const SpawnOptions&) noexcept;

}  // namespace janus
