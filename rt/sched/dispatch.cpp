// SPDX-License-Identifier: Apache-2.0
// rt/sched/dispatch.cpp — what a worker runs next: the newest of its deque, else one that has yielded or was injected.
#include "rt/sched/dispatcher.h"

namespace janus {

template <Path kPath>
Runnable* Dispatcher::next(Worker& worker) noexcept {
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
template Runnable* Dispatcher::next<Path::kGeneral>(Worker& worker) noexcept;
template Runnable* Dispatcher::next<Path::kFast>(Worker& worker) noexcept;

// The deque is empty: takes from the yield queue, and then from the injector.
Runnable* Dispatcher::next_waiting(Worker& worker) noexcept {
  if (Runnable* const yielded = worker.yielded.take()) {
    fetch_yielded_ahead(worker);
    return yielded;
  }
  return injector_.is_empty() ? nullptr : take_injected(worker);
}

}  // namespace janus
