// SPDX-License-Identifier: Apache-2.0
// rt/sched/dispatch.cpp — chooses the next runnable of a worker: from its own queues or from the injector. If there is
// none, it looks for work (parking.cpp).
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

}  // namespace janus
