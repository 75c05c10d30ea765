// SPDX-License-Identifier: Apache-2.0
// rt/sched/worker_timers.h — the timers of one worker, which any worker may let fire. docs/decisions/0330
//
// INVARIANT fires-once: a timer is in its wheel, or has been taken out by the one thread that calls `fire` for it, or by
// its owner. `firing` is held from before a timer is taken until the call for it has returned. So an owner that finds its
// timer taken locks and unlocks `firing`; after that nobody uses the timer.
#pragma once

#include <cstdint>

#include <arch/cpu.h>
#include "rt/base/atomic.h"
#include "rt/base/lock_rank.h"
#include "rt/sched/timer_wheel.h"

namespace janus {

// All zero bytes: no timer.
struct alignas(arch::kPrefetchPair) WorkerTimers {
  static constexpr unsigned kMaxAtOnce = 16;

  // No timer is due before that; TimerWheel::kNever: there is none. Any thread.
  [[nodiscard]] std::uint64_t nearest() const noexcept { return ~nearest_inverted.load(std::memory_order_relaxed); }
  // Under `lock`.
  void set_nearest(std::uint64_t at) noexcept { nearest_inverted.store(~at, std::memory_order_relaxed); }

  // Takes some of the timers that are due, and calls fire(timers, count) with them, in order; the array is the callee's to
  // use. Then, if these or earlier ones have left something to do, go_on(rest). Nothing happens while another thread does
  // the same.
  template <typename Fire, typename GoOn>
  void fire_some(std::uint64_t now_ns, Fire fire, GoOn go_on) noexcept {
    if (!firing.try_lock()) return;
    fire_due(now_ns, fire);
    if (rest != nullptr) {
      go_on(rest);
      LockGuard guard(lock);
      set_nearest(rest != nullptr ? 0 : wheel.bound());
    }
    firing.unlock();
  }

  // By the owner of a timer that was armed here. Afterwards it is in no wheel, and nobody uses it.
  void disarm(Timer& timer) noexcept {
    {
      LockGuard guard(lock);
      if (timer.is_pending()) return TimerWheel::cancel(timer);
    }
    LockGuard until_it_has_fired(firing);
  }

  RankedLock<LockRank::kFiring> firing;
  void* rest;  // what timers that have fired have left to do, for the layer above; under `firing`. While there is any,
               // nearest() is 0.
  RankedLock<LockRank::kTimers> lock;  // guards the rest
  bool is_in_use;                      // counted by Timers
  Atomic<std::uint64_t> nearest_inverted;
  TimerWheel wheel;

 private:
  // Not inlined, so that the array is gone when go_on() is called.
  template <typename Fire>
  [[gnu::noinline]] void fire_due(std::uint64_t now_ns, Fire& fire) noexcept {
    void* due[kMaxAtOnce];
    unsigned count = 0;
    {
      LockGuard guard(lock);
      for (unsigned i = 0; i < kMaxAtOnce; ++i) {
        Timer* const timer = wheel.take_due(now_ns);
        if (timer != nullptr)
          due[count++] = timer;
        else if (!wheel.is_unsettled())
          break;
      }
      set_nearest(rest != nullptr ? 0 : wheel.bound());
    }
    if (count != 0) fire(due, count);
  }
};

}  // namespace janus
