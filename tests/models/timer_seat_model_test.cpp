// SPDX-License-Identifier: Apache-2.0
// timer_seat_model_test.cpp — every interleaving of a few workers that arm timers, run on or sleep, and take work, on
// rt/sched/timer_seat.h and idle.h: when nothing moves any more, somebody sleeps until the first timer (timers-are-watched).
// The workers' steps are those of IdleWorkers::find_work and sleep, and of Timers.
#include "rt/sched/timer_seat.h"

#include "rt/sched/idle.h"
#include "tests/harness/test.h"
#include "tests/models/explorer.h"

namespace {

using janus::IdleSet;
using janus::TimerSeat;
using janus::Work;
using janus::model::Fences;
using janus::model::require;
using janus::platform::kForever;

// What a worker does, step by step. After the last step it looks for work, and sleeps.
enum Step : std::uint8_t {
  kEnd,
  kArmLate,   // arms a timer, and runs on
  kArmEarly,  // the same with an earlier one
  kPush,      // queues a job for others
  kHold,      // runs a task that never returns
  kDisturb,   // ends the sleep of the last worker, if it sleeps, without claiming it, as a time that passes would
  kSetLate,   // arms a timer, and has nothing else to run
  kSetEarly,
};
constexpr std::uint64_t kEarly = 3 * TimerSeat::kHeldNs, kLate = 9 * TimerSeat::kHeldNs;
constexpr unsigned kMaxSteps = 4, kMax = 3;

struct Script {
  Step steps[kMaxSteps + 1];
};

struct SeatWorld {
  unsigned workers;
  Script scripts[kMax];
  IdleSet idle{};
  TimerSeat seat{};
  janus::Atomic<std::uint64_t> nearest[kMax] = {{kForever}, {kForever}, {kForever}};
  janus::Atomic<std::uint32_t> jobs{0}, tokens[kMax]{}, moves{0};
  static constexpr std::uint32_t kToken = 1, kDisturbance = 2;
  // Accesses to these are no steps.
  enum Now : std::uint8_t { kMoves, kParked, kHeld } now[kMax] = {};
  bool is_woken[kMax] = {};  // has a token
  std::uint64_t until[kMax] = {};

  unsigned threads() const { return workers; }
  void begin() { idle.init(workers, workers); }

  void run(unsigned me) {
    for (const Step step : scripts[me].steps) {
      if (step == kEnd) break;
      if (step == kHold) return hold(me);
      if (step == kPush) {
        (void)jobs.fetch_add(1);
        if (idle.has_sleeper() && idle.wants_wake(Work::kFresh)) wake_one();
      }
      if (step == kDisturb && now[workers - 1] == kParked) {
        (void)tokens[workers - 1].fetch_or(kDisturbance);
        is_woken[workers - 1] = true;
      }
      if (step == kArmLate || step == kArmEarly) arm(me, step == kArmEarly ? kEarly : kLate, true);
      if (step == kSetLate || step == kSetEarly) arm(me, step == kSetEarly ? kEarly : kLate, false);
    }
    while (!take_job()) {
      if (!sleep(me)) return;
    }
    see_to_cover(least());  // after a sleep it runs something
    hold(me);
  }
  void hold(unsigned me) {
    janus::full_fence();
    now[me] = kHeld;
    moves.fetch_add(1);  // those that wait for the end look again
  }
  void arm(unsigned me, std::uint64_t at, bool runs_on) {
    if (at >= nearest[me].load(std::memory_order_relaxed)) return;
    nearest[me].store(at, std::memory_order_relaxed);
    if (runs_on) see_to_cover(at);
  }
  void see_to_cover(std::uint64_t at) {
    if (idle.has_sleeper() && idle.is_any_asleep() && !seat.covers(at, true)) wake_one();
  }
  std::uint64_t least() const {
    std::uint64_t first = kForever;
    for (unsigned i = 0; i < workers; ++i) {
      const std::uint64_t at = nearest[i].load(std::memory_order_relaxed);
      if (at < first) first = at;
    }
    return first;
  }
  bool take_job() {
    std::uint32_t seen = jobs.load();
    return seen != 0 && jobs.compare_exchange_strong(seen, seen - 1);
  }
  void wake_one() {
    const unsigned sleeper = idle.claim();
    if (sleeper == IdleSet::kNobody) return;
    (void)tokens[sleeper].fetch_or(kToken);
    is_woken[sleeper] = true;
  }
  std::uint32_t take_tokens(unsigned me) {
    const std::uint32_t taken = tokens[me].exchange(0);
    is_woken[me] = false;
    return taken;
  }

