// SPDX-License-Identifier: Apache-2.0
// rt/abi/task.cpp — tasks by handle, the calling task, task-local values.
#include "rt/abi/entry/entry.h"
#include "rt/abi/entry/result_convert.h"
#include "rt/abi/entry/runtime_of_handle.h"
#include "rt/abi/local_calls.h"
#include "rt/abi/task_states.h"
#include "rt/base/order_hooks.h"
#include "rt/task/account/inherited.h"
#include "rt/task/account/name.h"
#include "rt/task/nurseries/handle.h"
#include "rt/task/nurseries/join.h"
#include "rt/task/record/panic.h"
#include "rt/task/report/runtime_text.h"
#include "rt/task/supervise/supervisor.h"
#include "rt/task/wait/authority.h"
#include "rt/task/wait/cancel.h"

namespace janus {

namespace {

// Whether the caller may read the task's result and release its handle. No task may in another runtime.
bool may_have_result(const Runtime& runtime, Caller me, const Task& task) noexcept {
  return me.task == nullptr || (worker_in(runtime, me) != nullptr && janus::may_have_result(*me.task, task));
}

constexpr std::size_t kReasonBytes = 256;  // for the reported part of a panic's reason

// Whether `function` may be called as a destructor, or is nullptr.
bool may_destroy(void (*function)(void*)) noexcept {
  return function == nullptr || function == janus_free || may_be_called(function);
}

OrError<std::uint32_t> new_own(Task* task, void (*destroy)(void*)) noexcept {
  return new_local(task, destroy);
}

}  // namespace

int new_key(janus_local_key* key, void (*destroy)(void*),
            OrError<std::uint32_t> (*make)(Task* task, void (*destroy)(void*)) noexcept) noexcept {
  const Caller me = enter();
  if (key == nullptr || !may_destroy(destroy)) return JANUS_E_INVALID;
  write_user(key, janus_local_key{0});  // tests the memory for the key before a key is taken
  const OrError<std::uint32_t> fresh = make(me.task, destroy);
  if (!fresh) return fresh.error;
  write_user(key, janus_local_key{fresh.value});
  return 0;
}

}  // namespace janus

using namespace janus;

