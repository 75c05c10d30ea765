// SPDX-License-Identifier: Apache-2.0
// rt/abi/entry/entry.h — the entry of every exported function, except janus_rt_get, janus_unix_time_ns and
// janus_strerror, which need no caller, and janus_boot, which is called before there are tasks. It determines the
// caller (a task, or a thread outside tasks), whether it may call, and the cost. Every call that costs something also
// acts as a yield check. So a loop of such calls yields at the end of its slice, sees a cancel, pays from its grace
// after that, and waits or ends when the ops are used up. docs/decisions/0160
//
//     enter_free()      costs nothing: docs/budgets.md lists the calls that do, and why
//     enter(ops)        charged, if a task calls
//     enter_fast()      enter() for the few most frequent calls, if no check needs attention; otherwise
//                       `task` is nullptr, nothing is charged, and enter() has to be called
//     enter_on_any_thread()   enter_free() for the few calls that every function on a helper thread may make
//     enter_outside()   for calls that rt.h marks [threads outside tasks]: a task gets an error and nothing happens
//
// [task] functions return JANUS_E_NO_TASK where `task` is nullptr.
//
// After enter() the task may be on another worker than before: only the Caller that it returns is valid. A task that
// was told to end pays from its grace; each call decides for itself whether it returns JANUS_CANCELLED.
#pragma once

#include "rt/abi/entry/global_runtime.h"
#include "rt/abi/entry/runtime_table.h"
#include "rt/abi/entry/thread_table.h"
#include "rt/base/or_error.h"
#include "rt/include/janus/rt.h"
#include "rt/task/account/charge.h"
#include "rt/task/nurseries/handle.h"
#include "rt/task/record/runtime.h"
#include "rt/task/report/runtime_text.h"
#include "rt/task/run/abort_task.h"
#include "rt/task/run/blocking.h"
#include "rt/task/wait/authority.h"
#include "rt/task/wait/slice.h"
#include "rt/task/wait/user_memory.h"

