// SPDX-License-Identifier: Apache-2.0
// timers_test.cpp — which wheels count as having timers.
#include "rt/sched/timers.h"

#include "tests/harness/test.h"

namespace janus::test {

// While a timer fires, another worker looks for the next one before it sleeps, and finds the wheel empty.
TEST(timers, a_wheel_whose_timers_fire_is_in_use_until_nothing_is_left_to_do) {
  static WorkerTimers wheel[1];
  static IdleSet sleepers;
  static Timers timers;
  static Timer timer;
  const auto look = [](bool leaves_something, bool goes_on) {
    wheel->fire_some(
        200,
        [leaves_something](void**, unsigned) {
          CHECK_EQ(timers.take_seat(false), platform::kForever);
          CHECK(timers.are_any());
          if (leaves_something) wheel->rest = &timer;
        },
        [goes_on](void*& rest) {
          if (!goes_on) rest = nullptr;
        });
  };
  timers.init(1, wheel, sleepers, nullptr);
  for (const bool leaves_something : {false, true}) {
    {
      LockGuard guard(wheel->lock);
      (void)timers.arm(*wheel, timer, 100, 0);
    }
    CHECK_EQ(timers.nearest(), 100u);
    look(leaves_something, true);
    CHECK(timers.are_any());
    CHECK_EQ(timers.nearest(), leaves_something ? 0u : platform::kForever);
    if (leaves_something) look(false, false);
    CHECK_EQ(timers.take_seat(false), platform::kForever);
    CHECK(!timers.are_any());
  }
}

}  // namespace janus::test
