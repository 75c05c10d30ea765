// SPDX-License-Identifier: Apache-2.0
// rt/sched/parking.cpp — how a worker sleeps (idle.h says why no wake-up is lost).
#include "rt/sched/scheduler.h"

namespace janus {

// Until somebody has work for us; true if somebody claimed us, so that we count as searching. Where others are awake, a
// few short naps come first: what is left alone now may need a thief soon.
bool Scheduler::sleep(Worker& worker, bool was_searching, bool was_deferred) noexcept {
  StealBackoff& backoff = worker.backoff;
  const bool others_work = worker_count_ > 1 && idle_.sleeping() + 1 < worker_count_;
  const bool is_timed = was_deferred || (others_work && backoff.keeps_watching() && !idle_.has_timed_sleeper());
  Watch watch(is_timed);
  const std::uint64_t until = nearest_deadline(worker, now_ns(), watch, stack_reclaim_, attention_);
  is_timed ? backoff.begin_timed_park() : backoff.end_watch();
  const IdleSet::Snapshot entered = idle_.enter(worker.id, was_searching, is_timed);
  bool has_token = false;
  // Ours too: a thief that took its claim back may have hidden an entry from us for a moment.
  const bool has_own = worker.ready.size() != 0;
  if (!stopping() && !has_own && !has_work_anywhere(worker) && !any_event(watch, stack_reclaim_, attention_)) {
    if (idle_.is_last(entered) && idle_.all_slept_since(entered)) hooks::on_all_idle(worker, entered);
    if (!is_timed && pinning_ == Pinning::kWhileSeveralWork) let_last_one_go(worker, entered);
    worker.counters.parks.add();
    has_token = park(worker, until);
    if (has_token) worker.counters.wakes.add();
  }
  const bool claimed = !idle_.leave(worker.id);
  while (claimed && !has_token)
    has_token = park(worker, platform::kForever);  // whoever claimed us is about to unpark us
  if (is_timed) idle_.end_timed_sleep();
  if (!claimed && until != platform::kForever) poll_all(worker, now_ns(), watch, stack_reclaim_, attention_);
  return claimed;
}

// Stealing has not paid off lately: stays away for a while, whatever is pushed.
void Scheduler::backoff_park(Worker& worker) noexcept {
  const std::uint64_t started = now_ns();
  idle_.begin_timed_sleep();
  (void)park(worker, started + worker.backoff.backoff_ns());
  idle_.end_timed_sleep();
  worker.backoff.end_backoff(now_ns() - started);
  sched_point();
}

bool Scheduler::park(Worker& worker, std::uint64_t until_ns) noexcept {
  worker.asked.at_ns = 0;
  return is_deterministic_ ? deterministic_.park(until_ns) : worker.parker.park(until_ns);
}

}  // namespace janus
