// SPDX-License-Identifier: Apache-2.0
// rt/abi/fork.cpp — janus_fork_join. docs/decisions/0327
#include "rt/task/run/fork.h"
#include "rt/abi/entry/entry.h"
#include "rt/abi/entry/result_convert.h"
#include "rt/task/nurseries/open.h"
#include "rt/task/nurseries/spawn.h"
#include "rt/task/run/await.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/user_memory.h"

namespace janus {

namespace {

struct Fork {
  janus_task_fn own;
  void* own_arg;
  janus_task_fn other;
  void* other_arg;
  janus_result* results;
};

[[gnu::noinline, gnu::cold]] long failed(const Fork& fork, const ForkEnds& ends) noexcept {
  const janus_result results[2] = {result_of(ends.own), result_of(ends.other)};
  write_user(reinterpret_cast<janus_result(*)[2]>(fork.results), results);
  return static_cast<long>(ends.own.outcome != Outcome::kSuccess ? ends.own.code : ends.other.code);
}

[[gnu::noinline, gnu::cold]] long neither_ran(const Fork& fork, int error) noexcept {
  const Report report = {Outcome::kPending, 0, error, 0, false, Cause::kNone};
  return failed(fork, {report, report});
}

[[gnu::noinline, gnu::cold]] long refuse(const Caller& me, const Fork& fork, int error) noexcept {
  me.worker->counters.spawns_failed.add();
  set_error_of(me, me.worker->runtime, me.task->account, error);
  return neither_ran(fork, error_of(error));
}

[[gnu::noinline, gnu::cold]] long refuse_cancelled(const Task& task, const Fork& fork) noexcept {
  const Report report = {Outcome::kCancelled, 0, JANUS_CANCELLED, 0, true, cause_of_cancel(task)};
  return failed(fork, {report, report});
}

// Whether the other half, with a stack of the usual size, may run below the caller's frame. Precondition:
// is_usual_caller().
[[gnu::always_inline]] inline bool has_room_for_other(const Worker& worker, const Runtime& runtime) noexcept {
  return arch::stack_pointer() - reinterpret_cast<std::uintptr_t>(worker.stack_limit) >= runtime.child_stack_bytes;
}

// `me.task` nullptr: enter() was not called yet. `nursery`: nullptr, or one of open_fork_fast().
[[gnu::noinline]] long fork_slow(Caller me, Nursery* nursery, const Fork& fork) noexcept {
  if (me.task == nullptr) me = enter();
  if (me.task == nullptr) return neither_ran(fork, JANUS_E_NO_TASK);
  Task& self = *me.task;
  OrError<Nursery*> opened = nursery;
  if (nursery == nullptr) {
    int error = why_no_task_function(fork.own);
    if (error == 0) error = why_no_task_function(fork.other);
    if (error != 0) return refuse(me, fork, error);
    if (sees_cancel(self)) return refuse_cancelled(self, fork);
    me.worker = &current_worker();
    opened = open_fork(*me.worker, self);
    if (!opened) return refuse(me, fork, opened.error);
  }
  Nursery& scope = *opened.value;
  scope.traits.scope = NurseryTraits::kScoped;  // the caller's half has not begun
  const std::uint8_t stack_class = runtime_of(*me.worker).options.stack_class;
  const OrError<Task*> child =
      spawn<Path::kGeneral>(me.worker, scope, fork.other, fork.other_arg, {stack_class, 0, nullptr, nullptr});
  if (!child) {
    (void)await_nursery(self, scope);
    destroy_nursery(&current_worker(), scope);
    if (sees_cancel(self)) return refuse_cancelled(self, fork);
    return refuse({&current_worker(), &self}, fork, child.error);
  }
  launch(me.worker, *child.value);
  ForkEnds ends;
  bool both_succeeded;
  if (nursery != nullptr && has_room_for_other(current_worker(), runtime_of(*me.worker))) {
    scope.traits.scope = NurseryTraits::kOwnHalf;
    both_succeeded = call_and_await_fast(self, *self.frame, scope, fork.own, fork.own_arg, ends);
  } else {
    both_succeeded = call_and_await(self, scope, fork.own, fork.own_arg, ends);
  }
  return both_succeeded ? 0 : failed(fork, ends);
}

}  // namespace

}  // namespace janus

using namespace janus;

extern "C" {

[[gnu::flatten]] long janus_fork_join(janus_task_fn own, void* own_arg, janus_task_fn other, void* other_arg,
                                      janus_result* results) {
  const Caller me = is_surely_users(own) && is_surely_users(other) ? enter_fast() : Caller{nullptr, nullptr};
  if (me.task == nullptr) [[unlikely]]
    return fork_slow({nullptr, nullptr}, nullptr, {own, own_arg, other, other_arg, results});
  RunFrame& frame = *me.task->frame;
  const Runtime& runtime = runtime_of(*me.worker);
  Nursery* const nursery =
      has_room_for_other(*me.worker, runtime) ? open_fork_fast(*me.worker, *me.task, frame) : nullptr;
  if (nursery == nullptr) [[unlikely]]
    return fork_slow(me, nullptr, {own, own_arg, other, other_arg, results});
  const std::uint8_t stack_class = runtime.options.stack_class;
  Task* const child = spawn<Path::kFast, true>(me.worker, *nursery, other, other_arg, {stack_class, 0}).value;
  if (child == nullptr) [[unlikely]]
    return fork_slow(me, nursery, {own, own_arg, other, other_arg, results});
  me.worker->scheduler->push_fresh<Path::kFast>(*me.worker, child);
  ForkEnds ends;
  if (call_and_await_fast(*me.task, frame, *nursery, own, own_arg, ends)) [[likely]]
    return 0;
  return failed({own, own_arg, other, other_arg, results}, ends);
}

}  // extern "C"
