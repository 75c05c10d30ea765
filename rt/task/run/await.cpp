// SPDX-License-Identifier: Apache-2.0
// rt/task/run/await.cpp — waiting for a nursery to end.
#include "rt/task/run/await.h"

#include "rt/base/order_hooks.h"
#include "rt/task/nurseries/deadlock.h"
#include "rt/task/nurseries/open.h"
#include "rt/task/nurseries/priority.h"
#include "rt/task/nurseries/result.h"
#include "rt/task/record/price.h"
#include "rt/task/record/runtime.h"
#include "rt/task/run/run.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/children.h"
#include "rt/task/wait/wait.h"
#include "rt/task/wait/wake.h"
#include "rt/task/wait/yield.h"

namespace janus {

namespace {

// Called when there is no stack to continue on. Other tasks may end and free theirs. If none does for long, the next
// task to start ends without having run, since all others may be waiting for tasks that cannot start.
[[gnu::noinline, gnu::cold]] void handle_stack_starvation(unsigned& starved_rounds) noexcept {
  constexpr unsigned kPatience = 1000;
  Worker& worker = current_worker();
  arch::pause();
  worker.scheduler->sched_point();
  if (++starved_rounds < kPatience) return;
  starved_rounds = 0;
  if (Runnable* const next = Scheduler::take_fresh_if(worker, [](Runnable*) { return true; })) refuse_start(next);
}

struct AwaitedChildren : AwaitedUnlocked {
  Nursery& nursery;

