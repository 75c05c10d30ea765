// SPDX-License-Identifier: Apache-2.0
// rt/sched/timer_seat.h — which of the sleeping workers sleeps until the next timer: one at most needs to, and has the
// seat. While other workers are awake they look at the timers themselves, so a sleeper only guards against a task that
// holds its worker, and sleeps kHeldNs longer. docs/decisions/0330
//
// INVARIANT timers-are-watched: while a timer is pending and a worker sleeps, one sleeps until the timer's time at most,
// or until kHeldNs later while a worker is awake; or a worker is awake that will go through step 3 of one
// of these. The fences are those of no-lost-wakeup (idle.h).
//   arm:   1 lower the wheel's bound   2 fence                 3 if a worker sleeps and the timer is not covered, wake one
//   sleep: 1 enter the idle set        2 fence                 3 take the seat, unless all timers are covered   4 park
//   leave: 1 give up the seat          2 leave the idle set    3 before it runs anything: as step 3 of arm, for all timers
// A worker that arms a timer and has nothing else to run does not need step 3 of arm: it will sleep.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "rt/base/atomic.h"
#include "rt/platform.h"

namespace janus {

class TimerSeat {
 public:
  static constexpr std::uint64_t kHeldNs = 2'000'000;

  // Any thread. Whether a sleeper wakes up in time for a timer at `nearest` (kForever: there is none).
  [[nodiscard]] bool covers(std::uint64_t nearest, bool is_anybody_awake) const noexcept {
    const std::uint64_t latest = latest_for(nearest, is_anybody_awake);
    return seat_.load(std::memory_order_relaxed) <= latest || guard_.load(std::memory_order_relaxed) <= latest;
  }
  // Step 3 of a sleeper. Returns until when it has to sleep, for timers of which the first is at `nearest`; kForever:
  // somebody else does, or there is no timer. Else it has to call leave(). If two take the seat at once, both wake up
  // in time.
  [[nodiscard]] std::uint64_t take(std::uint64_t nearest, bool is_anybody_awake) noexcept {
    if (covers(nearest, is_anybody_awake)) return platform::kForever;
    const std::uint64_t until = latest_for(nearest, is_anybody_awake);
    (is_anybody_awake ? guard_ : seat_).store(until, std::memory_order_relaxed);
    return until;
  }
  // Step 1 of a sleeper that has woken up. `until`: what take() has returned. If another has taken the place meanwhile,
  // that one may not be relied upon any more.
  void leave(std::uint64_t until) noexcept {
    for (Atomic<std::uint64_t>* const place : {&seat_, &guard_})
      if (place->load(std::memory_order_relaxed) == until) place->store(platform::kForever, std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] static std::uint64_t latest_for(std::uint64_t nearest, bool is_anybody_awake) noexcept {
    const bool is_late = is_anybody_awake && nearest < platform::kForever - kHeldNs;
    return nearest + (is_late ? kHeldNs : 0);
  }

  // Somebody sleeps until then at most who has not left yet; kForever: perhaps nobody does. Two words, so that a guard
  // that goes on sleeping is relied upon again after the seat's holder has left.
  Atomic<std::uint64_t> seat_{platform::kForever}, guard_{platform::kForever};
};

}  // namespace janus
