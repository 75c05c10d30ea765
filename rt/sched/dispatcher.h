// SPDX-License-Identifier: Apache-2.0
// rt/sched/dispatcher.h — chooses the next runnable of a worker among those that are queued here: in the worker's own
// queues, and in the injector, which all workers share. It never waits. Now and then it has Thieves look whether another
// worker has a group that this one lacks.
//   a dispatch                                               rt/sched/dispatch.cpp
//   a fair round, a slice after which nothing is queued      rt/sched/fairness.cpp
//   queueing, the injector, prefetching                      rt/sched/queues.cpp
//   turns, while there are groups other than group 0         rt/sched/among_groups.cpp
//   runnables that are pinned to the worker                  rt/sched/pinned.cpp
#pragma once

#include <cstdint>

#include "rt/sched/groups.h"
#include "rt/sched/injector.h"
#include "rt/sched/turn_meter.h"
#include "rt/sched/worker.h"

namespace janus {

class Thieves;
class Timers;

// Functions with a worker are for its owner, except has_ready().
class Dispatcher {
 public:
  // `fair_ops`: ops of a worker from one fair round (WorkerFairness) to the next.
  void init(unsigned workers, std::uint32_t fair_ops, bool is_deterministic, Thieves& thieves,
            Timers& timers) noexcept {
    workers_ = workers;
    fair_ops_ = fair_ops;
    groups_.init(workers);
    turn_meter_.init(is_deterministic);
    thieves_ = &thieves;
    timers_ = &timers;
  }
  // `fair_interval`: the most dispatches from one fair round to the next.
  void init_worker(Worker& worker, std::uint32_t fair_interval) noexcept {
    worker.until_fair = fair_ops_;
    worker.dispatch_ops = (fair_ops_ + fair_interval - 1) / fair_interval;
    worker.groups.init(groups_, worker.id);
  }
  void destroy() noexcept { groups_.destroy(); }
  // Any thread. Makes room for runnables of `group`, below `parent` (groups.h). Precondition: no runnable uses the
  // number at present. False: no memory.
  [[nodiscard]] bool add_group(std::uint32_t group, std::uint32_t parent) noexcept {
    return groups_.add(group, parent);
  }
  [[nodiscard]] GroupTable& group_table() noexcept { return groups_; }
  // Any thread. The longest of the long turns that the group, or one below it, has had on any worker, in ns; 0: there was none.
  [[nodiscard]] std::uint64_t longest_turn(std::uint32_t group) noexcept { return groups_.longest_turn(group); }

  // Removes and returns the runnable that runs next by the rules of WorkerFairness. nullptr: nothing is queued here.
  template <Path kPath>
  Runnable* next(Worker& worker) noexcept;
  // The same while there are groups other than group 0. `yielding`: the running runnable, which is in no queue, or
  // nullptr. If this returns nullptr, `yielding` goes on.
  Runnable* next_among_groups(Worker& worker, const Runnable* yielding) noexcept;
  // Takes the oldest runnable of the injector, and moves some more to the worker's queues. nullptr: there is none.
  Runnable* take_injected(Worker& worker) noexcept;
  // A hint.
  [[nodiscard]] std::uint64_t shared_queue_length() const noexcept { return injector_.size(); }
  // A hint.
  bool has_ready(const Worker& worker) const noexcept {
    return worker.ready.size() != 0 || worker.yielded.size() != 0 || worker.groups.size() != 0 ||
           !injector_.is_empty() || worker.pinned.is_any_ready();
  }
  // Called at the end of a slice of `running` on `worker`. True: its turn goes on, since its group has spent less than
  // all others that are ready here, and no other runnable of its group is ready.
  [[nodiscard]] bool keeps_turn(Worker& worker, const Runnable& running) noexcept {
    return worker.has_other_groups() && keeps_turn_among_groups(worker, running);
  }
  // Called at the end of a slice of `group` after which nothing else is queued here.
  void go_on_alone(Worker& worker, std::uint32_t group) noexcept;

  // Queues a runnable behind all others of its group that have yielded. False: the queue is full, and there is no
  // memory for a larger one.
  [[nodiscard]] static bool queue_yielded(Worker& worker, Runnable* runnable) noexcept;
  // The same, or else in the injector, which is intrusive and never full.
  void queue(Worker& worker, Runnable* runnable) noexcept {
    if (!queue_yielded(worker, runnable)) injector_.push(runnable);
  }
  // After what runs on `worker` has queued a runnable of `group`: if that has a high priority, the next dispatch chooses a
  // group anew.
  static void end_turn_for_high(Worker& worker, std::uint32_t group) noexcept {
    if (is_high(group) && worker.turn_of != group) TurnMeter::end_early(worker);
  }
  // Prefetches what the yield queue will return soon.
  static void fetch_yielded_ahead(const Worker& worker) noexcept;

  // While all workers stand: each runnable that is queued at one of them, or for all.
  template <typename Use>
  void for_each_queued(const WorkerList& workers, Use use) noexcept {
    for (Worker& worker : workers) {
      worker.ready.for_each(use);
      worker.yielded.for_each(use);
      groups_.for_each_queued(worker.id, use);
      if (worker.handoff != nullptr) use(worker.handoff);
    }
    injector_.for_each(use);
  }

  Injector& injector() noexcept { return injector_; }
  const Injector& injector() const noexcept { return injector_; }
  TurnMeter& turn_meter() noexcept { return turn_meter_; }

 private:
  friend struct DebuggerLayout;  // rt/abi/inspect/debugger.cpp

  Runnable* next_waiting(Worker& worker) noexcept;
  static void fetch_ready_ahead(const Worker& worker) noexcept;
  static Runnable* take_queued_in_turn(Worker& worker) noexcept;

  void look_at_others(Worker& worker, std::uint32_t group) noexcept;
  Runnable* next_fair(Worker& worker) noexcept;
  Runnable* take_longest_waiting(Worker& worker, FairSource source) noexcept;

  static Runnable* next_in_turn(Worker& worker) noexcept;
  bool keeps_turn_among_groups(Worker& worker, const Runnable& running) noexcept;
  Runnable* begin_next_turn(Worker& worker, const Runnable* yielding) noexcept;
  Runnable* begin_turn_of(Worker& worker, std::uint32_t group) noexcept;
  Runnable* begin_least_turn(Worker& worker) noexcept;
  Runnable* take_oldest_in_turn(Worker& worker) noexcept;
  [[JANUS_OPTIONAL]] static Runnable* begin_pinned_turn(Worker& worker, bool is_certain) noexcept;
  void queue_injected(Worker& worker) noexcept;

  // Runnables from outside the workers, those left to a worker that is woken for them, and those for which a queue had no
  // room.
  Injector injector_;
  GroupTable groups_;
  TurnMeter turn_meter_;
  Thieves* thieves_;
  Timers* timers_;
  unsigned workers_;  // how many share the injector
  std::uint32_t fair_ops_;
};

}  // namespace janus
