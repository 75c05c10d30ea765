// SPDX-License-Identifier: Apache-2.0
// rt/sched/pinning.cpp — pins workers to CPUs of their own while several of them have work, and only then: a program
// that runs one task at a time runs wherever the kernel puts it, beside other such programs. docs/decisions/0236
#include "rt/sched/scheduler.h"

namespace janus {

// The worker has found work: pins it to its CPU if another worker is busy, too.
[[gnu::noinline]] void Scheduler::keep_to_cpu(Worker& worker) noexcept {
  if (worker.is_pinned.load(std::memory_order_relaxed) || idle_.busy() < 2) return;
  worker.is_pinned.store(true, std::memory_order_relaxed);
  platform::pin_thread(worker.thread, cpus_[worker.id]);
  // A worker that has called let_go() meanwhile may have made its system call before ours.
  if (!worker.is_pinned.load(std::memory_order_relaxed)) platform::pin_thread(worker.thread, platform::kAnyCpu);
}

void Scheduler::let_go(Worker& worker) noexcept {
  if (worker.is_pinned.exchange(false, std::memory_order_relaxed))
    platform::pin_thread(worker.thread, platform::kAnyCpu);
}

// The worker has entered the sleepers without a timeout: it is unpinned, and so is the only other one still awake, if
// there is just one. That one may run a task for long without a dispatch, so it is unpinned from here.
[[gnu::noinline]] void Scheduler::let_last_one_go(Worker& worker, IdleSet::Snapshot entered) noexcept {
  let_go(worker);
  if (!idle_.is_last_but_one(entered)) return;
  for (unsigned i = 0; i < worker_count_; ++i)
    if (!idle_.is_asleep(i)) let_go(workers_[i]);
}

unsigned Scheduler::pinned() const noexcept {
  if (pinning_ != Pinning::kWhileSeveralWork) return pinned_;
  unsigned count = 0;
  for (unsigned i = 0; i < worker_count_; ++i) count += workers_[i].is_pinned.load(std::memory_order_relaxed) ? 1 : 0;
  return count;
}

}  // namespace janus
