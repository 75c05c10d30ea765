// SPDX-License-Identifier: Apache-2.0
// rt/sched/spread.cpp — spreads groups over the workers. Each worker shares its time among the groups that wait at it,
// and steals only when it has nothing to do. A crowd that keeps every worker busy would therefore keep another group at
// the worker where its tasks were made, with a share of that worker alone. docs/decisions/0323
//
// Every kSpreadInterval fair rounds, or slices that end with nothing else ready, a worker looks at one other worker. A look
// finds a group that this worker lacks if the group has the next turn there just then, so how long a group stays at one
// worker has no firm bound. Of group 0 it finds what waits in the yield queue, not what is in the deque.
#include "rt/sched/idle_workers.h"
#include "rt/sched/thieves.h"

namespace janus {

namespace {

Runnable* take_of_group_0(Worker& victim) noexcept {
  Runnable* found = nullptr;
  return victim.yielded.size() > 1 && victim.yielded.steal(&found, 1) == 1 ? found : nullptr;
}

}  // namespace

[[gnu::noinline]] void Thieves::spread_groups(Worker& worker, std::uint32_t running) noexcept {
  worker.rounds = (worker.rounds + 1) % WorkerFairness::kSpreadInterval;
  if (worker.rounds != 0 || workers_.count == 1) return;
  Worker& victim = workers_[choose_victim(worker)];  // may be this worker, which lacks nothing that it has
  const bool has_group_0 = running == 0 || worker.yielded.size() != 0 || worker.may_hide_group_0;
  Runnable* taken = has_group_0 ? nullptr : take_of_group_0(victim);
  if (taken == nullptr) taken = worker.groups.take_lacking(victim.groups, running);
  if (taken == nullptr) return;
  worker.counters.steals.add();
  deterministic_->trace(worker, Event::kSteal, taken);
  dispatcher_->queue(worker, taken);
  if (idle_workers_->set().has_sleeper()) idle_workers_->wake_one_for(Work::kFresh);
}

}  // namespace janus
