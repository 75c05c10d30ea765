// SPDX-License-Identifier: Apache-2.0
// rt/sched/counters.h — what a worker counts. Written by its owner alone with plain stores, read by anyone.
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
  Counter fair_rounds;  // dispatches that took what had waited longest (WorkerFairness)
  Counter switches, yields, yields_charged, steals, steals_failed, parks, wakes, injected;
  Counter spawned, completed, cancelled, failed, panicked, spawns_failed;
  Counter completed_inline;  // on the stack of who awaited them, and not in `completed`
  Counter inlined;           // the same for those that did not end plainly; in one of the above, too
  Counter exhaustions, cancel_requests, deadlocks, nurseries_opened, nurseries_ended;
  Counter ops, channel_ops, syscalls;
  Counter stack_steps;  // by which stacks have grown
};

}  // namespace janus
