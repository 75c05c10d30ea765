// SPDX-License-Identifier: Apache-2.0
// rt/sched/among_groups.cpp — chooses what a worker runs next while there are parties other than party 0. With party 0
// alone nothing here is called.
#include "rt/sched/scheduler.h"

namespace janus {

namespace {

// The most runnables that one dispatch moves from the deque to their parties, since the next task pays for that time.
constexpr unsigned kNewestMoved = 4;
// After so many dispatches of party 0 in a row with no other party queued, the fast paths are open again.
constexpr unsigned kCalm = 61;

}  // namespace

[[gnu::noinline]] Runnable* Scheduler::next_among_parties(Worker& worker) noexcept {
  end_turn(worker);
  Runnable* next = worker.until_fair <= 0 ? next_fair(worker) : nullptr;
  if (next == nullptr) {
    worker.until_fair -= worker.dispatch_ops;
    next = take_newest_due(worker);
  }
  if (next == nullptr) next = worker.parties.take_turn(worker.yielded);
  if (next == nullptr && !injector_.is_empty()) next = take_injected(worker);
  if (next == nullptr) return nullptr;
  worker.may_bury_party_0 |= next->party == 0;
  worker.turn_of = next->party;
  worker.calm = next->party == 0 && worker.parties.size() == 0 ? static_cast<std::uint8_t>(worker.calm + 1) : 0;
  if (worker.calm != 0 && (worker.calm == kCalm || worker.ready.is_empty())) {
    worker.calm = 0;
    worker.yield_bar = 0;
    worker.turn_of = WorkerFairness::kNobody;
  }
  return next;
}

// Takes the newest runnable of the deque if its party is due. If not, one of party 0 stays in the deque, and one of
// another party moves to its party's queue.
Runnable* Scheduler::take_newest_due(Worker& worker) noexcept {
  for (unsigned moved = 0; moved < kNewestMoved; ++moved) {
    const Entry newest = worker.ready.pop();
    if (!newest) return nullptr;
    Runnable* const runnable = newest.runnable();
    if (worker.parties.is_due(runnable->party, worker.yielded.size() != 0)) {
      worker.parties.begin_turn(runnable->party);
      fetch_ready_ahead(worker);
      return runnable;
    }
    if (runnable->party == 0) {
      (void)worker.ready.push(newest);  // has room: it goes back to the slot that it has just left
      return nullptr;
    }
    (void)queue_yielded(worker, runnable);
  }
  return nullptr;
}

// Precondition: `running` is in no queue. Settles its turn first, so that what its party has spent is up to date.
[[gnu::noinline]] bool Scheduler::keeps_turn_among_parties(Worker& worker, const Runnable& running) noexcept {
  end_turn(worker);
  worker.turn_of = running.party;
  if (!injector_.is_empty()) return false;
  for (unsigned moved = 0; moved < kNewestMoved; ++moved) {
    if (!worker.parties.keeps_turn(running.party, worker.yielded.size() != 0)) return false;
    const Entry newest = worker.ready.pop();
    if (!newest) return true;
    Runnable* const runnable = newest.runnable();
    if (runnable->party == running.party || runnable->party == 0) {
      (void)worker.ready.push(newest);  // has room: it goes back to the slot that it has just left
      return runnable->party != running.party && worker.parties.keeps_turn(running.party, true);
    }
    (void)queue_yielded(worker, runnable);
  }
  return worker.parties.keeps_turn(running.party, worker.yielded.size() != 0);
}

}  // namespace janus
