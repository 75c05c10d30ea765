// SPDX-License-Identifier: Apache-2.0
// rt/sched/parking.cpp — what a worker without work does: it looks for some, and sleeps (idle.h says why no wake-up is
// lost).
#include "rt/sched/idle_workers.h"
#include "rt/sched/thieves.h"

namespace janus {

[[gnu::noinline, gnu::cold]] Runnable* IdleWorkers::find_work(Worker& worker) noexcept {
  bool is_searching = false;
  // Backs off only once: a worker that finds nothing after that sleeps, and is counted as asleep.
  bool backs_off = worker.backoff.is_backed_off();
  for (;;) {
    if (is_stopping()) {
      if (is_searching) (void)set_.end_search();
      return nullptr;
    }
    poll_attention(worker);
    bool was_deferred = false;
    // poll_attention() above, or hooks::on_all_idle() in sleep(), may have queued woken tasks in this worker's deque.
    Runnable* found = worker.ready.pop_apart().runnable();
    if (found == nullptr && !dispatcher_->injector().is_empty()) found = dispatcher_->take_injected(worker);
    if (found == nullptr && backs_off) {
      back_off(worker);
      backs_off = false;
      is_searching = true;
      continue;
    }
    if (found == nullptr && workers_.count > 1 && worker.is_steal_enabled) {
      if (!is_searching) is_searching = set_.begin_search();
      if (is_searching) found = thieves_->search(worker, was_deferred);
    }
    if (found != nullptr) {
      worker.backoff.end_watch();
      if (is_searching && set_.end_search() && thieves_->has_work_anywhere(worker)) wake_one();
      pins_.has_work(worker, set_);
      return found;
    }
    is_searching = sleep(worker, is_searching, was_deferred);
    deterministic_->sched_point();
  }
}

// Sleeps until there may be work. True: the worker counts as searching, as it did before, or since a waker has claimed
// it. While other workers are awake, the first few sleeps have a short timeout, as their work may need a thief soon.
bool IdleWorkers::sleep(Worker& worker, bool was_searching, bool was_deferred) noexcept {
  StealBackoff& backoff = worker.backoff;
  const bool others_work = workers_.count > 1 && set_.sleeping() + 1 < workers_.count;
  const bool is_timed = was_deferred || (others_work && backoff.keeps_watching() && !set_.has_timed_sleeper());
  Watch watch(is_timed);
  const std::uint64_t until = nearest_deadline(worker, deterministic_->now_ns(), watch, stack_reclaim_, attention_);
  is_timed ? backoff.begin_timed_park() : backoff.end_watch();
  const IdleSet::Snapshot entered = set_.enter(worker.id, was_searching, is_timed);
  bool has_token = false;
  // Our own deque, too: a thief that took its claim back may have hidden an entry from us for a moment.
  const bool has_own = worker.ready.size() != 0;
  if (!is_stopping() && !has_own && !thieves_->has_work_anywhere(worker) &&
      !any_event(watch, stack_reclaim_, attention_)) {
    if (set_.is_last(entered) && set_.all_slept_since(entered)) hooks::on_all_idle(worker, entered);
    if (!is_timed) pins_.falls_asleep(worker, set_, entered);
    worker.counters.parks.add();
    has_token = park(worker, until);
    if (has_token) worker.counters.wakes.add();
  }
  const bool claimed = !set_.leave(worker.id, was_searching);
  while (claimed && !has_token)
    has_token = park(worker, platform::kForever);  // the thread that claimed us is about to unpark us
  if (is_timed) set_.end_timed_sleep();
  if (!claimed && until != platform::kForever)
    poll_all(worker, deterministic_->now_ns(), watch, stack_reclaim_, attention_);
  return claimed || was_searching;
}

// The last thefts did not pay: sleeps for a while without entering the idle set, so no push wakes this worker. Nor does
// a push wake another worker meanwhile (IdleSet::wants_wake), since thefts of that one would not pay either.
void IdleWorkers::back_off(Worker& worker) noexcept {
  const std::uint64_t started = deterministic_->thread_ns();
  set_.begin_backoff();
  (void)park(worker, deterministic_->now_ns() + worker.backoff.backoff_ns());
  set_.end_backoff();
  worker.backoff.end_backoff(deterministic_->thread_ns() - started);
  deterministic_->sched_point();
}

bool IdleWorkers::park(Worker& worker, std::uint64_t until_ns) noexcept {
  worker.asked.at_ns = 0;
  return deterministic_->is_on() ? deterministic_->park(until_ns) : worker.parker.park(until_ns);
}

}  // namespace janus