namespace janus {

struct Caller {
  Worker* worker;  // nullptr: the thread is not a worker; without a task, the record of a helper thread, of no runtime
  Task* task;      // nullptr: outside tasks
};

// In a host's process a thread need not be a worker.
[[gnu::noinline]] inline Worker* worker_in_host() noexcept {
  return static_cast<Worker*>(static_cast<WorkerSlot*>(platform::worker_slot()));
}

// Ends the task, before the call takes anything, if too little stack is left for code of the runtime.
[[gnu::always_inline]] inline Caller enter_free() noexcept {
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

// The record of the calling thread, if it is a helper thread (rt/task/run/blocking.h), else nullptr.
inline Worker* helper_of_thread() noexcept {
  Worker* const worker = every_thread_is_worker ? &current_worker() : worker_in_host();
  return worker != nullptr && worker->helper != nullptr ? worker : nullptr;
}

// As enter_free(), for calls that any function on a helper thread may make.
inline Caller enter_on_any_thread() noexcept {
  const Worker* const worker = every_thread_is_worker ? &current_worker() : worker_in_host();
  if (worker == nullptr || worker->task == kNoTaskNorHost) [[unlikely]]
    return {nullptr, nullptr};
  return enter_free();
}

// Handles the end of a slice at the entry.
[[gnu::noinline]] inline Caller give_way(Task& task) noexcept {
  (void)yield_slow(task);
  return {&current_worker(), &task};
}

[[gnu::always_inline]] inline Caller enter(std::int64_t ops = price::kCall) noexcept {
  const Caller me = enter_free();
  if (me.task == nullptr) return me;
  if (take_fuel(ops)) [[unlikely]]
    return give_way(*me.task);
  return me;
}

// Whether the calling thread is a worker for sure, and has enough stack and no reason for the general path.
[[gnu::always_inline]] inline bool is_usual_caller() noexcept {
  return every_thread_is_worker && !arch::stack_is_below_slot<offsetof(WorkerSlot, stack_limit)>();
}

// Charges nothing: for janus_yield, whose price has a rule of its own, and for calls that charge later.
[[gnu::always_inline]] inline Caller enter_yield() noexcept {
  if (!is_usual_caller()) [[unlikely]]
    return {nullptr, nullptr};
  Worker* const worker = &current_worker();
  return {worker, current_task(*worker)};
}

[[gnu::always_inline]] inline Caller enter_fast() noexcept {
  const Caller me = enter_yield();
  if (me.task == nullptr) [[unlikely]]
    return me;
  if (!take_fuel(price::kCall)) [[likely]]
    return me;
  put_fuel_back(*me.worker, price::kCall);
  return {nullptr, nullptr};
}

// Charges the cost of a call beyond its price at the entry.
inline void charge_more(Caller& me, std::int64_t ops) noexcept {
  if (me.task == nullptr) return;
  (void)charge_ops(*me.task, ops);
  me.worker = &current_worker();
}

// Charges for work in proportion to `bytes`. Called before each part of the work, of at most price::kBytesAtOnce.
inline void charge_part(Caller& me, std::size_t bytes) noexcept {
  charge_more(me, static_cast<std::int64_t>(bytes / price::kBytesPerOp));
}

// The runtime that NULL stands for outside tasks: that of the calling report function, or else the process's.
Runtime* runtime_outside(const Worker* worker) noexcept;
// The runtime that NULL stands for: the calling task's, or as runtime_outside(). nullptr: there is none.
inline Runtime* runtime_or_own(janus_rt* rt, Caller caller) noexcept {
  if (rt != nullptr) return reinterpret_cast<Runtime*>(rt);
  return caller.task != nullptr ? &runtime_of(*caller.worker) : runtime_outside(caller.worker);
}

// The caller's worker, if it belongs to that runtime; else nullptr, as its caches belong to another one.
inline Worker* worker_in(const Runtime& runtime, Caller caller) noexcept {
  return caller.worker != nullptr && caller.worker->runtime == &runtime ? caller.worker : nullptr;
}

// Sets what janus_last_error returns; the error may have a Why.
void set_error(Caller caller, int error) noexcept;
// As set_error(), and also records how much `payer`, an account of `runtime`, has left of the component that the Why
// names.
void set_error_left(const Caller& caller, const Runtime* runtime, const Account* payer, int error) noexcept;
// As set_error_left(), for an operation that `payer` could not pay; may end the task.
void set_error_of(const Caller& caller, const Runtime* runtime, const Account* payer, int error) noexcept;
LastError last_error_of(const Caller& caller) noexcept;

// Whether the caller is a report function. It is outside tasks, but its worker cannot go on before it returns, so calls that
// wait outside tasks are refused.
[[nodiscard]] inline bool is_in_report(const Caller& me) noexcept {
  return me.task == nullptr && me.worker != nullptr;
}

// For calls that make, run and end runtimes [threads outside tasks]: a task that could do so would escape its budget, and a
// helper thread could wait for itself.
// 0, or JANUS_E_STATE, which becomes the task's last error, too.
[[nodiscard]] inline int enter_outside() noexcept {
  const Caller me = enter();
  if (me.worker == nullptr && helper_of_thread() == nullptr) return 0;
  set_error(me, with_why(JANUS_E_STATE, Why::kInTask));
  return JANUS_E_STATE;
}

// 0, or why `fn` cannot be spawned.
inline int why_no_task_function(janus_task_fn fn) noexcept {
  if (fn == nullptr) return with_why(JANUS_E_INVALID, Why::kNoFunction);
  return is_runtimes_text(fn) ? with_why(JANUS_E_INVALID, Why::kFunctionOfRuntime) : 0;
}

// Whether the runtime may call a user's function by itself. Another one could fault in the runtime: at the call, if its
// address is not in the lower half of the 48-bit address space, or inside the runtime's own text. False for nullptr, too.
inline bool may_be_called(void (*function)(void*)) noexcept {
  return function != nullptr && reinterpret_cast<std::uintptr_t>(function) >> 47 == 0 && !is_runtimes_text(function);
}

// --- Handles and pointers from users --------------------------------------------------------------------------------

inline std::uint64_t word_of(const void* handle) noexcept {
  return reinterpret_cast<std::uintptr_t>(handle);
}

// The runtime that a handle belongs to; nullptr: there is none. The host must keep the runtime alive during the call,
// unless it is the calling task's own.
[[gnu::always_inline]] inline Runtime* runtime_of_handle(const Caller& me, std::uint64_t handle) noexcept {
  Runtime* const own = me.task != nullptr ? me.worker->runtime : nullptr;
  if (own != nullptr && own->number == runtime_number_of(handle)) [[likely]]
    return own;
  return runtime_elsewhere(handle);
}

// Refuses a handle that was never given out: the calling task panics; outside tasks it is an error.
Failed refuse_handle(const Caller& me, const char* kind, std::uint64_t handle) noexcept;

inline janus_nursery* handle_of(const Nursery* nursery) noexcept {
  if (nursery == nullptr) return nullptr;
  return reinterpret_cast<janus_nursery*>(nursery->handle.load(std::memory_order_relaxed));
}

// Finds the nursery that a user named. Fails for NULL, for a nursery that has ended, and for one that the caller may
// not use: the calling task is neither its owner nor below it, or is in a cage that does not contain the nursery.
// Threads outside tasks belong to the host, and may use all.
inline OrError<Nursery*> check(const janus_nursery* named, const Caller& me) noexcept {
  const std::uint64_t handle = word_of(named);
  if (handle == 0) return Failed{JANUS_E_INVALID};
  Runtime* const runtime = runtime_of_handle(me, handle);
  auto* const nursery =
      runtime != nullptr ? static_cast<Nursery*>(runtime->nurseries.at(index_of_handle(handle))) : nullptr;
  if (nursery == nullptr || nursery->handle.load(std::memory_order_relaxed) != handle) [[unlikely]]
    return refuse_handle(me, "nursery", handle);
  if (!Nursery::is_alive(nursery->alive.load(std::memory_order_acquire))) return Failed{JANUS_E_STALE};
  if (me.task != nullptr && (me.worker->runtime != runtime || !may_use(*me.task, *nursery)))
    return Failed{JANUS_E_NO_CAP};
  return nursery;
}

}  // namespace janus
