// SPDX-License-Identifier: Apache-2.0
// rt/task/account/charge.cpp — charges the running task's operations to its account.
#include "rt/task/account/charge.h"

#include "rt/task/account/exhaustion.h"
#include "rt/task/record/panic.h"
#include "rt/task/record/runtime.h"
#include "rt/task/record/why.h"
#include "rt/task/wait/authority.h"
#include "rt/task/wait/block.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/held_world.h"
#include "rt/task/wait/slice.h"
#include "rt/task/wait/yield.h"

namespace janus {

// --- Ops -------------------------------------------------------------------------------------------------------------

int charge_ops(Task& task, std::int64_t ops) noexcept {
  return take_fuel(ops) ? yield_slow(task) : 0;
}

int charge_bytes(Task& task, std::size_t bytes) noexcept {
  return charge_ops(task, static_cast<std::int64_t>(bytes / price::kBytesPerOp));
}

template <Path kPath>
int yield(Worker& worker, Task& task) noexcept {
  worker.counters.yields.add();
  if (task.yielded_free && worker.fuel == worker.slice) {
    // A loop of nothing but yields must not be free, so the second in a row is charged as an operation.
    worker.counters.yields_charged.add();
    take_fuel_unchecked(worker, price::kCall);
  }
  if (worker.fuel < 0) [[unlikely]]
    return yield_slow(task);
  give_way<kPath>(worker, task);
  task.yielded_free = true;
  return sees_cancel(task) ? -1 : 0;
}
template int yield<Path::kGeneral>(Worker& worker, Task& task) noexcept;
template int yield<Path::kFast>(Worker& worker, Task& task) noexcept;

namespace {

// Only while the task's function runs.
bool is_grace_over(RunFrame& frame) noexcept {
  return frame.frame_sp != 0 && frame.details.grace().load(std::memory_order_relaxed) < 0;
}

}  // namespace

[[gnu::noinline, gnu::cold]] int yield_slow(Task& task) noexcept {
  const std::uint64_t debt = commit_slice_at_check(current_worker(), task);
  Scheduler& scheduler = *current_worker().scheduler;
  // Restores slice_ops before it handles the request: a later request sets it to 0 again.
  std::atomic<std::uint32_t>& slice_ops = runtime_of(current_worker()).slice_ops;
  const bool is_requested = slice_ops.load(std::memory_order_acquire) == 0;  // pairs with end_slices()
  if (is_requested) [[unlikely]] {
    slice_ops.store(runtime_of(current_worker()).options.yield_interval, std::memory_order_seq_cst);
    // The partner is stop_in_turn(), in which the world is to stop before slices end.
    if (scheduler.safepoints().is_to_stop()) stand_with_world(current_worker());
  }
  scheduler.idle_workers().poll_sources(current_worker(), is_requested ? Timers::Whose::kAll : Timers::Whose::kOwn);
  // Pays first for what was spent beyond the slice. A cancelled task does not wait for that: its account keeps the
  // debt.
  if (debt != 0 && is_told(task))
    runtime_of(current_worker()).accounts.owe(task.account, debt);
  else if (debt != 0)
    (void)charge_waiting(task, Component::kOps, debt);
  const bool told = sees_cancel(task);
  // Also in a shield.
  if (task.is_marked(TaskMarks::kSawCancel) && is_grace_over(*task.frame)) panic(task, Cause::kGraceOver, kGraceIsGone);
  commit_slice(current_worker(), task);  // if the task has waited, it has a slice already
  begin_slice(current_worker(), task);
  task.yielded_free = false;
  Dispatcher& dispatcher = scheduler.dispatcher();
  if (!dispatcher.has_ready(current_worker())) dispatcher.go_on_alone(current_worker(), task.group);
  if (dispatcher.has_ready(current_worker()) || scheduler.is_deterministic()) {
    if (!dispatcher.keeps_turn(current_worker(), task)) {
      const int seen = yield<Path::kGeneral>(current_worker(), task);
      task.yielded_free = false;  // it has paid for the slice that is over
      return seen;
    }
    scheduler.sched_point();
  }
  return told ? -1 : 0;
}

// --- The other components --------------------------------------------------------------------------------------------

bool charge_at_once(const Task& task, Component component, std::uint64_t amount) noexcept {
  return !task.is_caged() || Accounts::draw_count(task.account, component, amount);
}

int charge(Task& task, Component component, std::uint64_t amount) noexcept {
  return charge_at_once(task, component, amount) ? 0 : charge_waiting(task, component, amount);
}

namespace {

// Keeps which component is refused, and how much of it is left, for janus_last_error_text.
[[gnu::cold]] int refuse(Task& task, Component component, int error) noexcept {
  task.mark(TaskMarks::kHasError);
  task.frame->details.last_error = with_why(error, why_short_of(component));
  task.frame->details.last_error_left = runtime_of(current_worker()).accounts.left(task.account, component);
  return error;
}

}  // namespace

[[gnu::noinline, gnu::cold]] int charge_waiting(Task& task, Component component, std::uint64_t amount,
                                                BlockRequest* request) noexcept {
  Runtime& runtime = *task.nursery->runtime;
  if (component != Component::kOps && why_not_paid(runtime.accounts, task.account, component) == kErrorNoCap)
    return refuse(task, component, kErrorNoCap);
  current_worker().counters.exhaustions.add();
  const Nursery* const policy_owner = policy_owner_of(task);
  const ExhaustionPolicy policy =
      policy_owner != nullptr ? policy_owner->traits.on_exhaustion : ExhaustionPolicy::kDeny;
  if (policy == ExhaustionPolicy::kDeny && component != Component::kOps) return refuse(task, component, kErrorBudget);
  // Without `waits` nobody can recharge: only the runtime itself has given a budget, to the root task.
  const BudgetWaits* const waits = runtime.budget_waits.load(std::memory_order_relaxed);
  if (policy == ExhaustionPolicy::kFail || policy_owner == nullptr || waits == nullptr) {
    if (component == Component::kOps) runtime.accounts.owe(task.account, amount);
    end_for_budget(task, component);
  }
  switch (waits->wait(task, component, amount, request)) {
    case Recharge::kDrawn:
      return 0;
    case Recharge::kCancelled:
      (void)sees_cancel(task);
      return kCancelledCode;
    case Recharge::kNever:
      break;
  }
  end_for_budget(task, component);
}

[[gnu::cold]] void end_if_fail_rules(Task& task, const Account* payer, Component component) noexcept {
  if (payer != task.account) return;
  if (does_fail_rule(task)) end_for_budget(task, component);
}

}  // namespace janus
