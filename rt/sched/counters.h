// SPDX-License-Identifier: Apache-2.0
// rt/sched/counters.h — a worker's event counters. Written only by the worker, with plain stores; read by any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include <arch/cpu.h>

namespace janus {

class Counter {
 public:
  void add(std::uint64_t amount = 1) noexcept { arch::add_as_owner(value_, amount); }
  std::uint64_t read() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

struct Counters {
  Counter fair_rounds;  // dispatches that took the runnable that had waited longest (WorkerFairness)
  Counter switches, yields, yields_charged, steals, steals_failed, steals_poor, parks, wakes, injected;
  Counter spawned, completed, cancelled, failed, panicked, spawns_failed;
  Counter completed_inline;  // children that completed on their waiting parent's stack, fast path; not in `completed`
  Counter inlined;           // other children that ended there; counted by their outcome, too
  Counter exhaustions, cancel_requests, deadlocks, nurseries_opened, nurseries_ended;
  Counter ops, channel_ops, syscalls;
  Counter stack_steps;  // steps by which stacks have grown
  Counter pinned;       // how many runnables are pinned to the worker now
};

}  // namespace janus
