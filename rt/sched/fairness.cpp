// SPDX-License-Identifier: Apache-2.0
// rt/sched/fairness.cpp — a fair round: takes the runnable that has waited longest, from each queue in rotation. Also
// the end of a slice after which nothing else is queued. docs/decisions/0140, 0323
#include "rt/sched/dispatcher.h"
#include "rt/sched/thieves.h"
#include "rt/sched/timers.h"

namespace janus {

// Once a fair round, during which `group` has the turn: whether this worker should do more than it has queued.
[[gnu::noinline]] void Dispatcher::look_at_others(Worker& worker, std::uint32_t group) noexcept {
  thieves_->spread_groups(worker, group);
  if (timers_->are_any()) [[unlikely]]
    timers_->look_in_passing(worker);
}

// Ops spent beyond this round count for the next ones, but at most two rounds' worth: otherwise a task that has once
// spent very much would make the worker take the oldest for many dispatches.
[[gnu::noinline]] Runnable* Dispatcher::next_fair(Worker& worker) noexcept {
  const std::int64_t round = fair_ops_, over = worker.until_fair + round;
  worker.until_fair = (over < -round ? -round : over) - worker.dispatch_ops;
  worker.counters.fair_rounds.add();
  look_at_others(worker, 0);
  for (unsigned i = 0; i < kFairSources; ++i) {
    const FairSource source = worker.fair_source;
    worker.fair_source = static_cast<FairSource>((static_cast<unsigned>(source) + 1) % kFairSources);
    if (Runnable* const found = take_longest_waiting(worker, source)) return found;
  }
  return nullptr;
}

Runnable* Dispatcher::take_longest_waiting(Worker& worker, FairSource source) noexcept {
  switch (source) {
    case FairSource::kYielded:
      return worker.yielded.take();
    case FairSource::kReady:
      return worker.ready.take_oldest().runnable();
    case FairSource::kInjector:
      break;
  }
  Runnable* const injected = injector_.take();
  if (injected != nullptr) worker.counters.injected.add();
  return injected;
}

// The turn is settled now and then, since a group that comes later has no claim to compensation for the time before.
[[gnu::noinline]] void Dispatcher::go_on_alone(Worker& worker, std::uint32_t group) noexcept {
  if (worker.rounds == 0) turn_meter_.change(worker, group);
  thieves_->spread_groups(worker, group);
}

}  // namespace janus
