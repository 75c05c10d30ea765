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

#pragma GCC diagnostic ignored "-Winvalid-offsetof"  // all supported compilers define it for any class
Nursery& nursery_of(Timer& timer) noexcept {
  return *reinterpret_cast<Nursery*>(reinterpret_cast<std::byte*>(&timer) - offsetof(Nursery, timer));
}

// Where its timer is, or was until it fired.
WorkerTimers& wheel_of(Nursery& nursery) noexcept {
  Scheduler& scheduler = nursery.runtime->scheduler;
  return scheduler.idle_workers().timers().of(*scheduler.worker(nursery.timer.owners_word - 1));
}

std::uint32_t group_of(const Runtime& runtime, const Account& account) noexcept {
  return &account == runtime.root_account ? 0 : account.index();
}

}  // namespace

void set_deadline(Worker* worker, Nursery& nursery, std::uint64_t at) noexcept {
  IdleWorkers& idle = nursery.runtime->scheduler.idle_workers();
  const std::uint64_t now_ns = nursery.runtime->scheduler.now_ns();
  if (at <= now_ns) return cancel_nursery(worker, nursery, Cause::kDeadline, Pace::kAtOnce);  // it has no members yet
  nursery.timer.group = group_of(*nursery.runtime, *nursery.account);
  nursery.timer.is_of_nursery = true;
  nursery.timer.owners_word = static_cast<std::uint16_t>(1 + (worker != nullptr ? worker->id : 0));
  WorkerTimers& where = wheel_of(nursery);
  bool is_nearest;
  {
    LockGuard guard(where.lock);
    is_nearest = idle.timers().arm(where, nursery.timer, at, now_ns);
  }
  if (is_nearest) idle.see_to_cover(at);
}

void end_deadline(Nursery& nursery) noexcept {
  if (nursery.timer.owners_word != 0) wheel_of(nursery).disarm(nursery.timer);
  nursery.timer.owners_word = 0;
}

void fire_deadline(Worker& worker, Timer& timer) noexcept {
  Nursery& nursery = nursery_of(timer);
  CancelWalk walk = begin_cancel(&worker, nursery, Cause::kDeadline);
  if (walk.first == nullptr) return;  // it has ended, or was cancelled before
  void*& rest = wheel_of(nursery).rest;
  nursery.cancel_next = static_cast<Nursery*>(rest);
  rest = &nursery;
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
