// SPDX-License-Identifier: Apache-2.0
// rt/abi/supervise.cpp — janus/supervise.h: supervisors. docs/decisions/0338
#include "rt/include/janus/supervise.h"
#include "rt/abi/entry/budget_convert.h"
#include "rt/abi/entry/result_convert.h"
#include "rt/abi/handle_kinds.h"
#include "rt/abi/read_options.h"
#include "rt/task/account/charge.h"
#include "rt/task/supervise/supervision.h"
#include "rt/task/supervise/supervisor.h"
#include "rt/task/wait/cancel.h"

namespace janus {

namespace {

static_assert(JANUS_RESTARTS_ANY == RestartLimit::kAny);
static_assert(JANUS_ONE_FOR_ALL == unsigned(Strategy::kOneForAll) &&
              JANUS_REST_FOR_ONE == unsigned(Strategy::kRestForOne));
static_assert(JANUS_TRANSIENT == unsigned(RestartPolicy::kTransient) &&
              JANUS_TEMPORARY == unsigned(RestartPolicy::kTemporary));
static_assert(JANUS_CHILD_RUNS == unsigned(ChildState::kRuns) && JANUS_CHILD_STOPS == unsigned(ChildState::kStops) &&
              JANUS_CHILD_ENDED == unsigned(ChildState::kEnded) && JANUS_CHILD_WAITS == unsigned(ChildState::kWaits));

int check_options(const janus_supervisor_options& options) noexcept {
  if (options.strategy > JANUS_REST_FOR_ONE) return invalid(Why::kStrategy);
  if (options.max_restarts > RestartLimit::kMost && options.max_restarts != RestartLimit::kAny)
    return invalid(Why::kRestarts);
  return Backoff::of(options.delay_min_ns, options.delay_max_ns).is_valid() ? 0 : invalid(Why::kDelays);
}

int check_spec(const janus_child_spec& spec) noexcept {
  if (const int error = why_no_task_function(spec.start)) return error;
  if (!may_be_called(reinterpret_cast<void (*)(void*)>(reinterpret_cast<void (*)()>(spec.start))))
    return JANUS_E_INVALID;  // the runtime calls it
  return spec.restart > JANUS_TEMPORARY ? invalid(Why::kRestart) : 0;
}

SupervisorOptions options_of(const janus_supervisor_options& given) noexcept {
  SupervisorOptions options;
  options.strategy = static_cast<Strategy>(given.strategy);
  options.limit = {given.max_restarts, given.within_ops, given.within_ns};
  options.backoff = Backoff::of(given.delay_min_ns, given.delay_max_ns);
  options.has_budget = is_given(given.budget);
  options.budget = amounts_of(given.budget);
  (void)read_name(given.name, options.name);
  return options;
}

ChildSpec spec_of(const janus_child_spec& given) noexcept {
  ChildSpec spec = {};
  spec.start = given.start;
  spec.arg = given.arg;
  spec.restart = static_cast<RestartPolicy>(given.restart);
  spec.has_budget = is_given(given.budget);
  spec.budget = amounts_of(given.budget);
  spec.stop_ns = given.stop_ns;
  spec.ready_ns = given.ready_ns;
  (void)read_name(given.name, spec.name);
  return spec;
}

// Finds a supervisor of the calling task's runtime.
OrError<Channel*> check_supervisor(const Caller& me, const janus_supervisor* named) noexcept {
  if (me.task == nullptr) return Failed{JANUS_E_NO_TASK};
  const OrError<Channel*> found = check_named<ChannelKind::kSupervisor>(me, named, "supervisor");
  return found && found.value->runtime != me.worker->runtime ? Failed{JANUS_E_NO_CAP} : found;
}

std::uint32_t secret_of_supervisor(const janus_supervisor* named) noexcept {
  return channel_secret<ChannelKind::kSupervisor>(named);
}

janus_child child_of(const ChildView& view) noexcept {
  janus_child child = {};
  child.id = static_cast<std::int64_t>(view.id);
  child.state = static_cast<std::uint32_t>(view.state);
  child.restarts = view.restarts;
  child.task_id = view.task_id;
  child.last = result_of(view.last);
  copy_name(child.name, view.name);
  return child;
}

}  // namespace

}  // namespace janus

