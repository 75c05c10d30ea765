// SPDX-License-Identifier: Apache-2.0
// rt/abi/caller.h — who calls us: a task, or a thread outside tasks; and how failures are told.
#pragma once

#include "rt/abi/process.h"
#include "rt/include/janus/rt.h"
#include "rt/task/runtime.h"

namespace janus {

struct Caller {
  Worker* worker;  // nullptr: a thread that is no worker
  Task* task;      // nullptr: outside tasks
};

// Every entry comes through here first. Too little stack left for code of ours ends the task before anything is taken.
[[gnu::always_inline]] inline Caller caller() noexcept {
  // In a program of ours no other thread ever comes here, so that the slot need not be looked for.
  auto* const worker = every_thread_is_worker ? &current_worker()
                                              : static_cast<Worker*>(static_cast<WorkerSlot*>(platform::worker_slot()));
  if (worker == nullptr) [[unlikely]]
    return {nullptr, nullptr};
  Task* const task = current_task(*worker);
  if (task != nullptr) require_stack(*worker);
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

// For janus_last_error.
void set_error(const Caller& caller, int error) noexcept;

// A nursery or channel that a user gave: nullptr, with *error, for NULL and for one that is gone.
inline Nursery* check(janus_nursery* pointer, int* error) noexcept {
  auto* const nursery = reinterpret_cast<Nursery*>(pointer);
  if (nursery == nullptr) return *error = JANUS_E_INVALID, nullptr;
  if (nursery->alive.load(std::memory_order_acquire) == Nursery::kAlive) return nursery;
  return *error = JANUS_E_STALE, nullptr;
}

}  // namespace janus
