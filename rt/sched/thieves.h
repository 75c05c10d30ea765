// SPDX-License-Identifier: Apache-2.0
// rt/sched/thieves.h — what a worker takes from other workers: from whom, how much, and what it leaves to the worker that
// has woken it. When it looks at all is decided by StealBackoff and IdleWorkers, or in fair rounds by Dispatcher.
// docs/decisions/0079, 0323, 0325
//   a worker without work takes what there is      rt/sched/thieves.cpp
//   a busy worker takes of a group that it lacks   rt/sched/spread.cpp
#pragma once

#include <cstdint>

#include "rt/sched/worker.h"

namespace janus {

class DeterministicScheduler;
class Dispatcher;
class IdleWorkers;

enum class Victim : std::uint8_t { kRandom, kRoundRobin, kMinLoaded };

// All functions but init() are for the owner of `worker`.
class Thieves {
 public:
  void init(const WorkerList& workers, Victim victim, Dispatcher& dispatcher, IdleWorkers& idle_workers,
            DeterministicScheduler& deterministic) noexcept {
    workers_ = workers;
    victim_ = victim;
    dispatcher_ = &dispatcher;
    idle_workers_ = &idle_workers;
    deterministic_ = &deterministic;
  }

  // For a worker without work. Takes a runnable from another worker; more of its queue may move to this worker's queues.
  // nullptr: found none. Sets `was_deferred` if there was one that is left to its waker for a while.
  Runnable* search(Worker& worker, bool& was_deferred) noexcept;
  // Judges the worker's last theft, unless that has been done. Called when the worker has nothing left of what the theft
  // brought, or is about to run what its victim would otherwise have run now. True: the victim stands still.
  bool judge_last(Worker& worker) noexcept;
  // Whether the injector or another worker has something queued. A woken runnable that is alone in its waker's deque
  // counts unless IdleSet::may_leave_to() allows to leave it there.
  [[nodiscard]] bool has_work_anywhere(const Worker& worker) const noexcept;
  // For a worker with work, now and then. `running`: the group of the runnable that has just run, which is in no queue.
  // Every kSpreadInterval-th call queues here a runnable of a group that only another worker has, or one of a worker that
  // stands still.
  void spread_groups(Worker& worker, std::uint32_t running) noexcept;

 private:
  Runnable* sweep(Worker& worker, bool& was_deferred) noexcept;
  unsigned choose_victim(Worker& worker) const noexcept;
  Runnable* steal_from(Worker& worker, Worker& victim, bool& was_deferred) noexcept;
  Runnable* watch_others(Worker& worker) noexcept;
  Runnable* steal_yielded(Worker& worker, Worker& victim) noexcept;
  [[nodiscard]] static std::int64_t load_of(const Worker& worker) noexcept {
    return worker.ready.size() + worker.yielded.size() + worker.groups.size();
  }
  bool defer_to_waker(Worker& victim, Entry oldest) const noexcept;
  [[nodiscard]] bool stands_still(Worker& victim, std::uint64_t least_ns) const noexcept;
  bool is_left_to_waker(const Worker& victim, Entry oldest) const noexcept;

  WorkerList workers_;
  Victim victim_;
  Dispatcher* dispatcher_;
  IdleWorkers* idle_workers_;
  DeterministicScheduler* deterministic_;
};

}  // namespace janus
