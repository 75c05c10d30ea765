// SPDX-License-Identifier: Apache-2.0
// rt/sched/firing.cpp — lets due timers fire, and sees to it that a sleeping worker wakes up for the next one. Linked into
// programs that arm timers only (rt/optional.h). docs/decisions/0330
#include "rt/sched/hooks.h"
#include "rt/sched/idle_workers.h"

namespace janus {

namespace {

bool has_to_wait(const Worker& worker, const Runnable& runnable) noexcept {
  return has_priority(runnable.group) || (runnable.group != 0 && runnable.group != worker.turn_of);
}

// Charges the groups of the timers that fire. One clock reading serves all timers of one group that follow each other: it
// costs as much as to let one fire.
class FiringBill {
 public:
  FiringBill(const TurnMeter& meter, Worker& worker) noexcept
      : meter_(meter), worker_(worker), began_(meter.clock(worker)) {}
  void begin(std::uint32_t group) noexcept {
    if (group != group_) pay();
    group_ = group;
  }
  void pay() noexcept {
    if (group_ != 0) began_ = meter_.charge_outside_turn(worker_, group_, began_);
    group_ = 0;
  }

 private:
  const TurnMeter& meter_;
  Worker& worker_;
  std::uint64_t began_;
  std::uint32_t group_ = 0;
};

}  // namespace

// A look lets only a few fire; those that are left wait for the next look.
void IdleWorkers::fire(Worker& worker, WorkerTimers& whose, std::uint64_t now_ns) noexcept {
  unsigned ready = 0;
  whose.fire_some(
      now_ns, [&](void** timers, unsigned count) noexcept { ready = fire_taken(worker, timers, count); },
      [&](void*& rest) noexcept { hooks::go_on_firing(worker, rest); });
  if (ready != 0 && set_.has_sleeper()) wake_one_for(ready > 1 ? Work::kFresh : Work::kWoken);
}

// Returns how many runnables have become ready; they are queued. Uses the array for them, too.
unsigned IdleWorkers::fire_taken(Worker& worker, void** timers, unsigned count) noexcept {
  FiringBill bill(dispatcher_->turn_meter(), worker);
  unsigned ready = 0;
  for (unsigned i = 0; i < count; ++i) {
    auto& timer = *static_cast<Timer*>(timers[i]);
    bill.begin(timer.group);
    if (Runnable* const runnable = hooks::on_timer(worker, timer)) timers[ready++] = runnable;
  }
  queue_fired(worker, timers, ready);
  bill.pay();
  return ready;
}

// Queues the runnables so that they run in the order of their timers: where nothing else is ready behind those that have
// yielded, else before all others, on the deque, which is last in, first out. Those of a group that has not the turn wait
// for it in their group's queue. What is queued may run at once elsewhere, and is not looked at again.
void IdleWorkers::queue_fired(Worker& worker, void** ready, unsigned count) noexcept {
  const bool are_first = !dispatcher_->has_ready(worker);
  for (unsigned i = count; !are_first && i-- != 0;) {
    auto* const runnable = static_cast<Runnable*>(ready[i]);
    if (has_to_wait(worker, *runnable)) continue;
    ready[i] = nullptr;
    if (!worker.ready.push(Entry::woken(runnable))) dispatcher_->injector().push(runnable);
  }
  for (unsigned i = 0; i < count; ++i) {
    auto* const runnable = static_cast<Runnable*>(ready[i]);
    if (runnable == nullptr) continue;
    const std::uint32_t group = runnable->group;
    dispatcher_->queue(worker, runnable);
    Dispatcher::end_turn_for_high(worker, group);
  }
}

// While the world is to stop no timer fires: each worker stands before it goes on, and looks then.
void IdleWorkers::fire_due(Worker& worker, Timers::Whose whose) noexcept {
  if (safepoints_.is_to_stop()) return;
  const std::uint64_t now_ns = deterministic_->now_ns();
  timers_.for_each_due(worker, whose, now_ns, [&](WorkerTimers& each) noexcept { fire(worker, each, now_ns); });
}

void IdleWorkers::see_to_cover(std::uint64_t nearest) noexcept {
  if (set_.has_sleeper() && set_.is_any_asleep() && !timers_.seat().covers(nearest, true)) wake_one();
}

// By a worker that counts as asleep: until when it has to sleep; platform::kForever: another one does.
std::uint64_t IdleWorkers::sleep_until_timer() noexcept {
  return timers_.take_seat(!set_.all_sleep());
}

void IdleWorkers::see_to_cover_all() noexcept {
  see_to_cover(timers_.nearest());
}

}  // namespace janus
