// SPDX-License-Identifier: Apache-2.0
// rt/sched/timers.cpp — the timers of all workers. Linked into programs that arm timers only (rt/optional.h).
#include "rt/sched/timers.h"

#include "rt/sched/hooks.h"
#include "rt/sched/worker.h"

namespace janus {

// --- Which wheels have timers ----------------------------------------------------------------------------------------

// Under the lock of `where`, as unmark().
void Timers::mark_in_use(WorkerTimers& where) noexcept {
  where.is_in_use = true;
  const auto index = static_cast<unsigned>(&where - all_);
  in_use_[index / 64].fetch_or(std::uint64_t{1} << index % 64, std::memory_order_relaxed);
  count_.fetch_add(1, std::memory_order_relaxed);
}

void Timers::unmark(WorkerTimers& where) noexcept {
  where.is_in_use = false;
  const auto index = static_cast<unsigned>(&where - all_);
  in_use_[index / 64].fetch_and(~(std::uint64_t{1} << index % 64), std::memory_order_relaxed);
  count_.fetch_sub(1, std::memory_order_relaxed);
}

std::uint64_t Timers::nearest() const noexcept {
  std::uint64_t least = platform::kForever;
  for_each_in_use([&](const WorkerTimers& each) noexcept {
    if (each.nearest() < least) least = each.nearest();
  });
  return least;
}

// The same, once cancelled timers have been left out: a sleeper must not wake up for one that is gone, nor may such a
// one hide a deadlock.
std::uint64_t Timers::settled_nearest() noexcept {
  for (;;) {
    WorkerTimers* first = nullptr;
    for_each_in_use([&](WorkerTimers& each) noexcept {
      if (first == nullptr || each.nearest() < first->nearest()) first = &each;
    });
    if (first == nullptr) return platform::kForever;
    LockGuard guard(first->lock);
    if (first->nearest() == 0) return 0;  // something is left to do
    const std::uint64_t before = first->nearest(), now = first->wheel.bound();
    first->set_nearest(now);
    if (now == before && now != TimerWheel::kNever) return now;
    if (now != TimerWheel::kNever) continue;
    if (first->firing.try_lock()) {
      if (first->is_in_use) unmark(*first);
      first->firing.unlock();
    } else if (now == before) {  // a worker lets its last timers fire, and will look again
      return platform::kForever;
    }
  }
}

// --- Arming ----------------------------------------------------------------------------------------------------------

WorkerTimers& Timers::of(const Worker& worker) noexcept {
  return all_[virtual_ns_ != nullptr ? 0 : worker.id];
}

bool Timers::arm(WorkerTimers& where, Timer& timer, std::uint64_t at, std::uint64_t now_ns) noexcept {
  where.wheel.insert(timer, at, now_ns);
  if (!where.is_in_use) mark_in_use(where);
  if (timer.at >= where.nearest()) return false;
  where.set_nearest(timer.at);
  return true;
}

// --- Looking ---------------------------------------------------------------------------------------------------------

// The timers of another worker, by turns, if they are due and it sleeps, or so late that it seems to be held.
WorkerTimers* Timers::other_late(Worker& worker, std::uint64_t now_ns) noexcept {
  if (workers_ == 1 || virtual_ns_ != nullptr) return nullptr;
  const unsigned other = worker.next_timers = worker.next_timers + 1 < workers_ ? worker.next_timers + 1 : 0;
  if ((in_use_[other / 64].load(std::memory_order_relaxed) >> other % 64 & 1) == 0) return nullptr;
  WorkerTimers& timers = all_[other];
  const std::uint64_t patience = sleepers_->is_asleep(other) ? 0 : TimerSeat::kHeldNs;
  return timers.nearest() <= now_ns && now_ns - timers.nearest() >= patience ? &timers : nullptr;
}

void Timers::look_in_passing(Worker& worker) noexcept {
  const std::uint64_t now_ns =
      virtual_ns_ != nullptr ? virtual_ns_->load(std::memory_order_relaxed) : platform::now_ns();
  if (of(worker).nearest() <= now_ns || other_late(worker, now_ns) != nullptr) hooks::on_timers_due(worker);
}

// --- Sleeping --------------------------------------------------------------------------------------------------------

std::uint64_t Timers::take_seat(bool is_anybody_awake) noexcept {
  return seat_.take(settled_nearest(), is_anybody_awake && virtual_ns_ == nullptr);
}

}  // namespace janus
