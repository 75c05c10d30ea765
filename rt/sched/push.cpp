// SPDX-License-Identifier: Apache-2.0
// rt/sched/push.cpp — pushes that find a full queue or a sleeping worker, and pushes from outside the workers.
// docs/decisions/0081
#include "rt/sched/scheduler.h"

namespace janus {

// Moves the newest entry to the injector: to steal it from our deque, the woken worker would need a heavy fence.
[[gnu::noinline, gnu::cold]] void Scheduler::wake_with_newest(Worker& worker) noexcept {
  if (!idle_workers_.wants_wake(Work::kFresh)) return;
  const Entry newest = worker.ready.pop_apart();
  if (newest && !newest.was_woken())
    dispatcher_.injector().push(newest.runnable());
  else if (newest)
    worker.ready.put_back(newest);
  idle_workers_.wake_one();
}

[[gnu::noinline, gnu::cold]] void Scheduler::push_back(Worker& worker, Entry entry) noexcept {
  entry.was_woken() ? push_woken(worker, entry.runnable()) : push_fresh(worker, entry.runnable());
}

[[gnu::noinline, gnu::cold]] void Scheduler::push_with_room(Worker& worker, Entry entry) noexcept {
  if (!worker.ready.make_room()) return overflow(entry.runnable());
  push_back(worker, entry);
}

// A queue of this worker is full, and there is no memory for a larger one. The injector is intrusive and never full.
[[gnu::noinline, gnu::cold]] void Scheduler::overflow(Runnable* runnable) noexcept {
  dispatcher_.injector().push(runnable);
  if (idle_workers_.set().has_sleeper()) wake_one_for(Work::kFresh);
}

[[gnu::noinline, gnu::cold]] void Scheduler::inject(Runnable* runnable) noexcept {
  if (is_deterministic() && !deterministic_.is_on_worker()) return deterministic_.submit(runnable);
  dispatcher_.injector().push(runnable);
  arch::full_fence();
  if (idle_workers_.set().has_sleeper()) wake_one_for(Work::kFresh);
}

}  // namespace janus
