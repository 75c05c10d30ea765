// SPDX-License-Identifier: Apache-2.0
// timer_wheel_test.cpp — timers expire in the order of their times and, among equal ones, of their insertion.
#include "rt/sched/timer_wheel.h"

#include <new>

#include "tests/harness/scale.h"
#include "tests/harness/test.h"

namespace janus::test {

namespace {

constexpr unsigned kTimers = 4096;
constexpr std::uint64_t kStart = 1'000'000'000'000;  // not a round number in base 64

struct Numbered : Timer {
  std::uint64_t number;  // of its insertion
};

// A wheel, and beside it the same timers in an array, among which the next one is searched.
struct Pair {
  TimerWheel wheel = {};
  Numbered timers[kTimers] = {};
  unsigned pending = 0;
  std::uint64_t inserted = 0, now = kStart;

  void insert(unsigned i, std::uint64_t at) {
    timers[i].number = ++inserted;
    wheel.insert(timers[i], at, now);
    ++pending;
  }
  void cancel(unsigned i) {
    TimerWheel::cancel(timers[i]);
    --pending;
  }
  [[nodiscard]] const Numbered* next() const {
    const Numbered* next = nullptr;
    for (const Numbered& timer : timers) {
      if (!timer.is_pending()) continue;
      if (next == nullptr || timer.at < next->at || (timer.at == next->at && timer.number < next->number))
        next = &timer;
    }
    return next;
  }
  // Takes all that is due, and compares. False: a timer came out of order.
  bool take_all_due() {
    for (unsigned steps = 0; steps < kTimers; ++steps) {
      const Numbered* const expected = next();
      const std::uint64_t bound = wheel.bound();
      if (expected != nullptr ? bound > expected->at : bound != TimerWheel::kNever) return false;
      Timer* const taken = wheel.take_due(now);
      if (taken == nullptr) {
        if (wheel.is_unsettled()) continue;
        return expected == nullptr || expected->at > now;
      }
      if (taken != expected || taken->at > now || taken->is_pending()) return false;
      --pending;
    }
    return false;
  }
};

Pair& fresh_pair() {
  static Pair pair;  // too large for a stack
  return *new (&pair) Pair;
}

}  // namespace

TEST(timer_wheel, an_empty_one_has_nothing_to_wait_for) {
  Pair& pair = fresh_pair();
  CHECK_EQ(pair.wheel.bound(), TimerWheel::kNever);
  CHECK(pair.wheel.take_due(TimerWheel::kNever) == nullptr);
}

TEST(timer_wheel, the_bound_of_a_single_timer_is_its_time) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    Pair& pair = fresh_pair();
    const std::uint64_t at = kStart + (std::uint64_t{1} << bit);
    pair.insert(0, at);
    if (at < kStart) continue;  // beyond the end of time
    CHECK_EQ(pair.wheel.bound(), at);
    CHECK(pair.wheel.take_due(at - 1) == nullptr);
    CHECK_EQ(pair.wheel.bound(), at);
    CHECK(pair.wheel.take_due(at) == &pair.timers[0]);
    CHECK_EQ(pair.wheel.bound(), TimerWheel::kNever);
  }
}

TEST(timer_wheel, times_that_are_over_are_due_at_once_in_their_order) {
  Pair& pair = fresh_pair();
  for (unsigned i = 0; i < 200; ++i) pair.insert(i, kStart - i);
  for (unsigned i = 0; i < 200; ++i) {
    Timer* taken;
    do taken = pair.wheel.take_due(kStart);
    while (taken == nullptr && pair.wheel.is_unsettled());
    CHECK(taken == &pair.timers[i]);
  }
}

TEST(timer_wheel, equal_times_expire_first_in_first_out) {
  Pair& pair = fresh_pair();
  for (unsigned i = 0; i < kTimers; ++i) pair.insert(i, kStart + 1'000'000);
  pair.now = kStart + 2'000'000;
  for (unsigned i = 0; i < kTimers; ++i) {
    Timer* taken;
    do taken = pair.wheel.take_due(pair.now);
    while (taken == nullptr && pair.wheel.is_unsettled());
    REQUIRE(taken == &pair.timers[i]);
  }
}

TEST(timer_wheel, what_comes_while_a_long_list_moves_goes_behind_its_equals) {
  Pair& pair = fresh_pair();
  for (unsigned i = 0; i < 1000; ++i) pair.insert(i, kStart + 5'000'000 + i % 7);
  pair.now = kStart + 5'000'003;
  CHECK(pair.wheel.take_due(pair.now) == nullptr);
  REQUIRE(pair.wheel.is_unsettled());
  for (unsigned i = 1000; i < 1100; ++i) pair.insert(i, kStart + 5'000'000 + i % 7);
  CHECK(pair.take_all_due());
  pair.now += 10;
  CHECK(pair.take_all_due());
  CHECK_EQ(pair.pending, 0u);
}

TEST(timer_wheel, one_step_moves_few_timers_however_many_there_are) {
  Pair& pair = fresh_pair();
  for (unsigned i = 0; i < kTimers; ++i) pair.insert(i, kStart + 5'000'000 + i);
  unsigned steps = 1;
  while (pair.wheel.take_due(kStart + 5'000'000) == nullptr) {
    REQUIRE(pair.wheel.is_unsettled());
    ++steps;
  }
  CHECK_GE(steps, kTimers / 64 / 2);  // no step can have moved them all
}

TEST(timer_wheel, any_order_of_inserts_cancels_and_expiries_agrees_with_a_search) {
  const int rounds = scaled(40, 8);
  std::uint64_t dice = 0x9e3779b97f4a7c15;
  const auto roll = [&dice] {
    dice ^= dice << 13;
    dice ^= dice >> 7;
    return dice ^= dice << 17;
  };
  for (int round = 0; round < rounds; ++round) {
    Pair& pair = fresh_pair();
    const unsigned reach = static_cast<unsigned>(roll() % 50);  // how far the times are apart, as a power of two
    const unsigned crowd = static_cast<unsigned>(roll() % 200) + 1;
    for (int step = 0; step < 300; ++step) {
      const auto i = static_cast<unsigned>(roll() % crowd);
      switch (roll() % 4) {
        case 0:
        case 1:
          if (!pair.timers[i].is_pending()) pair.insert(i, pair.now + (roll() & ((std::uint64_t{1} << reach) - 1)));
          break;
        case 2:
          if (pair.timers[i].is_pending()) pair.cancel(i);
          break;
        default:
          pair.now += roll() & ((std::uint64_t{1} << reach) - 1);
          REQUIRE(pair.take_all_due());
      }
    }
    for (unsigned step = 0; pair.pending != 0 && step < 100; ++step) {
      pair.now += std::uint64_t{1} << reach;
      REQUIRE(pair.take_all_due());
    }
    CHECK_EQ(pair.pending, 0u);
  }
}

}  // namespace janus::test
