// SPDX-License-Identifier: Apache-2.0
// rt/task/supervise/supervision.cpp — see supervision.h. The runner goes round a loop: it takes note of the children that
// have ended, decides about one of them, or starts one, and waits when there is nothing to do.
#include "rt/task/supervise/supervision.h"

#include "rt/base/order_hooks.h"
#include "rt/task/account/exhaustion.h"
#include "rt/task/nurseries/handle.h"
#include "rt/task/nurseries/next_ended.h"
#include "rt/task/nurseries/open.h"
#include "rt/task/nurseries/spawn.h"
#include "rt/task/run/abort_task.h"
#include "rt/task/run/await.h"
#include "rt/task/supervise/supervisor.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/deadline.h"
#include "rt/task/wait/put_aside.h"
#include "rt/task/wait/shield.h"
#include "rt/task/wait/slice.h"
#include "rt/task/wait/wake.h"
#include "rt/task/wait/yield.h"

namespace janus {

namespace {

constexpr std::uint64_t kNever = platform::kForever;
// A runner that was told to end looks so often what is left of its grace.
constexpr std::uint64_t kLookNs = 100'000;

std::uint64_t now_ns() noexcept {
  return current_worker().scheduler->now_ns();
}
std::uint64_t time_after(std::uint64_t ns) noexcept {
  const std::uint64_t now = now_ns();
  return ns < kNever - now ? now + ns : kNever;
}

// What the workers have counted; what they hold of slices is not in it yet.
Moment moment_of(Runtime& runtime) noexcept {
  Moment now{0, now_ns()};
  for (unsigned i = 0; i < runtime.scheduler.worker_count(); ++i)
    now.ops += runtime.scheduler.worker(i)->counters.ops.read();
  return now;
}

// News for the runner, or the end of a child. Others may look when the supervisor has ended already, so both are in the
// nursery, whose record stays one.
struct AwaitedNews : AwaitedUnlocked {
  Nursery& nursery;
  const bool ends_by_cancel;

  AwaitedNews(Nursery& of, bool ends) noexcept : nursery(of), ends_by_cancel(ends) {}
  static constexpr WaitReason reason() noexcept { return WaitReason::kChildren; }
  static bool are_there(Nursery& nursery) noexcept {
    return std::atomic_ref(nursery.news).load(std::memory_order_seq_cst) != 0 ||
           nursery.untold.load(std::memory_order_relaxed) != nullptr;
  }
  bool is_over() const noexcept { return are_there(nursery); }
  bool heeds_shield() const noexcept { return !ends_by_cancel; }
  void* key() const noexcept { return &nursery; }
  static void publish(Task& task, void* nursery) noexcept {
    arch::full_fence();  // the partners are count_out() and tell_runner()
    if (are_there(*static_cast<Nursery*>(nursery))) (void)wake(&current_worker(), task, reason());
  }
};

class Supervision {
 public:
  Supervision(Task& self, Channel& record, std::uint32_t secret) noexcept
      : self_(self), record_(record), secret_(secret), is_shielded_(is_shielded(self)) {}

  [[nodiscard]] EndOfRun run() noexcept;

 private:
  [[nodiscard]] ChannelHold hold() noexcept { return {&current_worker(), record_}; }
  [[nodiscard]] Supervisor& its() noexcept { return Supervisor::of(record_); }
  [[nodiscard]] Runtime& runtime() noexcept { return *record_.runtime; }
  void forget_news() noexcept { std::atomic_ref(nursery_->news).store(0, std::memory_order_seq_cst); }

  [[nodiscard]] int begin() noexcept;
  [[nodiscard]] EndOfRun go_on() noexcept;
  void forget_run() noexcept;
  void leave() noexcept;

  [[nodiscard]] bool is_told_to_end() noexcept;
  void count_grace(int children) noexcept;
  [[nodiscard]] bool is_grace_short() noexcept;
  [[nodiscard]] WaitEnd wait_until(std::uint64_t at_ns, bool ends_by_cancel) noexcept;
  void note_ends() noexcept;
  void note_end(Child& child, const Report& report) noexcept;

  [[nodiscard]] Child* next_dead() noexcept;
  [[nodiscard]] int act_on(Child& dead) noexcept;
  [[nodiscard]] int restart(Child& dead) noexcept;
  [[nodiscard]] bool take_down_after(std::uint64_t id) noexcept;
  [[nodiscard]] bool stop(std::uint64_t id) noexcept;

