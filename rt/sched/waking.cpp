// SPDX-License-Identifier: Apache-2.0
// rt/sched/waking.cpp — waking workers (idle.h says why no wake-up is lost).
#include "rt/sched/scheduler.h"

namespace janus {

void Scheduler::unpark(Worker& worker) noexcept {
  if (is_deterministic())
    deterministic_.unpark(worker);
  else
    worker.parker.unpark();
}

[[gnu::noinline]] void Scheduler::wake_one() noexcept {
  const unsigned sleeper = idle_.claim();
  if (sleeper != IdleSet::kNobody) unpark(workers_[sleeper]);
}

[[gnu::noinline]] void Scheduler::wake_one_for(Work work) noexcept {
  if (idle_.wants_wake(work)) wake_one();
}

void Scheduler::request_attention() noexcept {
  attention_.request();
  if (is_deterministic())
    deterministic_.nudge();
  else
    wake_one();
}

}  // namespace janus
