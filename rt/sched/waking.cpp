// SPDX-License-Identifier: Apache-2.0
// rt/sched/waking.cpp — waking workers (idle.h says why no wake-up is lost).
#include "rt/sched/idle_workers.h"

namespace janus {

void IdleWorkers::unpark(Worker& worker) noexcept {
  if (deterministic_->is_on())
    deterministic_->unpark(worker);
  else
    worker.parker.unpark();
}

[[gnu::noinline]] void IdleWorkers::wake_one() noexcept {
  const unsigned sleeper = set_.claim();
  if (sleeper != IdleSet::kNobody) unpark(workers_[sleeper]);
}

[[gnu::noinline]] void IdleWorkers::wake_one_for(Work work) noexcept {
  if (set_.wants_wake(work)) wake_one();
}

void IdleWorkers::request_attention() noexcept {
  attention_.request();
  if (deterministic_->is_on())
    deterministic_->nudge();
  else
    wake_one();
}

void IdleWorkers::stop() noexcept {
  is_stopping_.store(true, std::memory_order_seq_cst);
  for (Worker& worker : workers_) unpark(worker);
}

}  // namespace janus
