// SPDX-License-Identifier: Apache-2.0
// rt/abi/safepoint.cpp — stopping a runtime's world, and walking over it. Apart from runtime.cpp, so that programs that do
// neither are linked without it. docs/decisions/0341
#include "rt/abi/entry/entry.h"
#include "rt/abi/entry/limit.h"
#include "rt/abi/entry/runtime_table.h"
#include "rt/abi/task_states.h"
#include "rt/task/run/stop_world.h"
#include "rt/task/run/walk_world.h"
#include "rt/task/wait/deadline.h"

namespace janus {

namespace {

// The runtime that the caller names, kept alive as long as this object is: a task's own, or for a thread outside any.
class NamedRuntime {
 public:
  NamedRuntime(const Caller& me, janus_rt* rt) noexcept
      : other_(me.task == nullptr && rt == nullptr ? process_runtime() : static_cast<void*>(rt)) {
    Runtime* const own = me.task != nullptr ? me.worker->runtime : nullptr;
    const bool is_own = own != nullptr && (rt == nullptr || other_.get() == own);
    runtime_ = own != nullptr ? (is_own ? own : nullptr) : other_.get();
    if (runtime_ != nullptr) return;
    error_ = other_.get() != nullptr ? JANUS_E_NO_CAP : rt == nullptr ? JANUS_E_STATE : JANUS_E_STALE;
  }

  [[nodiscard]] int error() const noexcept { return error_; }
  [[nodiscard]] Runtime& get() const noexcept { return *runtime_; }

 private:
  RuntimeOfPointer other_;
  Runtime* runtime_;
  int error_ = 0;
};

StopLimit limit_of_thread(std::int64_t timeout_ns) noexcept {
  if (timeout_ns <= 0) return {timeout_ns < 0 ? platform::kForever : 0, false};
  const std::uint64_t now_ns = platform::now_ns();
  const auto wanted_ns = static_cast<std::uint64_t>(timeout_ns);
  return {wanted_ns < platform::kForever - now_ns ? now_ns + wanted_ns : platform::kForever, true};
}

int stop_as_task(Runtime& runtime, const Caller& me, std::int64_t timeout_ns) noexcept {
  if (timeout_ns == 0) return stop_world(runtime, me.task, {0, false});
  const Limit limit = limit_after(me, timeout_ns);
  const Deadline deadline(*me.task, limit.at, limit.now_ns);
  return stop_world(runtime, me.task, {limit.at, limit.at != platform::kForever});
}

struct Visit {
  Runtime& runtime;
  Task* task;  // that walks; or nullptr
  int (*function)(const janus_task_view*, void*);
  void* arg;
};

int visit_one(const StoppedTask& seen, void* visit_pointer) noexcept {
  const auto& visit = *static_cast<const Visit*>(visit_pointer);
  // Owed: a walk does not wait, as the world would go on.
  if (visit.task != nullptr) take_fuel_unchecked(current_worker(), price::kCall);
  const Task& task = *seen.task;
  const auto as_pointer = [](std::uint64_t address) noexcept { return reinterpret_cast<void*>(address); };
  janus_task_view view = {};
  view.size = sizeof view;
  view.task.raw = expose_stopped(visit.runtime, seen);
  view.id = task.id;
  view.state = seen.runs ? JANUS_TASK_RUNNING : view_of(state_of(task));
  view.nursery_id = task.nursery->handle.load(std::memory_order_relaxed);
  view.fn = task.fn;
  view.arg = task.arg;
  if (seen.stack != nullptr) {
    view.stack_low = seen.stack->limit;
    view.stack_high = seen.stack->start;
    view.saved_sp = as_pointer(seen.sp);
    view.frames_high = as_pointer(seen.high);
  }
  if (seen.outer != nullptr) view.outer_id = seen.outer->id;
  const int answer = visit.function(&view, visit.arg);
  if (visit.task != nullptr) look_at_loss(*visit.task);
  return answer;
}

bool is_good_visitor(int (*visit)(const janus_task_view*, void*)) noexcept {
  return may_be_called(reinterpret_cast<void (*)(void*)>(reinterpret_cast<void (*)()>(visit)));
}

}  // namespace

}  // namespace janus

using namespace janus;

extern "C" {

int janus_safepoint_stop(janus_rt* rt, int64_t timeout_ns) {
  const Caller me = enter(price::kCall + price::kSafepoint);
  const NamedRuntime runtime(me, rt);
  if (runtime.error() != 0) return runtime.error();
  if (me.task == nullptr) return stop_world(runtime.get(), nullptr, limit_of_thread(timeout_ns));
  if (!is_permitted_in_cage(*me.task, Right::kExit)) return JANUS_E_NO_CAP;
  return stop_as_task(runtime.get(), me, timeout_ns);
}

int janus_safepoint_walk(janus_rt* rt, int (*visit)(const janus_task_view*, void*), void* arg) {
  const Caller me = enter();
  if (!is_good_visitor(visit)) return JANUS_E_INVALID;
  const NamedRuntime runtime(me, rt);
  if (runtime.error() != 0) return runtime.error();
  Visit visiting{runtime.get(), me.task, visit, arg};
  return walk_world(runtime.get(), me.task, visit_one, &visiting);
}

int janus_safepoint_resume(janus_rt* rt) {
  const Caller me = enter();
  const NamedRuntime runtime(me, rt);
  return runtime.error() != 0 ? runtime.error() : resume_world(runtime.get(), me.task);
}

}  // extern "C"
