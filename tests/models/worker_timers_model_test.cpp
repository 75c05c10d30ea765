// SPDX-License-Identifier: Apache-2.0
// worker_timers_model_test.cpp — every interleaving of the owner of a timer, which waits and disarms it, with workers that
// let it fire and with one that ends the wait, on rt/sched/worker_timers.h and timer_wheel.cpp: it fires once at most
// (fires-once), wakes the owner if nothing else does, and is not touched any more once it is disarmed. The owner's steps
// are those of Deadline.
#include "rt/sched/worker_timers.h"

#include "tests/harness/test.h"
#include "tests/models/explorer.h"

namespace {

using janus::LockGuard;
using janus::Timer;
using janus::WorkerTimers;
using janus::model::Fences;
using janus::model::require;

struct TimersWorld {
  enum : std::uint32_t { kRuns, kWaits, kReady };
  static constexpr unsigned kOwner = 0, kServer = 1;
  static constexpr std::uint64_t kDue = 100, kNow = 200;
  bool has_server;  // whether thread 1 ends the wait; the others look for due timers
  unsigned lookers;
  bool waits_twice;  // the owner is woken, finds nothing, and waits again with the same timer
  WorkerTimers timers{};
  Timer timer{};
  janus::Atomic<std::uint32_t> state{kRuns}, served{0};
  // Accesses to these are no steps.
  unsigned fired = 0;
  bool is_gone = false;

  unsigned threads() const { return 1 + (has_server ? 1 : 0) + lookers; }
  void begin() { timers.set_nearest(janus::TimerWheel::kNever); }

  void run(unsigned thread) {
    if (thread == kOwner)
      wait();
    else if (has_server && thread == kServer)
      serve();
    else
      look();
  }
  bool wake() {
    std::uint32_t waits = kWaits;
    return state.compare_exchange_strong(waits, kReady, std::memory_order_acq_rel);
  }
  void serve() {
    served.store(1, std::memory_order_seq_cst);
    (void)wake();
  }
  void look() {
    while (fired == 0 && !is_gone) {
      if (timers.nearest() <= kNow)
        timers.fire_some(
            kNow,
            [&](void** timers, unsigned count) {
              require(!is_gone && count == 1 && timers[0] == &timer, "it is still there when it fires");
              require(++fired == 1, "it fires once");
              (void)wake();
              require(!is_gone, "it is still there after its owner was woken");
            },
            [](void*&) {});
      else
        janus::pause();
    }
  }
  void wait() {
    bool is_armed = false;
    for (unsigned wakes = waits_twice ? 2 : 1; wakes != 0; --wakes) {
      timers.lock.lock();
      if (!is_armed) {
        timers.wheel.insert(timer, kDue, 0);
        timers.set_nearest(kDue);
        is_armed = true;
      }
      state.store(kWaits, std::memory_order_release);
      const bool has_passed = !timer.is_pending();
      timers.lock.unlock();
      if (has_passed) (void)wake();
      janus::full_fence();  // the server's partner
      if (served.load(std::memory_order_seq_cst) != 0) (void)wake();
      while (state.load(std::memory_order_acquire) != kReady) janus::pause();
      state.store(kRuns, std::memory_order_relaxed);
    }
    timers.disarm(timer);
    is_gone = true;
    served.store(2);  // those that look for due timers see that it is over
  }
  void end() { require(!timer.is_pending(), "it is in no wheel"); }
};

bool goes_well(const char* name, bool has_server, unsigned lookers, bool waits_twice) {
  return janus::model::goes_well<TimersWorld>(name, Fences::kHeavy, has_server, lookers, waits_twice);
}

TEST(worker_timers_model, a_timer_ends_a_wait) {
  REQUIRE(goes_well("one looks", false, 1, false));
  REQUIRE(goes_well("two look", false, 2, false));
  REQUIRE(goes_well("it wakes once more to wait again", false, 1, true));
}

TEST(worker_timers_model, a_timer_and_another_end_a_wait_at_once) {
  REQUIRE(goes_well("one looks", true, 1, false));
  REQUIRE(goes_well("two look", true, 2, false));
  REQUIRE(goes_well("the owner waits again", true, 1, true));
}

}  // namespace
