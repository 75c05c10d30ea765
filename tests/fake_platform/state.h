// SPDX-License-Identifier: Apache-2.0
// state.h — the state of the fake platform. Everything is atomic, or guarded by the lock of the page table.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

#include "tests/fake_platform/fake_platform.h"

namespace janus::fake_platform {

// A call that fails from its `first`-th time on, `count` times.
class Refusal {
 public:
  void set(std::uint64_t first, std::uint64_t count) {
    calls_ = 0;
    first_ = first;
    count_ = count;
  }
  bool refuses_this_call() {
    const std::uint64_t call = ++calls_;
    return call >= first_ && call - first_ < count_;
  }

 private:
  std::atomic<std::uint64_t> calls_{0}, first_{kNever}, count_{0};
};

// Which bytes are mapped: a map from the start of each range to its end. Adjacent ranges are merged.
class Mapped {
 public:
  void add(std::uintptr_t start, std::uintptr_t end);
  // Removes the range; false if a part of it was not mapped.
  bool remove(std::uintptr_t start, std::uintptr_t end);
  bool has(std::uintptr_t start, std::uintptr_t end);
  std::uint64_t bytes();
  std::uint64_t pieces();
  void clear();

 private:
  std::mutex mutex_;
  std::map<std::uintptr_t, std::uintptr_t> stretches_;
  std::uint64_t bytes_ = 0;
};

struct State {
  Refusal maps_refused, threads_refused;
  Mapped mapped;
  std::atomic<std::uint64_t> mapped_limit{kNever}, guard_limit{kNever}, memory_limit{0};
  std::atomic<platform::Guard> guard_kind{platform::Guard::kProtected};
  std::atomic<std::uint64_t> maps{0}, guards{0}, discarded{0}, stray_unmaps{0}, threads{0};
  std::atomic<unsigned> allowed{0}, quota{0};
  std::atomic<bool> fractional{false}, heavy_fence{true}, entropy_refused{false}, thread_ns_hidden{false};
  std::atomic<std::uint64_t> now{0}, waited{0}, preemptions{0};
  std::atomic<platform::AlarmHandler> alarm_handler{nullptr};
  std::atomic<std::uint64_t> alarm_first{0}, alarm_period{0};
  std::atomic<std::uint64_t> waits{0}, wakes{0}, asked_to_wake{0}, heavy_fences{0}, entropy{0};
};

State& state();

}  // namespace janus::fake_platform