  // False: nothing moves any more.
  bool sleep(unsigned me) {
    (void)idle.enter(me, false, false);
    bool has_token = false;
    until[me] = kForever;
    if (jobs.load() == 0) {
      until[me] = seat.take(least(), !idle.all_sleep());
      const std::uint32_t woken_by = park(me);
      if (woken_by == 0) return false;
      has_token = (woken_by & kToken) != 0;
    }
    if (until[me] != kForever) seat.leave(until[me]);
    const bool claimed = !idle.leave(me, false);
    while (claimed && !has_token) {
      has_token = (take_tokens(me) & kToken) != 0;
      if (!has_token) janus::pause();
    }
    if (claimed) (void)idle.end_search();
    return true;
  }
  // 0: nothing moves any more. Whoever sleeps until a time would wake up then, but time passes only when nothing moves.
  std::uint32_t park(unsigned me) {
    now[me] = kParked;
    moves.fetch_add(1);
    for (std::uint32_t woken_by; !is_still(); janus::pause()) {
      if ((woken_by = take_tokens(me)) == 0) continue;
      now[me] = kMoves;
      return woken_by;
    }
    require_watched();
    return 0;
  }
  bool is_still() const {
    for (unsigned i = 0; i < workers; ++i)
      if (now[i] == kMoves || is_woken[i]) return false;
    return true;
  }
  void require_watched() const {
    bool is_anybody_awake = false;
    std::uint64_t first = kForever;
    for (unsigned i = 0; i < workers; ++i) {
      is_anybody_awake |= now[i] == kHeld;
      if (now[i] == kParked && until[i] < first) first = until[i];
    }
    const std::uint64_t timer = least();
    require(jobs.load() == 0, "no job is left while a worker sleeps");
    require(first <= timer + (is_anybody_awake && timer != kForever ? TimerSeat::kHeldNs : 0),
            "somebody wakes up in time");
    require(timer != kForever || first == kForever, "nobody wakes up for nothing");
  }
  void end() {}
};

bool goes_well(const char* name, Fences fences, unsigned workers, Script first, Script second, Script third = {}) {
  return janus::model::goes_well<SeatWorld>(name, fences, workers, first, second, third);
}

TEST(timer_seat_model, a_worker_that_runs_on_beside_a_sleeper) {
  for (const Fences fences : {Fences::kHeavy, Fences::kOwn}) {
    REQUIRE(goes_well("one timer", fences, 2, {kArmLate, kHold}, {}));
    REQUIRE(goes_well("an earlier one after it", fences, 2, {kArmLate, kArmEarly, kHold}, {}));
    REQUIRE(goes_well("both have one", fences, 2, {kArmEarly, kHold}, {kSetLate}));
    REQUIRE(goes_well("the sleeper's is earlier", fences, 2, {kArmLate, kHold}, {kSetEarly}));
  }
}

TEST(timer_seat_model, all_sleep) {
  for (const Fences fences : {Fences::kHeavy, Fences::kOwn}) {
    REQUIRE(goes_well("one has a timer", fences, 2, {kSetLate}, {}));
    REQUIRE(goes_well("both have one", fences, 2, {kSetLate}, {kSetEarly}));
    REQUIRE(goes_well("none has", fences, 2, {}, {}));
  }
}

TEST(timer_seat_model, who_sleeps_until_a_timer_gets_work) {
  REQUIRE(goes_well("from who arms it", Fences::kHeavy, 2, {kArmLate, kPush}, {}));
  REQUIRE(goes_well("from another", Fences::kHeavy, 2, {kPush, kHold}, {kSetLate}));
}

TEST(timer_seat_model, three_workers) {
  REQUIRE(goes_well("two sleep", Fences::kHeavy, 3, {kArmLate, kHold}, {}, {}));
  REQUIRE(goes_well("an earlier one, and a sleep that ends", Fences::kHeavy, 3, {kArmLate, kArmEarly, kDisturb, kHold},
                    {}, {}));
  REQUIRE(goes_well("one of two gets work", Fences::kHeavy, 3, {kSetLate}, {kPush, kHold}, {}));
}

}  // namespace
