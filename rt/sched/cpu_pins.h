// SPDX-License-Identifier: Apache-2.0
// rt/sched/cpu_pins.h — pins workers to CPUs of their own: always, or while several of them have work, and only then.
// So a program that runs one task at a time runs wherever the kernel puts it, beside other such programs.
// docs/decisions/0236
#pragma once

#include <cstdint>

#include "rt/platform.h"
#include "rt/sched/idle.h"
#include "rt/sched/worker.h"

namespace janus {

// When workers are pinned, each to a CPU of its own.
enum class Pinning : std::uint8_t { kNever, kWhileSeveralWork, kAlways };

class CpuPins {
 public:
  // `own`: room for one CPU number per worker. `cpus`: the CPUs to pin to, or nullptr; not read after init().
  void init(Pinning pinning, const platform::Cpus* cpus, const WorkerList& workers, std::int16_t* own) noexcept;

  // The CPU on which the worker's thread starts, or platform::kAnyCpu.
  [[nodiscard]] int cpu_at_start(unsigned worker) const noexcept {
    return always_ != 0 ? own_[worker] : platform::kAnyCpu;
  }
  // Any thread: how many workers are pinned now.
  [[nodiscard]] unsigned count() const noexcept;

  // Owner only. The worker has found work: pins it if another worker is busy, too.
  void has_work(Worker& worker, const IdleSet& idle) noexcept {
    if (pinning_ == Pinning::kWhileSeveralWork) pin_beside_others(worker, idle);
  }
  // The worker has begun to sleep without a timeout: unpins it and, if exactly one other worker is awake, that one too,
  // since it may run a task for long without a dispatch.
  void falls_asleep(Worker& worker, const IdleSet& idle, IdleSet::Snapshot entered) noexcept {
    if (pinning_ == Pinning::kWhileSeveralWork) unpin_last_one_too(worker, idle, entered);
  }

 private:
  void pin_beside_others(Worker& worker, const IdleSet& idle) noexcept;
  void unpin_last_one_too(Worker& worker, const IdleSet& idle, IdleSet::Snapshot entered) noexcept;
  static void unpin(Worker& worker) noexcept;

  Pinning pinning_;
  unsigned always_;  // workers that were pinned at the start, for good
  WorkerList workers_;
  std::int16_t* own_;  // the CPU of each worker, or platform::kAnyCpu
};

}  // namespace janus
