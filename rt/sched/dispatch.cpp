// SPDX-License-Identifier: Apache-2.0
// rt/sched/dispatch.cpp — chooses what a worker runs next: a runnable from its own queues, from the injector, or from
// other workers. If there is none, the worker sleeps.
#include "rt/sched/scheduler.h"

namespace janus {

template <Path kPath>
Runnable* Scheduler::next_own(Worker& worker) noexcept {
  if (worker.until_fair <= worker.yield_bar) [[unlikely]] {
    if (worker.has_other_groups()) return next_among_groups(worker);
    if (Runnable* const oldest = next_fair(worker)) return oldest;
  }
  worker.until_fair -= worker.dispatch_ops;
  if (const Entry entry = worker.ready.pop<kPath>()) [[likely]] {
    fetch_ready_ahead(worker);
    return entry.runnable();
  }
  return next_waiting(worker);
}
template Runnable* Scheduler::next_own<Path::kGeneral>(Worker& worker) noexcept;
template Runnable* Scheduler::next_own<Path::kFast>(Worker& worker) noexcept;

Runnable* Scheduler::next(Worker& worker) noexcept {
  sched_point();
  Runnable* const own = next_own<Path::kGeneral>(worker);
  if (own != nullptr) return own;
  Runnable* const found = find_work(worker);
  if (found != nullptr && worker.has_other_groups()) begin_turn(worker, found->group);
  return found;
}

// The deque is empty: takes from the yield queue, and then from the injector.
Runnable* Scheduler::next_waiting(Worker& worker) noexcept {
  if (Runnable* const yielded = worker.yielded.take()) {
    fetch_yielded_ahead(worker);
    return yielded;
  }
  return injector_.is_empty() ? nullptr : take_injected(worker);
}

[[gnu::noinline, gnu::cold]] Runnable* Scheduler::find_work(Worker& worker) noexcept {
  bool is_searching = false;
  // Backs off only once: a worker that finds nothing after that sleeps, and is counted as asleep.
  bool backs_off = worker.backoff.is_backed_off();
  for (;;) {
    if (stopping()) {
      if (is_searching) (void)idle_.end_search();
      return nullptr;
    }
    if (wants_attention()) handle_attention(worker);
    bool was_deferred = false;
    // handle_attention() above, or hooks::on_all_idle() in sleep(), may have queued woken tasks in this worker's deque.
    Runnable* found = worker.ready.pop().runnable();
    if (found == nullptr && !injector_.is_empty()) found = take_injected(worker);
    if (found == nullptr && backs_off) {
      backoff_park(worker);
      backs_off = false;
      continue;
    }
    if (found == nullptr && worker_count_ > 1 && worker.is_steal_enabled) {
      if (!is_searching) is_searching = idle_.begin_search();
      if (is_searching) found = search(worker, was_deferred);
    }
    if (found != nullptr) {
      worker.backoff.end_watch();
      if (is_searching && idle_.end_search() && has_work_anywhere(worker)) wake_one();
      if (pinning_ == Pinning::kWhileSeveralWork) keep_to_cpu(worker);
      return found;
    }
    is_searching = sleep(worker, is_searching, was_deferred);
    sched_point();
  }
}

}  // namespace janus
