// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/nursery_deadline.cpp — a nursery that is cancelled at a time. Linked into programs that open nurseries
// with options (rt/optional.h).
//
// A timer that fires marks its nursery as cancelled, which every task below sees at its next check. Those that wait are
// told a part at a time: what is left to tell is kept beside the wheel (WorkerTimers::rest), and the next look at it goes
// on. The nursery's account pays the ops, and its group the time.
#include "rt/task/wait/nursery_deadline.h"

#include "rt/task/record/runtime.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/children.h"

namespace janus {

namespace {

std::uint32_t group_of(const Runtime& runtime, const Account& account) noexcept {
  return &account == runtime.root_account ? 0 : account.index();
}

}  // namespace

void set_deadline(Worker* worker, Nursery& nursery, std::uint64_t at) noexcept {
  IdleWorkers& idle = nursery.runtime->scheduler.idle_workers();
  const std::uint64_t now_ns = nursery.runtime->scheduler.now_ns();
  if (at <= now_ns) return cancel_nursery(worker, nursery, Cause::kDeadline, Pace::kAtOnce);  // it has no members yet
  const Worker& whose = worker != nullptr ? *worker : *nursery.runtime->scheduler.worker(0);
  WorkerTimers& where = idle.timers().of(whose);
  nursery.timer.group = group_of(*nursery.runtime, *nursery.account);
  nursery.timer.is_of_nursery = true;
  nursery.timer.nursery = &nursery;
  nursery.timer.where = &where;
  bool is_nearest;
  {
    LockGuard guard(where.lock);
    is_nearest = idle.timers().arm(where, nursery.timer, at, now_ns);
  }
  if (is_nearest) idle.see_to_cover(at);
}

void end_deadline(Nursery& nursery) noexcept {
  if (nursery.timer.where != nullptr) nursery.timer.where->disarm(nursery.timer);
  nursery.timer.where = nullptr;
}

void fire_deadline(Worker& worker, NurseryTimer& timer) noexcept {
  Nursery& nursery = *timer.nursery;
  CancelWalk walk = begin_cancel(&worker, nursery, Cause::kDeadline);
  if (walk.first == nullptr) return;  // it has ended, or was cancelled before
  nursery.cancel_next = static_cast<Nursery*>(timer.where->rest);
  timer.where->rest = &nursery;
}

// The first nursery is kept from ending until its account has paid.
void go_on_cancelling(Worker& worker, void*& rest) noexcept {
  CancelWalk walk;
  walk.first = static_cast<Nursery*>(rest);
  Nursery& first = *walk.first;
  first.word.fetch_add(NurseryWord::kChild, std::memory_order_relaxed);
  Account& account = *first.account;
  Runtime& runtime = runtime_of(worker);
  const std::uint32_t group = group_of(runtime, account);
  const std::uint64_t began = Scheduler::turn_clock(worker);
  tell_part(&worker, walk, &account);
  Scheduler::charge_outside_turn(worker, group, began);
  if (group != 0) runtime.accounts.owe(&account, walk.unpaid);
  release_pin(&worker, first);
  rest = walk.first;
}

}  // namespace janus
