// SPDX-License-Identifier: Apache-2.0
// rt/sched/firing.cpp — lets due timers fire, and sees to it that a sleeping worker wakes up for the next one. Linked into
// programs that arm timers only (rt/optional.h). docs/decisions/0330
#include "rt/sched/hooks.h"
#include "rt/sched/idle_workers.h"

namespace janus {

// Queues the runnables so that they run in the order of their timers: where nothing else is ready behind those that have
// yielded, else before all others, on the deque, which is last in, first out. A look lets only a few fire; those that
// are left wait for the next look.
void IdleWorkers::fire(Worker& worker, WorkerTimers& whose, std::uint64_t now_ns) noexcept {
  Runnable* ready[WorkerTimers::kMostAtOnce];
  unsigned count = 0;
  whose.fire_some(
      now_ns,
      [&](Timer& timer) noexcept {
        if (Runnable* const runnable = hooks::on_timer(worker, timer)) ready[count++] = runnable;
      },
      [&](void*& rest) noexcept { hooks::go_on_firing(worker, rest); });
  if (count == 0) return;
  if (!dispatcher_->has_ready(worker)) {
    for (unsigned i = 0; i < count; ++i) dispatcher_->queue(worker, ready[i]);
  } else {
    for (unsigned i = count; i-- != 0;)
      if (!worker.ready.push(Entry::woken(ready[i]))) dispatcher_->injector().push(ready[i]);
  }
  if (set_.has_sleeper()) wake_one_for(count > 1 ? Work::kFresh : Work::kWoken);
}

void IdleWorkers::fire_due(Worker& worker, Timers::Whose whose) noexcept {
  const std::uint64_t now_ns = deterministic_->now_ns();
  timers_.for_each_due(worker, whose, now_ns, [&](WorkerTimers& each) noexcept { fire(worker, each, now_ns); });
}

void IdleWorkers::see_to_cover(std::uint64_t nearest) noexcept {
  if (set_.has_sleeper() && !timers_.seat().covers(nearest, true)) wake_one();
}

// By a worker that counts as asleep: until when it has to sleep; platform::kForever: another one does.
std::uint64_t IdleWorkers::sleep_until_timer() noexcept {
  return timers_.take_seat(!set_.all_sleep());
}

void IdleWorkers::see_to_cover_all() noexcept {
  see_to_cover(timers_.nearest());
}

}  // namespace janus
