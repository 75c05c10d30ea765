// SPDX-License-Identifier: Apache-2.0
// threads.h — a handful of threads that all run one function, and their end; the same freestanding and hosted.
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/platform.h"
#include "tests/harness/test.h"

namespace janus::test {

class Threads {
 public:
  // body(n) for n = 0 ... count - 1, each on a thread of its own; returns when all have.
  static bool run(unsigned count, void (*body)(unsigned)) {
    Threads all(body);
    for (unsigned n = 0; n < count; n++) {
      all.running_.fetch_add(1, std::memory_order_relaxed);
      if (platform::start_thread(enter, &all, -1, "mem")) continue;
      all.leave();
      all.refused_ = true;
      break;
    }
    all.leave();  // the share that the caller holds
    for (std::uint32_t left; (left = all.running_.load(std::memory_order_acquire)) != 0;)
      platform::wait(all.running_, left, platform::kForever);
    while (!all.gone_.load(std::memory_order_acquire)) platform::wait(all.running_, 0, platform::now_ns() + 1'000'000);
    return !all.refused_;
  }

 private:
  explicit Threads(void (*body)(unsigned)) : body_(body) {}

  static void enter(void* arg) {
    Threads* all = static_cast<Threads*>(arg);
    all->body_(all->next_.fetch_add(1, std::memory_order_relaxed));
    all->leave();
    platform::exit_thread();
  }
  // Whoever is last says so after its last look at this object.
  void leave() {
    if (running_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    platform::wake(running_, 1);
    gone_.store(true, std::memory_order_release);
  }

  void (*body_)(unsigned);
  std::atomic<std::uint32_t> next_{0};
  std::atomic<std::uint32_t> running_{1};
  std::atomic<bool> gone_{false};
  bool refused_ = false;
};

}  // namespace janus::test