using namespace janus;

extern "C" {

janus_supervisor* janus_supervisor_open(janus_rt* rt, const janus_supervisor_options* options) {
  const Caller me = enter();
  janus_supervisor_options given = {};
  int error = me.task == nullptr ? JANUS_E_NO_TASK : 0;
  if (error == 0 && runtime_or_own(rt, me) != me.worker->runtime) error = with_why(JANUS_E_STATE, Why::kOtherRuntime);
  if (error == 0 && options != nullptr) error = read_options(options, given);
  if (error == 0) error = check_options(given);
  OrError<Channel*> opened = Failed{error};
  if (error == 0) opened = open_supervisor(*me.worker->runtime, *me.task, options_of(given));
  if (opened) return named_handle<ChannelKind::kSupervisor, janus_supervisor>(*opened.value);
  set_error_of(me, me.task != nullptr ? me.task->nursery->runtime : nullptr,
               me.task != nullptr ? me.task->account : nullptr, opened.error);
  return nullptr;
}

int64_t janus_supervisor_add(janus_supervisor* named, const janus_child_spec* spec) {
  const Caller me = enter();
  const OrError<Channel*> found = check_supervisor(me, named);
  if (!found) return found.error;
  if (spec == nullptr) return JANUS_E_INVALID;
  janus_child_spec given;
  int error = read_options(spec, given);
  if (error == 0) error = check_spec(given);
  if (error == 0) {
    const std::int64_t id = add_child(*me.task, *found.value, secret_of_supervisor(named), spec_of(given));
    if (id > 0) return id;
    error = static_cast<int>(id);
  }
  set_error_of({&current_worker(), me.task}, me.task->nursery->runtime, me.task->account, error);
  return error_of(error);
}

int janus_supervisor_remove(janus_supervisor* named, int64_t id) {
  const Caller me = enter();
  const OrError<Channel*> found = check_supervisor(me, named);
  if (!found) return found.error;
  if (sees_cancel(*me.task)) return JANUS_CANCELLED;
  return remove_child(*me.task, *found.value, secret_of_supervisor(named), static_cast<std::uint64_t>(id));
}

int janus_supervisor_run(janus_supervisor* named) {
  const Caller me = enter();
  const OrError<Channel*> found = check_supervisor(me, named);
  if (!found) return found.error;
  if (sees_cancel(*me.task)) return JANUS_CANCELLED;
  const EndOfRun end = supervise(*me.task, *found.value, secret_of_supervisor(named));
  if (end.answer == JANUS_CANCELLED) (void)sees_cancel(*me.task);
  if (end.answer == JANUS_E_STATE) set_error({&current_worker(), me.task}, end.error);
  return end.answer;
}

int64_t janus_supervisor_children(janus_supervisor* named, janus_child* children, size_t n) {
  Caller me = enter();
  const OrError<Channel*> found = check_supervisor(me, named);
  if (!found) return found.error;
  if (children == nullptr && n != 0) return JANUS_E_INVALID;
  std::uint64_t after = 0, count = 0;
  for (std::size_t written = 0;;) {
    ChildView view;
    const int is_there = view_next_child(*found.value, secret_of_supervisor(named), after, view, count);
    if (is_there < 0) return is_there;
    if (is_there == 0 || written == n) return static_cast<std::int64_t>(count);
    after = view.id;
    charge_more(me, is_there == kViewMore ? price::kRecordsAtOnce : price::kCall);
    if (is_there != kViewMore) write_user(&children[written++], child_of(view));
  }
}

int janus_supervisor_close(janus_supervisor* named) {
  const Caller me = enter_free();
  const OrError<Channel*> found = check_supervisor(me, named);
  if (!found) return found.error;
  return close_supervisor(*me.task, *found.value, secret_of_supervisor(named));
}

int janus_child_ready(void) {
  const Caller me = enter();
  return me.task != nullptr ? note_ready(*me.task) : JANUS_E_NO_TASK;
}

}  // extern "C"