  explicit AwaitedChildren(Nursery& their) noexcept : nursery(their) {}
  static constexpr WaitReason reason() noexcept { return WaitReason::kChildren; }
  bool is_over() const noexcept { return is_terminal(nursery); }
  // A cancel is passed on to the children once.
  static bool heeds_cancel(const Task& self) noexcept { return !has_passed_cancel_on(self); }
  void* key() const noexcept { return &nursery; }
  static void publish(Task& task, void* nursery) noexcept {
    arch::full_fence();  // the partner is count_out()
    if (is_terminal(*static_cast<Nursery*>(nursery))) (void)wake(&current_worker(), task, reason());
  }
};

// Not for a task with a deadline: it could go on only once the child that runs on its stack has ended; nor for one that has
// stopped the world. Nor for one that is pinned: another worker may go on with the child, and so with the stack. A child that
// its owner runs has the owner's turn until it gives way, and afterwards the owner may be without one. If that has a
// priority, each await of one of its nurseries comes through here (NurseryTraits::has_leftovers).
[[gnu::noinline]] void run_own_children(Task& self, Nursery& nursery) noexcept {
  if (self.is_marked(TaskMarks::kHasContext)) {
    const RunDetails& details = self.frame->details;
    constexpr std::uint8_t kStay = RunDetails::kHoldsWorld | RunDetails::kIsPinned;
    if (details.deadline != nullptr || (details.context & kStay) != 0) return;
  }
  run_children<Path::kGeneral>(self, nursery);
  if (self.has_priority()) begin_turn_again(self);
}

[[gnu::noinline, gnu::cold]] bool wait_for_children(Task& self, Nursery& nursery) noexcept {
  AwaitedChildren children(nursery);
  for (unsigned starved_rounds = 0;;) {
    const WaitEnd end = wait(self, children);
    if (end == WaitEnd::kOver) return true;
    if (end == WaitEnd::kTimedOut) return false;
    if (end == WaitEnd::kCancelled && sees_cancel(self))
      cancel_nursery(&current_worker(), nursery, Cause::kParent, Pace::kInParts);
    else
      handle_stack_starvation(starved_rounds);
    run_own_children(self, nursery);
  }
}

// Runs those children that are next on this worker, and waits for the others. Precondition: the owner has closed the
// nursery. False: the task's deadline has passed.
[[gnu::noinline]] bool await_children(Task& self, Nursery& nursery) noexcept {
  run_own_children(self, nursery);
  if (sees_cancel(self)) cancel_nursery(&current_worker(), nursery, Cause::kParent, Pace::kInParts);
  constexpr std::uint64_t kWait = NurseryWord::kClosed | NurseryWord::kWaiter;
  std::uint64_t word;
  if (is_at_home(nursery, current_worker()))
    word = publish_count(nursery, kWait);
  else
    word = nursery.word.fetch_or(kWait, std::memory_order_acq_rel) | kWait;
  if (!NurseryWord::is_terminal(word) && !wait_for_children(self, nursery)) return false;
  order_hooks::acquire(&nursery);
  return true;
}

}  // namespace

bool await_nursery(Task& self, Nursery& nursery) noexcept {
  nursery.alive.store(Nursery::kClosing, std::memory_order_release);
  return await_children(self, nursery);
}

namespace {

[[gnu::noinline]] std::int64_t await_closing(Task& self, Nursery& nursery) noexcept {
  link_current(*self.frame);
  self.frame->current = nursery.previous_current;
  (void)await_children(self, nursery);
  const std::int64_t code = report_of(nursery).code;
  destroy_nursery(&current_worker(), nursery);
  return code;
}

}  // namespace

// The fast path first runs the children that are next. If every child was counted in and out on this worker, and no
// other thread has used the nursery, its end needs no atomic operation: only a child could still use the nursery
// legally, and there is none.
template <Path kPath>
std::int64_t await_current(Task& self, Nursery& nursery) noexcept {
  nursery.alive.store(Nursery::kClosing, std::memory_order_release);
  if constexpr (kPath == Path::kFast) {
    run_children<kPath>(self, nursery);
    Worker& worker = current_worker();
    if (is_at_home(nursery, worker) && nursery.local_count == 0 && !self.is_marked(TaskMarks::kSawCancel) &&
        !is_told(nursery) && nursery.life().end_alone() && !nursery.traits.has_leftovers && !nursery.traits.is_linked)
        [[likely]] {
      order_hooks::acquire(&nursery);
      self.frame->current = nursery.previous_current;
      recycle(worker, nursery);
      return 0;
    }
    nursery.alive.store(Nursery::kClosing, std::memory_order_release);  // end_alone() may have left kEnding
  }
  return await_closing(self, nursery);
}
template std::int64_t await_current<Path::kGeneral>(Task& self, Nursery& nursery) noexcept;
template std::int64_t await_current<Path::kFast>(Task& self, Nursery& nursery) noexcept;

void await_from_thread(Nursery& nursery) noexcept {
  (void)await_from_thread_until(nursery, platform::kForever);
}

[[gnu::noinline, gnu::cold]] bool await_from_thread_until(Nursery& nursery, std::uint64_t until_ns) noexcept {
  close_nursery(nullptr, nursery);
  const std::uint64_t word = nursery.word.fetch_or(NurseryWord::kWaiter, std::memory_order_acq_rel);
  if (NurseryWord::is_terminal(word)) {
    order_hooks::acquire(&nursery);
    return true;
  }
  look_again_for_deadlock(nursery.runtime->scheduler);
  for (;;) {
    // A late waker of the record's previous nursery may increment `ended`, too, so only the word decides.
    const std::uint32_t seen = nursery.ended.load(std::memory_order_acquire);
    if (is_terminal(nursery)) {
      order_hooks::acquire(&nursery);
      return true;
    }
    if (until_ns != platform::kForever && platform::now_ns() >= until_ns) {
      nursery.word.fetch_and(~NurseryWord::kWaiter, std::memory_order_relaxed);  // deadlock.cpp reads it
      return false;
    }
    platform::wait(nursery.ended, seen, until_ns);
  }
}

namespace {

void keep_unread(const Nursery& nursery, const Report& report, UnreadFailure& unread) noexcept {
  if (unread.is_there || report.outcome == Outcome::kCancelled) return;
  unread.is_there = true;
  unread.report = report;
  static_assert(sizeof unread.nursery == sizeof nursery.name);
  __builtin_memcpy(unread.nursery, nursery.name, sizeof unread.nursery);
}

}  // namespace

[[gnu::noinline, gnu::cold]] std::int64_t end_left_open(Task& task, std::int64_t code, bool cancel,
                                                        UnreadFailure* unread) noexcept {
  RunFrame& frame = *task.frame;
  // The newest first: the nurseries opened since the task last left its worker, then the earlier ones.
  link_current(frame);
  frame.current = nullptr;
  unsigned ended = 0;
  while (Nursery* const nursery = newest_nursery(task)) {
    if (nursery->traits.is_of_own_half()) break;
    if (++ended % price::kRecordsAtOnce == 0) let_others_run(task);
    if (cancel) cancel_nursery(&current_worker(), *nursery, Cause::kParent, Pace::kInParts);
    (void)await_nursery(task, *nursery);
    const bool was_read = nursery->was_read.load(std::memory_order_relaxed);
    const Report report = report_of(*nursery);
    const bool is_failure =
        report.outcome != Outcome::kSuccess && (report.outcome != Outcome::kCancelled || is_cancelled(task));
    if (!was_read && code >= 0 && is_failure) {
      code = report.code;
      if (unread != nullptr) keep_unread(*nursery, report, *unread);
    }
    destroy_nursery(&current_worker(), *nursery);
  }
  return code;
}

}  // namespace janus
