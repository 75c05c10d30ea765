// SPDX-License-Identifier: Apache-2.0
// rt/sched/among_groups.cpp — chooses what a worker runs next while there are groups other than group 0. With group 0
// alone nothing here is called.
#include "rt/sched/scheduler.h"

namespace janus {

namespace {

// The most runnables that one dispatch moves from the deque to their groups, since the next task pays for that time.
constexpr unsigned kNewestMoved = 4;
// After so many dispatches of group 0 in a row with no other group queued, the fast paths are open again.
constexpr unsigned kCalm = 61;

}  // namespace

[[gnu::noinline]] Runnable* Scheduler::next_among_groups(Worker& worker) noexcept {
  end_turn(worker);
  Runnable* next = worker.until_fair <= 0 ? next_fair(worker) : nullptr;
  if (next == nullptr) {
    worker.until_fair -= worker.dispatch_ops;
    next = take_newest_due(worker);
  }
  if (next == nullptr) next = worker.groups.take_turn(worker.yielded);
  if (next == nullptr && !injector_.is_empty()) next = take_injected(worker);
  if (next == nullptr) return nullptr;
  worker.may_bury_group_0 |= next->group == 0;
  worker.turn_of = next->group;
  worker.calm = next->group == 0 && worker.groups.size() == 0 ? static_cast<std::uint8_t>(worker.calm + 1) : 0;
  if (worker.calm != 0 && (worker.calm == kCalm || worker.ready.is_empty())) {
    worker.calm = 0;
    worker.yield_bar = 0;
    worker.turn_of = WorkerFairness::kNobody;
  }
  return next;
}

// Takes the newest runnable of the deque if its group is due. If not, one of group 0 stays in the deque, and one of
// another group moves to its group's queue.
Runnable* Scheduler::take_newest_due(Worker& worker) noexcept {
  for (unsigned moved = 0; moved < kNewestMoved; ++moved) {
    const Entry newest = worker.ready.pop();
    if (!newest) return nullptr;
    Runnable* const runnable = newest.runnable();
    if (worker.groups.is_due(runnable->group, worker.yielded.size() != 0)) {
      worker.groups.begin_turn(runnable->group);
      fetch_ready_ahead(worker);
      return runnable;
    }
    if (runnable->group == 0) {
      (void)worker.ready.push(newest);  // has room: it goes back to the slot that it has just left
      return nullptr;
    }
    (void)queue_yielded(worker, runnable);
  }
  return nullptr;
}

// Precondition: `running` is in no queue. Settles its turn first, so that what its group has spent is up to date.
[[gnu::noinline]] bool Scheduler::keeps_turn_among_groups(Worker& worker, const Runnable& running) noexcept {
  end_turn(worker);
  worker.turn_of = running.group;
  if (!injector_.is_empty()) return false;
  for (unsigned moved = 0; moved < kNewestMoved; ++moved) {
    if (!worker.groups.keeps_turn(running.group, worker.yielded.size() != 0)) return false;
    const Entry newest = worker.ready.pop();
    if (!newest) return true;
    Runnable* const runnable = newest.runnable();
    if (runnable->group == running.group || runnable->group == 0) {
      (void)worker.ready.push(newest);  // has room: it goes back to the slot that it has just left
      return runnable->group != running.group && worker.groups.keeps_turn(running.group, true);
    }
    (void)queue_yielded(worker, runnable);
  }
  return worker.groups.keeps_turn(running.group, worker.yielded.size() != 0);
}

}  // namespace janus
