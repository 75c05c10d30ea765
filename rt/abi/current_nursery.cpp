// SPDX-License-Identifier: Apache-2.0
// rt/abi/current_nursery.cpp — the three functions of the current nursery, and janus_last_error. In a task the current
// nursery belongs to the task, so that it survives migration; outside tasks it belongs to the thread.
// docs/decisions/0073
#include "rt/abi/entry/entry.h"
#include "rt/abi/entry/thread_table.h"
#include "rt/abi/start/global_runtime_life.h"
#include "rt/task/nurseries/open.h"
#include "rt/task/nurseries/result.h"
#include "rt/task/nurseries/spawn.h"
#include "rt/task/report/runtime_text.h"
#include "rt/task/run/await.h"
#include "rt/task/wait/children.h"

namespace janus {

namespace {

// --- The slow half. If `me` has a task, its call was charged. If not, enter() was not called yet ---

[[gnu::noinline]] Nursery* create_slow(Caller me) noexcept {
  if (me.task == nullptr) me = enter();
  if (me.task != nullptr) {
    const OrError<Nursery*> nursery = open_current<Path::kGeneral>(*me.worker, *me.task);
    if (!nursery) set_error_of(me, &runtime_of(*me.worker), me.task->account, nursery.error);
    return nursery.value;
  }
  Runtime* const runtime = process_runtime_or_new();
  const OrError<Nursery*> nursery =
      runtime != nullptr ? open_nursery(*runtime, nullptr, {}) : Failed{with_why(JANUS_E_STATE, Why::kNoRuntime)};
  if (!nursery) {
    set_error_left(me, runtime, runtime != nullptr ? runtime->root_account : nullptr, nursery.error);
    return nullptr;
  }
  if (push_current_of_thread(*nursery.value)) return nursery.value;
  close_nursery(nullptr, *nursery.value);
  destroy_nursery(nullptr, *nursery.value);
  return nullptr;
}

[[gnu::noinline]] int spawn_slow(Caller me, janus_task_fn fn, void* arg) noexcept {
  if (me.task == nullptr) me = enter();
  Nursery* const nursery = me.task != nullptr ? me.task->frame->current : current_of_thread();
  Worker* const worker = nursery != nullptr ? worker_in(*nursery->runtime, me) : nullptr;
  OrError<Task*> child = Failed{why_no_task_function(fn)};
  if (child.error == 0 && nursery == nullptr)
    child = Failed{with_why(JANUS_E_STATE, Why::kNoCurrentNursery)};
  else if (child.error == 0)
    child =
        spawn<Path::kGeneral>(worker, *nursery, fn, arg, {nursery->runtime->options.stack_class, 0, nullptr, nullptr});
  if (!child) {
    if (me.worker != nullptr) me.worker->counters.spawns_failed.add();
    set_error_of(me, nursery != nullptr ? nursery->runtime : nullptr, nursery != nullptr ? nursery->account : nullptr,
                 child.error);
    return -1;
  }
  launch(worker, *child.value);
  return 0;
}

[[gnu::noinline]] long await_slow(Caller me) noexcept {
  if (me.task == nullptr) me = enter();
  if (me.task != nullptr) {
    Nursery* const nursery = me.task->frame->current;
    if (nursery == nullptr) return JANUS_E_STATE;
    const auto await =
        Scheduler::is_always_slow(*me.worker) ? await_current<Path::kGeneral> : await_current<Path::kFast>;
    return static_cast<long>(await(*me.task, *nursery));
  }
  Nursery* const nursery = is_in_report(me) ? nullptr : pop_current_of_thread();
  if (nursery == nullptr) return JANUS_E_STATE;
  await_from_thread(*nursery);
  const Report report = report_of(*nursery);
  destroy_nursery(nullptr, *nursery);
  return static_cast<long>(report.code);
}

}  // namespace

}  // namespace janus

using namespace janus;

extern "C" {

[[gnu::flatten]] void* janus_nursery_create(void) {
  const Caller me = enter_fast();
  Nursery* const nursery = me.task != nullptr ? open_current<Path::kFast>(*me.worker, *me.task).value : nullptr;
  if (nursery == nullptr) [[unlikely]]
    return handle_of(create_slow(me));
  return handle_of(nursery);
}

[[gnu::flatten]] int janus_nursery_spawn(janus_task_fn fn, void* arg) {
  const Caller me = enter_fast();
  Nursery* const nursery = me.task != nullptr ? me.task->frame->current : nullptr;
  if (nursery == nullptr || !is_surely_users(fn)) [[unlikely]]
    return spawn_slow(me, fn, arg);
  const std::uint8_t stack_class = runtime_of(*me.worker).options.stack_class;
  Task* const child = spawn<Path::kFast>(me.worker, *nursery, fn, arg, {stack_class, 0}).value;
  if (child == nullptr) [[unlikely]]
    return spawn_slow(me, fn, arg);
  me.worker->scheduler->push_fresh<Path::kFast>(*me.worker, child);
  return 0;
}

[[gnu::flatten]] long janus_nursery_await_all(void) {
  const Caller me = enter_fast();
  if (me.task == nullptr) [[unlikely]]
    return await_slow(me);
  Nursery* const nursery = me.task->frame->current;
  if (nursery == nullptr) [[unlikely]]
    return JANUS_E_STATE;
  return static_cast<long>(await_current<Path::kFast>(*me.task, *nursery));
}

int janus_last_error(void) {
  const Caller me = enter_free();
  return error_of(last_error_of(me).error);
}

}  // extern "C"
