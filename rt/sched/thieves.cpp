// SPDX-License-Identifier: Apache-2.0
#include "rt/sched/thieves.h"

#include "rt/sched/idle_workers.h"

namespace janus {

namespace {

constexpr unsigned kTries = 4;             // victims per search, before the sweep
constexpr std::size_t kYieldedBatch = 32;  // yielded runnables stolen at once
// Work is left to its worker until that has stood still for as long.
constexpr std::uint64_t kDeferNs = 50'000;

// Tasks spawned and ended on this worker: a measure of its progress.
std::uint64_t tasks_of(const Worker& worker) noexcept {
  return worker.counters.spawned.read() + worker.counters.completed.read() + worker.counters.completed_inline.read();
}

// A count that grows with each dispatch: the worker switches to each runnable that it takes, or runs it to its end.
std::uint64_t dispatches_of(const Worker& worker) noexcept {
  const Counters& counters = worker.counters;
  return counters.switches.read() + counters.completed.read() + counters.failed.read() + counters.cancelled.read() +
         counters.panicked.read();
}

// The victim's only entry is a woken runnable (both are hints).
bool may_be_left_to_waker(const Worker& victim, Entry oldest) noexcept {
  return oldest.was_woken() && victim.ready.size() <= 1;
}

}  // namespace

// Tries a few victims chosen by the policy, then every other worker once.
[[gnu::cold]] Runnable* Thieves::search(Worker& worker, bool& was_deferred) noexcept {
  const unsigned tries = workers_.count - 1 < kTries ? workers_.count - 1 : kTries;
  for (unsigned i = 0; i < tries; ++i) {
    const unsigned victim = choose_victim(worker);
    if (victim == worker.id) continue;
    if (Runnable* const stolen = steal_from(worker, workers_[victim], was_deferred)) return stolen;
  }
  return sweep(worker, was_deferred);
}

[[gnu::cold]] Runnable* Thieves::sweep(Worker& worker, bool& was_deferred) noexcept {
  unsigned victim = static_cast<unsigned>(worker.rng.below(workers_.count));
  for (unsigned i = 0; i < workers_.count; ++i, victim = victim + 1 == workers_.count ? 0 : victim + 1) {
    if (victim == worker.id) continue;
    if (Runnable* const stolen = steal_from(worker, workers_[victim], was_deferred)) return stolen;
  }
  return nullptr;
}

[[gnu::cold]] unsigned Thieves::choose_victim(Worker& worker) const noexcept {
  switch (victim_) {
    case Victim::kRoundRobin:
      worker.next_victim = (worker.next_victim + 1) % workers_.count;
      return worker.next_victim;
    case Victim::kMinLoaded: {
      unsigned fullest = worker.id;
      std::int64_t most = 0;
      for (unsigned i = 0; i < workers_.count; ++i) {
        const std::int64_t size = i == worker.id ? 0 : load_of(workers_[i]);
        if (size > most) {
          most = size;
          fullest = i;
        }
      }
      return fullest;
    }
    case Victim::kRandom:
      break;
  }
  // One of the other workers, each with the same probability.
  const unsigned other = static_cast<unsigned>(worker.rng.below(workers_.count - 1));
  return other < worker.id ? other : other + 1;
}

[[gnu::cold]] Runnable* Thieves::steal_from(Worker& worker, Worker& victim, bool& was_deferred) noexcept {
  const Entry oldest = victim.ready.oldest();
  const bool has_others = victim.yielded.size() != 0 || victim.groups.size() != 0;
  const std::uint64_t victims_tasks = tasks_of(victim);
  // While there are more workers awake than CPUs, all is left to a worker that goes on.
  const bool is_surplus = (oldest || has_others) && idle_workers_->set().has_surplus();
  const bool is_left = is_surplus ? !stands_still(victim, kDeferNs) : oldest && defer_to_waker(victim, oldest);
  if (is_left) was_deferred = true;
  const bool takes_ready = oldest && !is_left, takes_others = has_others && !(is_left && is_surplus);
  Runnable* stolen = nullptr;
  std::uint64_t began_ns = 0;
  if (takes_ready || takes_others) {
    began_ns = deterministic_->thread_ns();
    Entry entry;
    if (dispatcher_->group_table().has_priorities()) stolen = victim.groups.steal_high();
    if (stolen == nullptr && takes_ready && victim.ready.steal(entry) == Deque::Steal::kTaken)
      stolen = entry.runnable();
    if (stolen == nullptr) stolen = steal_yielded(worker, victim);
  }
  if (stolen == nullptr) {
    worker.counters.steals_failed.add();
    return nullptr;
  }
  worker.counters.steals.add();
  worker.backoff.record_steal(victim.id, victims_tasks, began_ns, deterministic_->thread_ns());
  deterministic_->trace(worker, Event::kSteal, stolen);
  return stolen;
}

[[gnu::cold]] bool Thieves::judge_last(Worker& worker) noexcept {
  StealBackoff& backoff = worker.backoff;
  if (!backoff.has_unjudged()) return false;
  const bool goes_on = backoff.victim_goes_on(tasks_of(workers_[backoff.victim()]));
  if (backoff.judge(goes_on, goes_on ? deterministic_->thread_ns() : 0)) worker.counters.steals_poor.add();
  return !goes_on;
}

// Takes half of the victim's yield queue, or else of its groups. Returns the first; the others go to the end of the
// thief's own queues.
[[gnu::cold]] Runnable* Thieves::steal_yielded(Worker& worker, Worker& victim) noexcept {
  Runnable* stolen[kYieldedBatch];
  std::size_t count = victim.yielded.steal(stolen, kYieldedBatch);
  if (count == 0) count = victim.groups.steal(stolen, kYieldedBatch);
  for (std::size_t i = 1; i < count; ++i) dispatcher_->queue(worker, stolen[i]);
  return count != 0 ? stolen[0] : nullptr;
}

// A woken runnable that is alone in the deque is left to its waker, which mostly stops soon, so that tasks that talk to
// each other stay on one worker. It is stolen if the waker has not dispatched anything for a while.
bool Thieves::defer_to_waker(Worker& victim, Entry oldest) const noexcept {
  return is_left_to_waker(victim, oldest) &&
         !victim.standstill.in_dispatches.has_lasted(dispatches_of(victim), deterministic_->now_ns(), kDeferNs);
}

bool Thieves::stands_still(Worker& victim, std::uint64_t least_ns) const noexcept {
  return victim.standstill.in_all.has_lasted(tasks_of(victim) + dispatches_of(victim), deterministic_->now_ns(),
                                             least_ns);
}

// False if the waker sleeps: a thief that took its claim back may have hidden the entry from the waker for a moment
// (IdleWorkers::sleep). That thief looks here again before it sleeps, or when it has found something else.
bool Thieves::is_left_to_waker(const Worker& victim, Entry oldest) const noexcept {
  return may_be_left_to_waker(victim, oldest) && !idle_workers_->set().is_asleep(victim.id);
}

[[gnu::cold]] bool Thieves::has_work_anywhere(const Worker& worker) const noexcept {
  if (!dispatcher_->injector().is_empty()) return true;
  for (const Worker& other : workers_) {
    if (other.id == worker.id) continue;
    if (other.yielded.size() != 0 || other.groups.size() != 0) return true;
    const Entry oldest = other.ready.oldest();
    if (oldest && !(may_be_left_to_waker(other, oldest) && idle_workers_->set().may_leave_to(other.id))) return true;
  }
  return false;
}

}  // namespace janus
