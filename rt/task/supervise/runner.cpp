// SPDX-License-Identifier: Apache-2.0
// rt/task/supervise/runner.cpp — see runner.h.
#include "rt/task/supervise/runner.h"

#include "rt/base/order_hooks.h"
#include "rt/task/nurseries/handle.h"
#include "rt/task/nurseries/next_ended.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/deadline.h"
#include "rt/task/wait/put_aside.h"
#include "rt/task/wait/shield.h"
#include "rt/task/wait/slice.h"
#include "rt/task/wait/wake.h"
#include "rt/task/wait/yield.h"

namespace janus {

namespace {

// A runner that was told to end looks so often what is left of its grace: soon while that is being spent; if not by more ops
// than the look itself takes, later each time.
constexpr std::uint64_t kFirstLookNs = 100'000, kLastLookNs = 100'000'000;
constexpr std::int64_t kOpsOfLook = 64;

// News for the runner, or the end of a child. Others may look when the supervisor has ended already, so both are in the
// nursery, whose record stays one.
struct AwaitedNews : AwaitedUnlocked {
  const Task& runner;
  Nursery& nursery;
  const bool ends_by_cancel;

  AwaitedNews(const Task& self, Nursery& of, bool ends) noexcept : runner(self), nursery(of), ends_by_cancel(ends) {}
  static constexpr WaitReason reason() noexcept { return WaitReason::kChildren; }
  static bool are_there(Nursery& nursery) noexcept {
    return std::atomic_ref(nursery.news).load(std::memory_order_seq_cst) != 0 ||
           nursery.untold.load(std::memory_order_relaxed) != nullptr;
  }
  bool is_over() const noexcept { return are_there(nursery); }
  // Asked when it was told to end: of its own shield it knows, and one above may put this cancel aside, but not the next.
  bool heeds_shield() const noexcept { return !ends_by_cancel || is_put_aside(runner); }
  void* key() const noexcept { return &nursery; }
  static void publish(Task& task, void* nursery) noexcept {
    arch::full_fence();  // the partners are count_out() and tell_runner()
    if (are_there(*static_cast<Nursery*>(nursery))) (void)wake(&current_worker(), task, reason());
  }
};

}  // namespace

// --- Waiting ---------------------------------------------------------------------------------------------------------

Runner::Runner(Task& task, Channel& of, std::uint32_t its_secret) noexcept
    : self(task), record(of), secret(its_secret), is_in_shield_(is_shielded(task)) {}

std::uint64_t Runner::now_ns() noexcept {
  return current_worker().scheduler->now_ns();
}

std::uint64_t Runner::time_after(std::uint64_t ns) noexcept {
  const std::uint64_t now = now_ns();
  return ns < kNever - now ? now + ns : kNever;
}

bool Runner::is_told_to_end() noexcept {
  return is_told(self) && !is_in_shield_ && !is_put_aside(self);
}

// The running task pays for the walk.
void Runner::find_above() noexcept {
  unsigned steps = 0;
  for (const Task* task = &self; task != nullptr; ++steps) {
    const Nursery& nursery_of_task = *task->nursery;
    if (is_kept_by_shield(nursery_of_task)) {
      if (is_supervised(*task)) above_ = Supervisor::of(*static_cast<const Child*>(task->arg)->supervisor).run;
      break;
    }
    task = nursery_of_task.owner.load(std::memory_order_relaxed);
  }
  take_fuel_unchecked(current_worker(), steps / price::kStepsPerOp);
}

// To `first` and those above it, as far as they have not been told to end. The running task pays for the walk.
void Runner::add_graces(Runner* first, std::int64_t graces) noexcept {
  unsigned steps = 0;
  for (Runner* at = first; at != nullptr && !at->is_in_shield_ && !is_told(at->self); at = at->above_, ++steps) {
    at->graces_.fetch_add(graces, std::memory_order_relaxed);
    const std::int64_t ops = graces * at->runtime().options.cancel_grace_ops;
    at->self.frame->details.own_grace.fetch_add(ops, std::memory_order_relaxed);
  }
  take_fuel_unchecked(current_worker(), steps / price::kStepsPerOp);
}

void Runner::end_graces() noexcept {
  add_graces(above_, 1 - graces_.load(std::memory_order_relaxed));
}

// Of a runner that was told to end: the children, of whom some are not told yet, spend half of the grace, and the other half
// once all of them are. The grace may be that of a runner above, or of another shield, which has one.
bool Runner::is_grace_short() noexcept {
  if (!is_told_to_end()) return false;
  (void)learn_of_cancel(self);
  const std::atomic<std::int64_t>& grace = self.frame->details.grace();
  std::int64_t graces = 1;
  for (const Runner* at = this; at != nullptr; at = at->above_)
    if (&grace == &at->self.frame->details.own_grace) graces = at->graces_.load(std::memory_order_relaxed);
  return grace.load(std::memory_order_relaxed) < graces * runtime().options.cancel_grace_ops / 2;
}

// When it looks again. While the children that it waits for spend nothing it must not use up their grace by looking.
std::uint64_t Runner::next_look() noexcept {
  const std::int64_t left = self.frame->details.grace().load(std::memory_order_relaxed);
  const bool is_spent = seen_grace_ - left > kOpsOfLook;
  look_after_ns_ = is_spent ? kFirstLookNs : look_after_ns_ < kLastLookNs ? 2 * look_after_ns_ : kLastLookNs;
  seen_grace_ = left;
  return time_after(look_after_ns_);
}

WaitEnd Runner::wait_until(std::uint64_t at_ns, bool ends_by_cancel) noexcept {
  const Deadline deadline(self, at_ns);
  AwaitedNews news(self, *nursery, ends_by_cancel && !is_in_shield_);
  return wait_for_any(self, *nursery, news);
}

// --- Ends ------------------------------------------------------------------------------------------------------------

void Runner::note_end(Child& child, const Report& report) noexcept {
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
  free_child(record, gone);
}

// In parts, so that others run meanwhile.
void Runner::note_ends() noexcept {
  Report report{};
  Task* ended = nullptr;
  for (unsigned noted = 1; take_untold(*nursery, report, ended); ++noted) {
    auto* const child = static_cast<Child*>(ended->arg);
    ended->lock.lock();
    (void)release_locked(&current_worker(), ended);
    add_graces(this, -1);
    order_hooks::release(&record);  // what it did happens before its removal
    note_end(*child, report);
    if (noted % price::kRecordsAtOnce == 0) let_others_run(self);
  }
}

// --- Stops -----------------------------------------------------------------------------------------------------------

bool Runner::stop(std::uint64_t id) noexcept {
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
  look_after_ns_ = kFirstLookNs;
  for (;;) {
    forget_news();
    note_ends();
    {
      const ChannelHold held = hold();
      const Child* const child = its().children.find(id);
      if (child == nullptr || child->task != handle) return true;
    }
    if ((until_ns != kNever && now_ns() >= until_ns) || is_grace_short()) return false;
    const std::uint64_t look_ns = is_told_to_end() ? next_look() : kNever;
    if (wait_until(look_ns < until_ns ? look_ns : until_ns, !is_told_to_end()) == WaitEnd::kNoStack) return false;
  }
}

bool Runner::take_down_after(std::uint64_t id) noexcept {
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
    free_child(record, gone);
    if (gone == nullptr && !stop(at)) have_ended = false;
    if (is_grace_short()) {
      cancel_nursery(&current_worker(), *nursery, Cause::kSupervisor, Pace::kInParts);
      return false;
    }
    let_others_run(self);
  }
}

}  // namespace janus
