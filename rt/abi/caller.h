// SPDX-License-Identifier: Apache-2.0
// rt/abi/caller.h — who calls us: a task, or a thread outside tasks; and how failures are told.
#pragma once

#include "rt/abi/global_runtime.h"
#include "rt/include/janus/rt.h"
#include "rt/task/panic.h"
#include "rt/task/runtime.h"

namespace janus {

struct Caller {
  Worker* worker;  // nullptr: a thread that is no worker
  Task* task;      // nullptr: outside tasks
};

// In a host's process: a thread may be none of ours.
[[gnu::noinline]] inline Worker* worker_in_host() noexcept {
  return static_cast<Worker*>(static_cast<WorkerSlot*>(platform::worker_slot()));
}

// Every entry comes through here first. Too little stack left for code of ours ends the task before anything is taken.
[[gnu::always_inline]] inline Caller caller() noexcept {
  Worker* worker;
  if (every_thread_is_worker) [[likely]] {
    worker = &current_worker();
  } else {
    worker = worker_in_host();
    if (worker == nullptr) return {nullptr, nullptr};
  }
  Task* const task = current_task(*worker);
  if (task != nullptr) [[likely]]
    require_stack(*worker);
  return {worker, task};
}

// The same for the few calls that everything is made of, where there is nothing to look into: in a program of ours, on
// a task with stack enough. Else `task` is nullptr, and caller() tells.
[[gnu::always_inline]] inline Caller caller_at_hand() noexcept {
  if (!every_thread_is_worker) [[unlikely]]
    return {nullptr, nullptr};
  Worker* const worker = &current_worker();
  Task* const task = current_task(*worker);
  if (arch::stack_pointer() < reinterpret_cast<std::uintptr_t>(worker->stack_limit)) [[unlikely]]
    return {nullptr, nullptr};
  return {worker, task};
}

// The runtime that a NULL means: the caller's, or the process's. nullptr: there is none.
inline Runtime* runtime_or_own(janus_rt* rt, const Caller& caller) noexcept {
  if (rt != nullptr) return reinterpret_cast<Runtime*>(rt);
  return caller.task != nullptr ? &runtime_of(*caller.worker) : process_runtime();
}

// The caller's worker, if it is one of that runtime: only its caches fit.
inline Worker* worker_in(const Runtime& runtime, const Caller& caller) noexcept {
  return caller.worker != nullptr && caller.worker->runtime == &runtime ? caller.worker : nullptr;
}

// Where the handles that a caller may know are looked up: its runtime, or the process's. nullptr: no handle is good.
inline Runtime* handles_of(const Caller& me) noexcept {
  return runtime_or_own(nullptr, me);
}

// For janus_last_error.
void set_error(const Caller& caller, int error) noexcept;

// A nursery or channel that a user gave: nullptr, with *error, for NULL and for one that is gone.
inline Nursery* check(janus_nursery* pointer, int* error) noexcept {
  auto* const nursery = reinterpret_cast<Nursery*>(pointer);
  if (nursery == nullptr) return *error = JANUS_E_INVALID, nullptr;
  if (Nursery::is_alive(nursery->alive.load(std::memory_order_acquire))) return nursery;
  return *error = JANUS_E_STALE, nullptr;
}

}  // namespace janus
