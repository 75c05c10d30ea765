// SPDX-License-Identifier: Apache-2.0
// rt/sched/parking.cpp — what a worker without work does: it looks for some, and sleeps (idle.h says why no wake-up is
// lost). docs/decisions/0354
#include "rt/sched/idle_workers.h"
#include "rt/sched/thieves.h"

namespace janus {

void IdleWorkers::poll_sources(Worker& worker, Timers::Whose whose) noexcept {
  attention_.poll(worker, 0);
  if (timers_.are_any()) fire_due(worker, whose);
}

[[gnu::noinline, gnu::cold]] Runnable* IdleWorkers::find_work(Worker& worker) noexcept {
  Search search;
  search.may_exceed_cpus = thieves_->judge_last(worker);
  // Backs off only once: a worker that finds nothing after that sleeps, and is counted as asleep.
  bool backs_off = worker.backoff.is_backed_off();
  for (;;) {
    if (is_stopping()) {
      if (search.is_counted) (void)set_.end_search();
      return nullptr;
    }
    poll_sources(worker, Timers::Whose::kAll);
    search.was_deferred = false;
    // poll_sources() above, or hooks::on_all_idle() in sleep(), may have queued woken tasks here.
    Runnable* found = worker.ready.pop_apart().runnable();
    if (found == nullptr && dispatcher_->has_ready(worker)) found = dispatcher_->next<Path::kGeneral>(worker);
    if (found != nullptr) worker.backoff.forget();
    if (found == nullptr && backs_off) {
      back_off(worker);
      backs_off = false;
      search.is_counted = true;
      continue;
    }
    if (found == nullptr && workers_.count > 1 && worker.is_steal_enabled) found = take_from_others(worker, search);
    if (found != nullptr) {
      worker.backoff.end_rounds();
      if (search.is_counted && set_.end_search() && thieves_->has_work_anywhere(worker)) wake_one();
      if (!search.was_woken) worker.backoff.begin_watch();
      pins_.has_work(worker, set_);
      if (timers_.are_any()) see_to_cover_all();
      return found;
    }
    sleep(worker, search);
    deterministic_->sched_point();
  }
}

// nullptr also if the worker does not search: half of the workers do, or more are awake than there are CPUs.
[[gnu::noinline, gnu::cold]] Runnable* IdleWorkers::take_from_others(Worker& worker, Search& search) noexcept {
  if (set_.has_surplus() && !search.may_exceed_cpus) {
    if (search.is_counted) (void)set_.end_search();  // sleep() sees to it that a worker watches
    search.is_counted = false;
    return nullptr;
  }
  if (!search.is_counted) search.is_counted = set_.begin_search();
  return search.is_counted ? thieves_->search(worker, search.was_deferred) : nullptr;
}

// Sleeps until there may be work. After that the worker counts as searching if it did before, or if a waker has claimed
// it. One worker's sleep has a timeout while there are more workers awake than CPUs, and a few sleeps while others are
// awake whose work needed a thief lately.
[[gnu::noinline, gnu::cold]] void IdleWorkers::sleep(Worker& worker, Search& search) noexcept {
  StealBackoff& backoff = worker.backoff;
  const bool others_work = workers_.count > 1 && set_.sleeping() + 1 < workers_.count;
  const bool has_to_watch = (others_work && backoff.keeps_watching()) || set_.has_surplus();
  const bool is_timed = search.was_deferred || (has_to_watch && !set_.has_timed_sleeper());
  Watch watch(is_timed, search.was_deferred);
  const std::uint64_t event = nearest_deadline(worker, deterministic_->now_ns(), watch, stack_reclaim_, attention_);
  std::uint64_t timer = platform::kForever;
  is_timed ? backoff.begin_timed_park(search.was_deferred) : backoff.end_rounds();
  const IdleSet::Snapshot entered = set_.enter(worker.id, search.is_counted, is_timed);
  bool has_token = false;
  // Our own deque, too: a thief that took its claim back may have hidden an entry from us for a moment. And what is pinned
  // to this worker, which nobody else looks at.
  const bool has_own = worker.ready.size() != 0 || worker.pinned.is_any_ready();
  if (!is_stopping() && !has_own && (set_.may_leave_to_others(entered) || !thieves_->has_work_anywhere(worker)) &&
      !any_event(watch, stack_reclaim_, attention_)) {
    if (timers_.are_any()) timer = sleep_until_timer();
    if (set_.is_last(entered) && set_.all_slept_since(entered) && !timers_.are_any())
      hooks::on_all_idle(worker, entered);
    if (!is_timed) pins_.falls_asleep(worker, set_, entered);
    worker.counters.parks.add();
    has_token = park(worker, timer < event ? timer : event);
    if (has_token) worker.counters.wakes.add();
  }
  if (timer != platform::kForever) timers_.leave_seat(timer);
  const bool claimed = !set_.leave(worker.id, search.is_counted);
  while (claimed && !has_token)
    has_token = park(worker, platform::kForever);  // the thread that claimed us is about to unpark us
  if (is_timed) set_.end_timed_sleep();
  search.may_exceed_cpus = is_timed && !claimed;
  search.was_woken = claimed;
  if (!claimed && event != platform::kForever)
    poll_all(worker, deterministic_->now_ns(), watch, stack_reclaim_, attention_);
  if (claimed) search.is_counted = true;
}

// The last thefts did not pay: sleeps for a while without entering the idle set, so no push wakes this worker. Nor does
// a push wake another worker meanwhile (IdleSet::wants_wake), since thefts of that one would not pay either.
[[gnu::noinline, gnu::cold]] void IdleWorkers::back_off(Worker& worker) noexcept {
  set_.begin_backoff();
  (void)park(worker, deterministic_->now_ns() + worker.backoff.backoff_ns());
  set_.end_backoff();
  deterministic_->sched_point();
}

bool IdleWorkers::park(Worker& worker, std::uint64_t until_ns) noexcept {
  worker.asked.at_ns = WorkerFairness::kLongAgo;
  safepoints_.announce(worker);
  const bool has_token = deterministic_->is_on() ? deterministic_->park(until_ns) : worker.parker.park(until_ns);
  safepoints_.come_back(worker);
  return has_token;
}

}  // namespace janus