  [[nodiscard]] std::uint64_t queue_due() noexcept;
  void queue_group() noexcept;
  [[nodiscard]] Child* next_to_start() noexcept;
  [[nodiscard]] int start(Child& child) noexcept;
  [[nodiscard]] int wait_for_ready(std::uint64_t id, std::uint64_t ready_ns) noexcept;

  Task& self_;
  Channel& record_;
  const std::uint32_t secret_;
  const bool is_shielded_;  // by the caller: then it is not cancelled
  Nursery* nursery_ = nullptr;
  std::int64_t graces_ = 1;  // of which the shield's is made up
};

// --- Waiting ---------------------------------------------------------------------------------------------------------

bool Supervision::is_told_to_end() noexcept {
  return is_told(self_) && !is_shielded_ && !is_put_aside(self_);
}

// The grace of the shield is that which the runner and its children would have without one, each of them one.
void Supervision::count_grace(int children) noexcept {
  if (is_shielded_ || is_told(self_)) return;
  graces_ += children;
  const std::int64_t one = runtime().options.cancel_grace_ops;
  self_.frame->details.own_grace.fetch_add(children * one, std::memory_order_relaxed);
}

// Of a runner that was told to end: the children, of whom some are not told yet, spend half of the grace, and the other half
// once all of them are.
bool Supervision::is_grace_short() noexcept {
  if (!is_told_to_end()) return false;
  (void)learn_of_cancel(self_);
  const std::int64_t left = self_.frame->details.grace().load(std::memory_order_relaxed);
  return left < graces_ * runtime().options.cancel_grace_ops / 2;
}

WaitEnd Supervision::wait_until(std::uint64_t at_ns, bool ends_by_cancel) noexcept {
  const Deadline deadline(self_, at_ns);
  AwaitedNews news(*nursery_, ends_by_cancel && !is_shielded_ && !is_put_aside(self_));
  return wait_for_any(self_, *nursery_, news);
}

// --- Ends ------------------------------------------------------------------------------------------------------------

void Supervision::note_end(Child& child, const Report& report) noexcept {
  Child* gone = nullptr;
  {
    const ChannelHold held = hold();
    child.task = 0;
    child.last = report;
    const bool was_stopped = child.state == ChildState::kStops;
    child.state = ChildState::kWaits;
    if (child.is_removed || (was_stopped && child.spec.restart == RestartPolicy::kTemporary)) {
      take_out(its(), child);
      gone = &child;
    } else if (!was_stopped || child.has_failed) {
      its().dead.push_back(&child);
    }
  }
  free_child(record_, gone);
}

// In parts, so that others run meanwhile.
void Supervision::note_ends() noexcept {
  Report report{};
  Task* ended = nullptr;
  for (unsigned noted = 1; take_untold(*nursery_, report, ended); ++noted) {
    auto* const child = static_cast<Child*>(ended->arg);
    ended->lock.lock();
    (void)release_locked(&current_worker(), ended);
    count_grace(-1);
    order_hooks::release(&record_);  // what it did happens before its removal
    note_end(*child, report);
    if (noted % price::kRecordsAtOnce == 0) let_others_run(self_);
  }
}

// --- Stops -----------------------------------------------------------------------------------------------------------

// Stops a child, if it runs, and waits for its end. False: it has not ended in its time.
bool Supervision::stop(std::uint64_t id) noexcept {
  std::uint64_t handle = 0, until_ns = kNever;
  {
    const ChannelHold held = hold();
    Child* const child = its().children.find(id);
    if (child == nullptr) return true;
    if (child->is_linked()) List<Child>::remove(child);  // it is dead already, or waits for its start
    handle = child->task;
    if (handle == 0) {
      child->state = ChildState::kWaits;
      return true;
    }
    child->state = ChildState::kStops;
    if (child->spec.stop_ns != 0) until_ns = time_after(child->spec.stop_ns);
  }
  stop_task(runtime(), handle);
  for (;;) {
    forget_news();
    note_ends();
    {
      const ChannelHold held = hold();
      const Child* const child = its().children.find(id);
      if (child == nullptr || child->task != handle) return true;
    }
    if ((until_ns != kNever && now_ns() >= until_ns) || is_grace_short()) return false;
    const std::uint64_t look_ns = is_told_to_end() ? time_after(kLookNs) : kNever;
    if (wait_until(look_ns < until_ns ? look_ns : until_ns, !is_told_to_end()) == WaitEnd::kNoStack) return false;
  }
}

// Stops all children with higher numbers, the last first; if the grace gets short, all that are left at once. Temporary ones
// go. False: one has not ended in time.
bool Supervision::take_down_after(std::uint64_t id) noexcept {
  bool have_ended = true;
  for (std::uint64_t at = UINT64_MAX;;) {
    Child* gone = nullptr;
    {
      const ChannelHold held = hold();
      Child* const child = its().children.before(at);
      if (child == nullptr || child->number <= id) return have_ended;
      at = child->number;
      if (child->spec.restart == RestartPolicy::kTemporary && child->task == 0 && child->task_id != 0) {
        take_out(its(), *child);
        gone = child;
      }
    }
    free_child(record_, gone);
    if (gone == nullptr && !stop(at)) have_ended = false;
    if (is_grace_short()) {
      cancel_nursery(&current_worker(), *nursery_, Cause::kSupervisor, Pace::kInParts);
      return false;
    }
    let_others_run(self_);
  }
}

// --- Restarts --------------------------------------------------------------------------------------------------------

Child* Supervision::next_dead() noexcept {
  const ChannelHold held = hold();
  Child* const dead = its().dead.pop_front();
  if (dead != nullptr) dead->state = ChildState::kInHand;
  return dead;
}

// 0, or why it gives up.
int Supervision::restart(Child& dead) noexcept {
  Supervisor& supervisor = its();
  const SupervisorOptions& options = supervisor.options;
  const Moment now = moment_of(runtime());
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

// Decides what follows from a child's end. 0, or why it gives up.
int Supervision::act_on(Child& dead) noexcept {
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
  free_child(record_, &dead);
  return 0;
}

// --- Starts ----------------------------------------------------------------------------------------------------------

// Queues what is due, and returns when the next one will be.
std::uint64_t Supervision::queue_due() noexcept {
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

// All children of the group that wait for their start.
void Supervision::queue_group() noexcept {
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
    if (queued % price::kRecordsAtOnce == 0) let_others_run(self_);
  }
}

Child* Supervision::next_to_start() noexcept {
  const ChannelHold held = hold();
  Child* const child = its().to_start.pop_front();
  if (child == nullptr) return nullptr;
  child->state = ChildState::kInHand;
  child->is_ready = false;
  child->has_failed = false;
  return child;
}

// 0, or why it gives up.
int Supervision::start(Child& child) noexcept {
  // What its starts cost is owed, as the runner is not charged at a check.
  const bool is_dry = runtime().accounts.left_in_all(nursery_->account, Component::kOps) == 0 ||
                      runtime().accounts.left_in_all(self_.account, Component::kOps) == 0;
  const SpawnExtras extras{.budget = child.spec.has_budget ? &child.spec.budget : nullptr};
  SpawnOptions asked{runtime().options.stack_class, TaskFlags::kExposed | TaskFlags::kKept,
                     child.spec.has_budget ? &extras : nullptr, child.spec.name[0] != 0 ? child.spec.name : nullptr};
  take_fuel_unchecked(current_worker(), price::kCall + price::kCancel);  // of its stop, too
  order_hooks::acquire(&record_);  // what was done before it was added, or another was ready
  OrError<Task*> spawned = Failed{with_why(kErrorBudget, Why::kOps)};
  if (!is_dry) spawned = spawn<Path::kGeneral>(worker_of(runtime()), *nursery_, janus_child_start, &child, asked);
  if (spawned) count_grace(1);
  const std::uint64_t id = child.number, ready_ns = child.spec.ready_ns;
  {
    const ChannelHold held = hold();
    child.state = spawned ? ChildState::kRuns : ChildState::kWaits;
    if (!spawned) return spawned.error;
    if (child.task_id != 0) ++child.restarts;
    child.task = handle_of(runtime(), *spawned.value);
    child.task_id = spawned.value->id;
    child.started_ns = now_ns();
    child.last = {Outcome::kPending, 0, 0, 0, false, Cause::kNone};
  }
  launch(worker_of(runtime()), *spawned.value);
  return ready_ns != 0 ? wait_for_ready(id, ready_ns) : 0;
}

// Waits until the child is ready, or has ended, or something asks for the runner.
int Supervision::wait_for_ready(std::uint64_t id, std::uint64_t ready_ns) noexcept {
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

// --- The run ---------------------------------------------------------------------------------------------------------

EndOfRun Supervision::go_on() noexcept {
  for (;; let_others_run(self_)) {
    forget_news();
    if (is_told_to_end()) return {kCancelledCode, 0};
    {
      const ChannelHold held = hold();
      if (its().is_closed) return {0, 0};
    }
    note_ends();
    int error = 0;
    if (Child* const dead = next_dead()) {
      error = act_on(*dead);
    } else {
      const std::uint64_t due = queue_due();
      if (its().is_group_down() && its().group_due_ns <= now_ns()) queue_group();
      if (Child* const child = next_to_start())
        error = start(*child);
      else if (due > now_ns() && wait_until(due, true) == WaitEnd::kNoStack)
        error = kErrorNoMemory;
    }
    if (error != 0 && !is_told_to_end()) return {kErrorState, error};
  }
}

// 0, or why it does not begin.
int Supervision::begin() noexcept {
  Supervisor& supervisor = its();
  {
    const ChannelHold held = hold();
    if (!record_.is_alive(secret_) || supervisor.is_closed) return kErrorStale;
    if (supervisor.runner != nullptr) return kErrorState;
    supervisor.runner = &self_;
    supervisor.group_after = 0;  // all start
    supervisor.group_due_ns = 0;
    supervisor.restarts.forget();
  }
  if (supervisor.options.has_budget) let_wait_for_budgets(runtime());
  NurseryOptions asked;
  asked.on_error = ErrorPolicy::kCollect;
  asked.on_exhaustion = ExhaustionPolicy::kFail;
  asked.budget = supervisor.options.has_budget ? &supervisor.options.budget : nullptr;
  asked.name = supervisor.options.name[0] != 0 ? supervisor.options.name : nullptr;
  const OrError<Nursery*> opened = open_nursery(runtime(), &self_, asked);
  if (!opened) {
    leave();
    return opened.error;
  }
  nursery_ = opened.value;
  forget_news();
  const ChannelHold held = hold();
  supervisor.nursery = nursery_;
  return 0;
}

// Nobody runs it from now on; if it was closed, it ends.
void Supervision::leave() noexcept {
  bool is_closed;
  {
    const ChannelHold held = hold();
    its().runner = nullptr;
    is_closed = its().is_closed;
  }
  if (is_closed) end_supervisor(self_, record_, secret_);
}

// Makes the children that are left as they were before the run, when their tasks have ended.
void Supervision::forget_run() noexcept {
  for (std::uint64_t at = 0, forgotten = 1;; ++forgotten) {
    Child* gone = nullptr;
    {
      const ChannelHold held = hold();
      Child* const child = its().children.after(at);
      if (child == nullptr) return;
      at = child->number;
      if (child->is_linked()) List<Child>::remove(child);  // its death, and what was to follow from it
      child->state = ChildState::kWaits;
      child->level = 0;
      child->has_failed = false;
      if (child->spec.restart == RestartPolicy::kTemporary && child->task_id != 0) {
        take_out(its(), *child);
        gone = child;
      }
    }
    free_child(record_, gone);
    if (forgotten % price::kRecordsAtOnce == 0) let_others_run(self_);
  }
}

EndOfRun Supervision::run() noexcept {
  const int error = begin();
  if (error != 0) return {error == kErrorStale ? kErrorStale : kErrorState, error};
  const EndOfRun end = go_on();
  (void)take_down_after(0);
  (void)await_nursery(self_, *nursery_);
  note_ends();
  (void)report_of(*nursery_);  // its failures were acted upon
  forget_run();
  {
    const ChannelHold held = hold();
    its().nursery = nullptr;  // whose record may serve another one
  }
  destroy_nursery(&current_worker(), *nursery_);
  leave();
  return end;
}

struct Run {
  Supervision supervision;
  EndOfRun end;
};

}  // namespace

// Called through a pointer, like a user's function. So it asks for a stack of its own, before it holds anything; and its
// name begins as those of calls do, whose needs tests/arch/stack_need_test.py knows.
extern "C" std::int64_t janus_supervise_in_shield(void* run) noexcept {
  require_stack(current_worker());
  auto& its = *static_cast<Run*>(run);
  its.end = its.supervision.run();
  return 0;
}

EndOfRun supervise(Task& self, Channel& record, std::uint32_t secret) noexcept {
  Run run{Supervision(self, record, secret), {0, 0}};
  (void)call_in_shield(self, janus_supervise_in_shield, &run);
  return run.end;
}

}  // namespace janus
