// SPDX-License-Identifier: Apache-2.0
// rt/abi/fork.cpp — janus_fork_join. docs/decisions/0327
#include "rt/task/run/fork.h"
#include "rt/abi/entry/entry.h"
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

janus_result result_of(const Report& report) noexcept {
  return {static_cast<std::uint32_t>(report.outcome),
          report.errors,
          report.code,
          report.task_id,
          report.was_cancelled ? 1u : 0u,
          static_cast<std::uint32_t>(report.cause)};
}

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

// `me.task` nullptr: enter() was not called yet. `nursery`: nullptr, or open already.
[[gnu::noinline]] long fork_slow(Caller me, Nursery* nursery, const Fork& fork) noexcept {
  if (me.task == nullptr) me = enter();
  if (me.task == nullptr) return neither_ran(fork, JANUS_E_NO_TASK);
  Task& self = *me.task;
  OrError<Nursery*> opened = nursery;
  if (nursery == nullptr) {
    int error = why_no_task_function(fork.own);
    if (error == 0) error = why_no_task_function(fork.other);
    if (error != 0) return refuse(me, fork, error);
    if (self.is_marked(TaskMarks::kSawCancel) || sees_cancel(self)) return refuse_cancelled(self, fork);
    me.worker = &current_worker();
    opened = open_fork<Path::kGeneral>(*me.worker, self);
    if (!opened) return refuse(me, fork, opened.error);
  }
  Nursery& scope = *opened.value;
  const std::uint8_t stack_class = runtime_of(*me.worker).options.stack_class;
  const OrError<Task*> child =
      spawn<Path::kGeneral>(me.worker, scope, fork.other, fork.other_arg, {stack_class, 0, nullptr, nullptr});
  if (!child) {
    await_nursery(self, scope);
    destroy_nursery(&current_worker(), scope);
    if (sees_cancel(self)) return refuse_cancelled(self, fork);
    return refuse({&current_worker(), &self}, fork, child.error);
  }
  launch(me.worker, *child.value);
  const auto run =
      Scheduler::is_always_slow(current_worker()) ? call_and_await<Path::kGeneral> : call_and_await<Path::kFast>;
  ForkEnds ends;
  return run(self, scope, fork.own, fork.own_arg, ends) ? 0 : failed(fork, ends);
}

}  // namespace

}  // namespace janus

using namespace janus;

extern "C" {

[[gnu::flatten]] long janus_fork_join(janus_task_fn own, void* own_arg, janus_task_fn other, void* other_arg,
                                      janus_result* results) {
  const Caller me = enter_fast();
  const bool is_usual = me.task != nullptr && is_surely_users(own) && is_surely_users(other);
  Nursery* const nursery = is_usual ? open_fork<Path::kFast>(*me.worker, *me.task).value : nullptr;
  if (nursery == nullptr) [[unlikely]]
    return fork_slow(me, nullptr, {own, own_arg, other, other_arg, results});
  const std::uint8_t stack_class = runtime_of(*me.worker).options.stack_class;
  Task* const child = spawn<Path::kFast, true>(me.worker, *nursery, other, other_arg, {stack_class, 0}).value;
  if (child == nullptr) [[unlikely]]
    return fork_slow(me, nursery, {own, own_arg, other, other_arg, results});
  me.worker->scheduler->push_fresh<Path::kFast>(*me.worker, child);
  ForkEnds ends;
  if (call_and_await<Path::kFast>(*me.task, *nursery, own, own_arg, ends)) [[likely]]
    return 0;
  return failed({own, own_arg, other, other_arg, results}, ends);
}

}  // extern "C"
