// SPDX-License-Identifier: Apache-2.0
// rt/sched/spread.cpp — spreads groups over the workers. Each worker shares its time among the groups that wait at it,
// and steals only when it has nothing to do. A crowd that keeps every worker busy would therefore keep another group at
// the worker where its tasks were made, with a share of that worker alone. docs/decisions/0323
//
// Every kSpreadInterval fair rounds, or slices that end with nothing else ready, a worker looks at one other worker. A look
// finds a group that this worker lacks if the group has the next turn there just then, so how long a group stays at one
// worker has no firm bound. Of group 0 it finds what waits in the yield queue, not what is in the deque.
//
// It also looks whether other workers stand still, kWatchedAtOnce of them at a time, and takes work from one that does.
// Otherwise what is queued behind a task that waits in the kernel would wait as long, while no other worker runs out of
// work. docs/decisions/0325
#include "rt/sched/idle_workers.h"
#include "rt/sched/thieves.h"

namespace janus {

namespace {

constexpr unsigned kWatchedAtOnce = 8;
constexpr std::uint64_t kStandsStillNs = 1'000'000;  // longer than a slice takes

Runnable* take_of_group_0(Worker& victim) noexcept {
  Runnable* found = nullptr;
  return victim.yielded.size() > 1 && victim.yielded.steal(&found, 1) == 1 ? found : nullptr;
}

// Of whatever group.
Runnable* take_one(Worker& victim) noexcept {
  Entry entry;
  if (victim.ready.steal(entry) == Deque::Steal::kTaken) return entry.runnable();
  Runnable* found = nullptr;
  if (victim.yielded.steal(&found, 1) == 0) (void)victim.groups.steal(&found, 1);
  return found;
}

}  // namespace

// Takes a runnable from a worker that stands still, if one of the next few does.
[[gnu::noinline, gnu::cold]] Runnable* Thieves::watch_others(Worker& worker) noexcept {
  if (!worker.is_steal_enabled) return nullptr;
  for (unsigned i = 1; i < workers_.count && i <= kWatchedAtOnce; ++i) {
    worker.next_watched = worker.next_watched % (workers_.count - 1) + 1;  // how far behind this worker
    Worker& victim = workers_[(worker.id + worker.next_watched) % workers_.count];
    if (load_of(victim) == 0 || !stands_still(victim, kStandsStillNs)) continue;
    if (Runnable* const taken = take_one(victim)) return taken;
  }
  return nullptr;
}

[[gnu::noinline]] void Thieves::spread_groups(Worker& worker, std::uint32_t running) noexcept {
  worker.rounds = (worker.rounds + 1) % WorkerFairness::kSpreadInterval;
  if (worker.rounds != 0 || workers_.count == 1) return;
  Worker& victim = workers_[choose_victim(worker)];  // may be this worker, which lacks nothing that it has
  const bool has_group_0 = running == 0 || worker.yielded.size() != 0 || worker.may_hide_group_0;
  Runnable* taken = has_group_0 ? nullptr : take_of_group_0(victim);
  if (taken == nullptr) taken = worker.groups.take_lacking(victim.groups, running);
  if (taken == nullptr) taken = watch_others(worker);
  if (taken == nullptr) return;
  worker.counters.steals.add();
  deterministic_->trace(worker, Event::kSteal, taken);
  dispatcher_->queue(worker, taken);
  if (idle_workers_->set().has_sleeper()) idle_workers_->wake_one_for(Work::kFresh);
}

}  // namespace janus
