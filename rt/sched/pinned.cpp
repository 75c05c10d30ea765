// SPDX-License-Identifier: Apache-2.0
// rt/sched/pinned.cpp — runnables that are pinned to a worker (WorkerPinned, worker.h). Linked into programs that pin only
// (rt/optional.h). docs/decisions/0342
#include "rt/sched/hooks.h"
#include "rt/sched/suspend.h"

namespace janus {

namespace {

void publish_pinned(Worker& worker, void* yielded, void*) noexcept {
  auto* const runnable = static_cast<Runnable*>(yielded);
  worker.scheduler->trace_event(worker, Event::kBlock, runnable);
  worker.pinned.queued.push(runnable);
}

}  // namespace

// From here on each dispatch of the worker goes by turns, until a turn of group 0 ends with nothing pinned and no other
// group (begin_next_turn()).
void Scheduler::add_pin(Worker& worker, const Runnable& running) noexcept {
  worker.counters.pinned.add();
  if (worker.has_other_groups()) return;
  worker.dispatch_bar = WorkerFairness::kOutOfReach;
  worker.scheduler->dispatcher_.turn_meter().change(worker, running.group);
}

void Scheduler::remove_pin(Worker& worker) noexcept {
  worker.counters.pinned.add(~std::uint64_t{0});
}

// The fence is step 2 of a submitter (no-lost-wakeup, idle.h); its partner is that of the home worker, which looks at its
// own queue before it sleeps.
void Scheduler::push_pinned(Worker& home, Runnable* runnable) noexcept {
  if (is_deterministic() && !deterministic_.is_on_worker()) return deterministic_.submit(runnable);
  home.pinned.queued.push(runnable);
  arch::full_fence();
  idle_workers_.wake(home);
}

bool DeterministicScheduler::queue_if_pinned(Runnable* sent) noexcept {
  Worker* const home = hooks::home_of(sent);
  if (home == nullptr) return false;
  home->pinned.queued.push(sent);
  home->scheduler->idle_workers().wake(*home);
  return true;
}

bool Scheduler::yield_pinned(Worker& worker, Runnable* yielding, Suspension& self) noexcept {
  Runnable* const to = dispatcher_.next_among_groups(worker, yielding);
  if (to != nullptr) return go_on_with<Path::kGeneral>(worker, self, to, {publish_pinned, yielding, nullptr});
  sched_point();  // other logical workers have to step
  return false;
}

// If one wakes that has backed off, it searches a little early.
void IdleWorkers::wake(Worker& worker) noexcept {
  if (set_.claim_one(worker.id) || set_.has_backed_off()) unpark(worker);
}

// Begins a turn of the oldest one's group with it. Every other turn may begin so, if it is the group's turn: then neither
// those that are pinned nor the others wait for more than two turns of their group. `is_certain`: nothing else is ready.
Runnable* Dispatcher::begin_pinned_turn(Worker& worker, bool is_certain) noexcept {
  const Runnable* const oldest = worker.pinned.queued.oldest();
  if (oldest == nullptr) return nullptr;
  const std::uint32_t group = oldest->group;
  worker.pinned.has_turn = is_certain || !worker.pinned.has_turn;
  if (!worker.pinned.has_turn) return nullptr;
  const bool does_group_0_wait = worker.yielded.size() != 0 || !worker.ready.is_empty();
  if (!is_certain && !worker.groups.is_due(group, does_group_0_wait)) return nullptr;
  worker.groups.begin_turn(group);
  worker.turn_of = group;
  return worker.pinned.queued.take();
}

}  // namespace janus
