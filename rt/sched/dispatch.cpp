// SPDX-License-Identifier: Apache-2.0
// rt/sched/dispatch.cpp — chooses the next runnable of a worker: from its own queues, from the injector, or from other
// workers. If there is none, the worker sleeps.
#include <arch/cpu.h>
#include "rt/sched/scheduler.h"

namespace janus {

template <Path kPath>
Runnable* Scheduler::next_own(Worker& worker) noexcept {
  if (worker.until_fair <= worker.dispatch_bar) [[unlikely]] {
    if (worker.has_other_groups()) return next_among_groups(worker, nullptr);
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

// While there are other groups. The group whose turn it is goes on until the turn is over (a-turn-lasts, worker.h;
// docs/decisions/0303). `yielding`: the running runnable, which is in no queue, or nullptr. It goes on if this returns
// nullptr.
[[gnu::noinline]] Runnable* Scheduler::next_among_groups(Worker& worker, const Runnable* yielding) noexcept {
  Runnable* const own = next_in_turn(worker);
  const bool goes_on = yielding != nullptr && worker.until_fair > 0 && worker.turn_of == yielding->group;
  return own != nullptr || goes_on ? own : begin_next_turn(worker, yielding);
}

// Takes the next runnable of the group whose turn it is. nullptr: there is none, or the turn is over.
[[gnu::always_inline]] inline Runnable* Scheduler::next_in_turn(Worker& worker) noexcept {
  if (arch::rdtsc() > worker.turn_until) [[unlikely]]
    TurnMeter::end_early(worker);
  if (worker.until_fair <= 0 || worker.turn_of == WorkerFairness::kNobody) [[unlikely]]
    return nullptr;
  worker.until_fair -= worker.dispatch_ops;
  if (const Entry newest = worker.ready.pop()) {
    Runnable* const runnable = newest.runnable();
    const std::uint32_t group = runnable->group;
    if (group == worker.turn_of) [[likely]] {
      fetch_ready_ahead(worker);
      return runnable;
    }
    (void)worker.ready.push(newest);  // has room: it goes back to the slot that it has just left
    worker.may_hide_group_0 = true;
    if (group != 0) {  // has become ready in this turn, and waits in no queue of its group
      TurnMeter::end_early(worker);
      return nullptr;
    }
  }
  return take_queued_in_turn(worker);
}

Runnable* Scheduler::next(Worker& worker) noexcept {
  sched_point();
  Runnable* const own = next_own<Path::kGeneral>(worker);
  if (own != nullptr) return own;
  Runnable* const found = find_work(worker);
  if (found != nullptr && worker.has_other_groups()) turn_meter_.begin(worker, found->group);
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
      pins_.has_work(worker, idle_);
      return found;
    }
    is_searching = sleep(worker, is_searching, was_deferred);
    sched_point();
  }
}

}  // namespace janus
