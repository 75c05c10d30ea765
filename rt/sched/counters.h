// SPDX-License-Identifier: Apache-2.0
// rt/sched/counters.h — what a worker counts. Written by its owner alone with plain stores, read by anyone.
#pragma once

#include <atomic>
#include <cstdint>

namespace janus {

class Counter {
 public:
  void add(std::uint64_t amount = 1) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  std::uint64_t read() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

struct Counters {
  Counter fair_rounds;  // Worker::until_fair came to 0
  Counter switches, yields, yields_charged, steals, steals_failed, parks, wakes, injected;
  Counter spawned, completed, cancelled, failed, panicked, inlined, spawns_failed;
  Counter exhaustions, cancel_requests, deadlocks, nurseries_opened, nurseries_ended;
  Counter ops, channel_ops, syscalls;
};

}  // namespace janus
