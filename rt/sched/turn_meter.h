// SPDX-License-Identifier: Apache-2.0
// rt/sched/turn_meter.h — measures each group's turn on a worker while there are groups other than group 0: in time,
// since budgets bound ops but not the time that they take; in deterministic mode in ops.
// docs/decisions/0187, 0241, 0331
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/sched/worker.h"

namespace janus {

// What watches that the runnables of groups come back from their functions; of the layer above, linked only where there
// are groups. `begin` and `end` are for the worker's owner.
//
// INVARIANT groups-are-watched: while a worker has groups other than group 0 and is awake, its alarm is set, from the
// first turn that begins after it was not. The alarm's handler stops it only while the worker sleeps or has group 0
// alone, and then forgets when the worker asked; so that turn finds that the worker has not asked for long, and begins the watch
// (ask()). It asks before it looks whether the alarm is set, so a handler that stops it in between is seen.
struct TurnWatch {
  // Any thread: gives a group that was added below `parent` its limit, for which hold_ns was said, or 0: nothing.
  void (*limit)(GroupTable& groups, std::uint32_t group, std::uint32_t parent, std::uint64_t hold_ns) noexcept;
  void (*begin)(Worker& worker) noexcept;  // sets the worker's alarm
  void (*end)(Worker& worker) noexcept;    // before its thread leaves it: closes the alarm
};

// All functions are for the worker's owner.
class TurnMeter {
 public:
  void init(bool is_deterministic) noexcept { is_deterministic_ = is_deterministic; }
  // Any thread, before the first group is added.
  void set_watch(const TurnWatch& watch) noexcept { watch_.store(&watch, std::memory_order_relaxed); }
  [[nodiscard]] const TurnWatch* watch() const noexcept { return watch_.load(std::memory_order_relaxed); }

  // Charges the group that has the turn with the cost of the turn. Then no group has the turn.
  void end(Worker& worker) noexcept;
  // Begins a turn of `group` for a runnable from another worker or the injector: it is not compared with the groups
  // that wait here, since it has waited elsewhere. Precondition: no group has the turn.
  void begin(Worker& worker, std::uint32_t group) noexcept;
  // The turn goes over to `group`, unless there is only group 0.
  void change(Worker& worker, std::uint32_t group) noexcept;
  // Charges `group`, unless it is 0, with the time since `began`, in which the worker did something for it outside its
  // turn; whoever has the turn is not charged with it. Begins no turn, since that would end the claims of all that have
  // spent less. Returns the time.
  std::uint64_t charge_outside_turn(Worker& worker, std::uint32_t group, std::uint64_t began) const noexcept;
  [[nodiscard]] std::uint64_t clock(const Worker& worker) const noexcept;
  // Makes the next dispatch, or Dispatcher::keeps_turn(), choose a group anew.
  static void end_early(Worker& worker) noexcept {
    if (worker.has_other_groups()) worker.until_fair = 0;
  }

 private:
  void start(Worker& worker, std::uint64_t now) const noexcept;
  std::uint64_t time_of_long_turn(Worker& worker, std::uint64_t now, std::uint64_t seems) const noexcept;
  void ask(Worker& worker, std::uint64_t now) const noexcept;

  bool is_deterministic_;
  std::atomic<const TurnWatch*> watch_{nullptr};
};

}  // namespace janus
