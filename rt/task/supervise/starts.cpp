// SPDX-License-Identifier: Apache-2.0
// rt/task/supervise/starts.cpp — see starts.h.
#include "rt/task/supervise/starts.h"

#include "rt/base/order_hooks.h"
#include "rt/task/nurseries/handle.h"
#include "rt/task/nurseries/spawn.h"
#include "rt/task/record/why.h"
#include "rt/task/wait/slice.h"
#include "rt/task/wait/yield.h"

namespace janus {

namespace {

// What the workers have counted; what they hold of slices is not in it yet. The running task pays for the looks, each of
// which may be a cache miss.
std::uint64_t ops_of_all_workers(Runtime& runtime) noexcept {
  const unsigned workers = runtime.scheduler.worker_count();
  take_fuel_unchecked(current_worker(), workers / price::kStepsPerOp);
  std::uint64_t ops = 0;
  for (unsigned i = 0; i < workers; ++i) ops += runtime.scheduler.worker(i)->counters.ops.read();
  return ops;
}

}  // namespace

// --- Restarts --------------------------------------------------------------------------------------------------------

Child* Starts::next_dead() noexcept {
  const ChannelHold held = hold();
  Child* const dead = its().dead.pop_front();
  if (dead != nullptr) dead->state = ChildState::kInHand;
  return dead;
}

// 0, or why it gives up.
int Starts::restart(Child& dead) noexcept {
  Supervisor& supervisor = its();
  const SupervisorOptions& options = supervisor.options;
  const Moment now{options.limit.asks_ops() ? ops_of_all_workers(runtime()) : 0, now_ns()};
  const bool is_allowed = supervisor.restarts.note(options.limit, now);
  {
    const ChannelHold held = hold();
    dead.state = ChildState::kWaits;
    if (!is_allowed) return with_why(kErrorState, Why::kRestarts);
    if (options.backoff.begins_anew(now.ns - dead.started_ns)) dead.level = 0;
    const std::uint64_t delay_ns = options.backoff.delay_at(dead.level);
    dead.due_ns = delay_ns < kNever - now.ns ? now.ns + delay_ns : kNever - 1;
    if (options.strategy == Strategy::kOneForOne)
      (delay_ns == 0 ? supervisor.to_start : supervisor.delayed[dead.level]).push_back(&dead);
    dead.level = static_cast<std::uint8_t>(options.backoff.next(dead.level));
    if (options.strategy == Strategy::kOneForOne) return 0;
    const std::uint64_t after = options.strategy == Strategy::kOneForAll ? 0 : dead.number - 1;
    if (after < supervisor.group_after) supervisor.group_after = after;
    if (dead.due_ns > supervisor.group_due_ns) supervisor.group_due_ns = dead.due_ns;
  }
  return take_down_after(supervisor.group_after) ? 0 : with_why(kErrorState, Why::kStopTime);
}

int Starts::act_on(Child& dead) noexcept {
  {
    const ChannelHold held = hold();
    const bool is_well = dead.last.outcome == Outcome::kSuccess && !dead.has_failed;
    dead.has_failed = false;
    if (dead.spec.restart == RestartPolicy::kTransient && is_well) {
      dead.state = ChildState::kEnded;
      return 0;
    }
    if (dead.spec.restart == RestartPolicy::kTemporary) take_out(its(), dead);
  }
  if (dead.spec.restart != RestartPolicy::kTemporary) return restart(dead);
  free_child(record, &dead);
  return 0;
}

// --- Starts ----------------------------------------------------------------------------------------------------------

std::uint64_t Starts::queue_due() noexcept {
  Supervisor& supervisor = its();
  const std::uint64_t now = now_ns();
  std::uint64_t next = kNever;
  const ChannelHold held = hold();
  for (List<Child>& delayed : supervisor.delayed) {
    Child* const first = delayed.front();
    if (first == nullptr) continue;
    if (first->due_ns <= now) {
      List<Child>::remove(first);
      supervisor.to_start.push_back(first);
      return now;  // there may be more
    }
    if (first->due_ns < next) next = first->due_ns;
  }
  if (supervisor.is_group_down() && supervisor.group_due_ns < next) next = supervisor.group_due_ns;
  return next;
}

void Starts::queue_group() noexcept {
  Supervisor& supervisor = its();
  for (std::uint64_t at = supervisor.group_after, queued = 1;; ++queued) {
    {
      const ChannelHold held = hold();
      Child* const child = supervisor.children.after(at);
      if (child == nullptr) {
        supervisor.group_after = UINT64_MAX;
        supervisor.group_due_ns = 0;
        return;
      }
      at = child->number;
      if (child->state == ChildState::kWaits && !child->is_linked()) supervisor.to_start.push_back(child);
    }
    if (queued % price::kRecordsAtOnce == 0) let_others_run(self);
  }
}

Child* Starts::next_to_start() noexcept {
  const ChannelHold held = hold();
  Child* const child = its().to_start.pop_front();
  if (child == nullptr) return nullptr;
  child->state = ChildState::kInHand;
  child->is_ready = false;
  child->has_failed = false;
  return child;
}

int Starts::start(Child& child) noexcept {
  // What its starts cost is owed, as the runner is not charged at a check.
  const bool is_dry = runtime().accounts.left_in_all(nursery->account, Component::kOps) == 0 ||
                      runtime().accounts.left_in_all(self.account, Component::kOps) == 0;
  const SpawnExtras extras{.budget = child.spec.has_budget ? &child.spec.budget : nullptr};
  SpawnOptions asked{runtime().options.stack_class, TaskFlags::kExposed | TaskFlags::kKept,
                     child.spec.has_budget ? &extras : nullptr, child.spec.name[0] != 0 ? child.spec.name : nullptr};
  take_fuel_unchecked(current_worker(), price::kCall + price::kCancel);  // of its stop, too
  order_hooks::acquire(&record);  // what was done before it was added, or another was ready
  OrError<Task*> spawned = Failed{with_why(kErrorBudget, Why::kOps)};
  if (!is_dry) spawned = spawn<Path::kGeneral>(worker_of(runtime()), *nursery, janus_child_start, &child, asked);
  if (spawned) add_graces(this, 1);
  const std::uint64_t id = child.number, ready_ns = child.spec.ready_ns;
  {
    const ChannelHold held = hold();
    child.state = spawned ? ChildState::kRuns : ChildState::kWaits;
    if (!spawned) return spawned.error;
    if (child.task_id != 0) ++child.restarts;
    child.task = handle_of(runtime(), *spawned.value);
    child.task_id = spawned.value->id;
    child.started_ns = now_ns();
  }
  launch(worker_of(runtime()), *spawned.value);
  return ready_ns != 0 ? wait_for_ready(id, ready_ns) : 0;
}

// Waits until the child is ready, or has ended, or something asks for the runner.
int Starts::wait_for_ready(std::uint64_t id, std::uint64_t ready_ns) noexcept {
  const std::uint64_t until_ns = time_after(ready_ns);
  for (;;) {
    forget_news();
    note_ends();
    {
      const ChannelHold held = hold();
      const Child* const child = its().children.find(id);
      if (its().is_closed || child == nullptr || child->is_ready || child->state != ChildState::kRuns) return 0;
    }
    if (now_ns() >= until_ns) break;
    const WaitEnd end = wait_until(until_ns, true);
    if (end == WaitEnd::kCancelled) return 0;
    if (end == WaitEnd::kNoStack) return kErrorNoMemory;
  }
  {
    const ChannelHold held = hold();
    if (Child* const child = its().children.find(id)) child->has_failed = true;
  }
  return stop(id) ? 0 : with_why(kErrorState, Why::kStopTime);
}

}  // namespace janus
