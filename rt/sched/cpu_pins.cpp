// SPDX-License-Identifier: Apache-2.0
#include "rt/sched/cpu_pins.h"

namespace janus {

void CpuPins::init(Pinning pinning, const platform::Cpus* cpus, const WorkerList& workers, std::int16_t* own) noexcept {
  pinning_ = pinning;
  workers_ = workers;
  own_ = own;
  const bool has_some = pinning != Pinning::kNever && cpus != nullptr && cpus->allowed != 0;
  always_ = has_some && pinning == Pinning::kAlways ? workers.count : 0;
  for (unsigned i = 0; i < workers.count; ++i)
    own_[i] = static_cast<std::int16_t>(has_some ? cpus->ids[i % cpus->allowed] : platform::kAnyCpu);
}

unsigned CpuPins::count() const noexcept {
  if (pinning_ != Pinning::kWhileSeveralWork) return always_;
  unsigned count = 0;
  for (const Worker& worker : workers_) count += worker.is_pinned.load(std::memory_order_relaxed) ? 1 : 0;
  return count;
}

[[gnu::noinline]] void CpuPins::pin_beside_others(Worker& worker, const IdleSet& idle) noexcept {
  if (worker.is_pinned.load(std::memory_order_relaxed) || idle.busy() < 2) return;
  worker.is_pinned.store(true, std::memory_order_relaxed);
  platform::pin_thread(worker.thread, own_[worker.id]);
  // A worker that has called unpin() meanwhile may have made its system call before ours.
  if (!worker.is_pinned.load(std::memory_order_relaxed)) platform::pin_thread(worker.thread, platform::kAnyCpu);
}

void CpuPins::unpin(Worker& worker) noexcept {
  if (worker.is_pinned.exchange(false, std::memory_order_relaxed))
    platform::pin_thread(worker.thread, platform::kAnyCpu);
}

[[gnu::noinline]] void CpuPins::unpin_last_one_too(Worker& worker, const IdleSet& idle,
                                                   IdleSet::Snapshot entered) noexcept {
  unpin(worker);
  if (!idle.is_last_but_one(entered)) return;
  for (Worker& other : workers_)
    if (!idle.is_asleep(other.id)) unpin(other);
}

}  // namespace janus