extern "C" {

int janus_task_join(janus_task task, int64_t* result) {
  const Caller me = enter();
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  if (task.raw == 0) return JANUS_E_INVALID;
  return join(*me.task, task.raw, result);
}

int janus_task_result(janus_task handle, janus_result* result) {
  const Caller me = enter();
  if (handle.raw == 0) return JANUS_E_INVALID;
  const RuntimeOfHandle runtime(me, handle.raw);
  Task* const task = runtime.lock();
  if (task == nullptr) return JANUS_E_STALE;
  if (!may_have_result(*runtime.get(), me, *task)) {
    task->lock.unlock();
    return JANUS_E_NO_CAP;
  }
  const bool ended = task->has(TaskFlags::kEnded);
  const std::uint8_t told = task->cancel.load(std::memory_order_relaxed);
  if (ended) order_hooks::acquire(order_hooks::second(task));
  const Report report = ended ? report_of(*task) : Report{Outcome::kPending, 0,         JANUS_PENDING,
                                                          task->id,          told != 0, static_cast<Cause>(told)};
  task->lock.unlock();
  fill(result, report);
  return ended ? 0 : JANUS_PENDING;
}

int janus_task_release(janus_task handle) {
  const Caller me = enter_free();
  if (handle.raw == 0) return JANUS_E_INVALID;
  const RuntimeOfHandle runtime(me, handle.raw);
  Task* const task = runtime.lock();
  if (task == nullptr) return JANUS_E_STALE;
  if (!may_have_result(*runtime.get(), me, *task)) {
    task->lock.unlock();
    return JANUS_E_NO_CAP;
  }
  if (is_supervised(*task)) {  // its supervisor frees the record, as soon as it has taken note of the end
    task->lock.unlock();
    return 0;
  }
  return release_locked(worker_in(*runtime.get(), me), task);
}

int janus_task_cancel(janus_task handle) {
  const Caller me = enter(price::kCall + price::kCancel);
  if (handle.raw == 0) return JANUS_E_INVALID;
  const RuntimeOfHandle runtime(me, handle.raw);
  Task* const task = runtime.lock();
  if (task == nullptr) return JANUS_E_STALE;
  Worker* const worker = worker_in(*runtime.get(), me);
  CancelWalk walk;
  if (!task->has(TaskFlags::kEnded)) walk = cancel_task(worker, *task, Cause::kAsked);
  task->lock.unlock();
  tell_members(*runtime.get(), worker, walk, Pace::kInPartsPaid);
  return 0;
}

int janus_task_state(janus_task handle) {
  const Caller me = enter();
  if (handle.raw == 0) return JANUS_E_INVALID;
  const RuntimeOfHandle runtime(me, handle.raw);
  Task* const task = runtime.lock();
  if (task == nullptr) return JANUS_E_STALE;
  const TaskState state = task->state.load(std::memory_order_relaxed);
  order_hooks::acquire(order_hooks::second(task));  // if it has ended
  task->lock.unlock();
  return view_of(state);
}

janus_task janus_task_self(void) {
  const Caller me = enter_free();
  if (me.task == nullptr) return {0};
  return {own_handle(runtime_of(*me.worker), *me.task)};
}

uint64_t janus_task_id(void) {
  const Caller me = enter_free();
  if (me.task == nullptr) return 0;
  (void)own_handle(runtime_of(*me.worker), *me.task);  // who is told the number can find the task by it
  return me.task->id;
}

int janus_cancelled(void) {
  const Caller me = enter_free();
  return me.task != nullptr && sees_cancel(*me.task) ? 1 : 0;
}

// As janus_task_panic, for our C and C++ libraries, with a JANUS_CAUSE_* (linker/start/program.h). Not in rt.h.
JANUS_NORETURN void janus_panic_because(uint32_t cause, const char* why) {
  const Caller me = enter_on_any_thread();
  Worker* const helper = me.task == nullptr ? helper_of_thread() : nullptr;
  if (me.task == nullptr && helper == nullptr) {
    if (is_in_report(me)) me.worker->leave_report(*me.worker, nullptr);
    platform::abort();
  }
  char reason[kReasonBytes];
  if (why != nullptr) (void)read_user_string(reason, sizeof reason, why);
  const char* const shown = why != nullptr ? reason : "(no reason given)";
  if (helper != nullptr) panic_on_helper(*helper, static_cast<Cause>(cause), shown);
  panic(*me.task, static_cast<Cause>(cause), shown);
}

// For our C++ library (linker/start/program.h). Not in rt.h.
JANUS_NORETURN void janus_end_as_cancelled(void) {
  const Caller me = enter_free();
  if (me.task == nullptr) platform::abort();
  if (!sees_cancel(*me.task)) janus_task_panic("it was not cancelled, and cannot end so");
  end_as_cancelled(*me.task);
}

void janus_task_panic(const char* why) {
  janus_panic_because(JANUS_CAUSE_TASK_PANIC, why);
}

int janus_task_set_name(const char* name) {
  const Caller me = enter();
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  if (name == nullptr) return JANUS_E_INVALID;
  char copied[kNameBytes];
  (void)read_user_string(copied, sizeof copied, name);
  return name_itself(*me.worker, *me.task, copied);
}

int janus_local_new(janus_local_key* key, void (*destroy)(void*)) {
  return new_key(key, destroy, new_own);
}

int janus_local_delete(janus_local_key key) {
  const Caller me = enter();
  return delete_local(me.task, key.raw);
}

void* janus_local_get(janus_local_key key) {
  const Caller me = enter_free();
  if (me.task == nullptr || !is_local(key.raw)) return nullptr;
  if (!is_inherited(key.raw)) return get_local(*me.task, key.raw);
  return has_inherited(*me.task) ? get_inherited(*me.task, key.raw) : nullptr;
}

int janus_local_set(janus_local_key key, void* value) {
  const Caller me = enter();
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  if (!is_local(key.raw)) return JANUS_E_INVALID;
  return is_inherited(key.raw) ? set_inherited(*me.task, key.raw, value) : set_local(*me.task, key.raw, value);
}

}  // extern "C"
