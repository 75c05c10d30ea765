// SPDX-License-Identifier: Apache-2.0
// rt/sched/fairness.cpp — a fair round: what has waited longest, of each queue in its turn.
#include "rt/sched/scheduler.h"

namespace janus {

// What was spent beyond the round counts for the next, but for no more than one: who has once spent very much does not
// turn the deque into a queue for long.
[[gnu::noinline]] Runnable* Scheduler::next_fair(Worker& worker) noexcept {
  const std::int64_t round = options_.fair_ops, over = worker.until_fair + round;
  worker.until_fair = (over < -round ? -round : over) - worker.dispatch_ops;
  worker.counters.fair_rounds.add();
  for (unsigned i = 0; i < kFairSources; ++i) {
    const FairSource source = worker.fair_source;
    worker.fair_source = static_cast<FairSource>((static_cast<unsigned>(source) + 1) % kFairSources);
    if (Runnable* const found = take_longest_waiting(worker, source)) return found;
  }
  return nullptr;
}

Runnable* Scheduler::take_longest_waiting(Worker& worker, FairSource source) noexcept {
  switch (source) {
    case FairSource::kYielded:
      return worker.has_other_parties() ? worker.parties.take_turn(worker.yielded) : worker.yielded.take();
    case FairSource::kReady:
      return take_oldest_ready(worker);
    case FairSource::kInjector:
      break;
  }
  Runnable* const injected = injector_.take();
  if (injected != nullptr) worker.counters.injected.add();
  return injected;
}

}  // namespace janus
