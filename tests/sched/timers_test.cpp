// SPDX-License-Identifier: Apache-2.0
// timers_test.cpp — which wheels count as having timers.
#include "rt/sched/timers.h"

#include "tests/harness/test.h"

namespace janus::test {

// While a timer fires, another worker looks for the next one before it sleeps, and finds the wheel empty.
TEST(timers, a_wheel_whose_timer_has_left_something_to_do_is_looked_at_again) {
  static WorkerTimers wheels[1];
  static IdleSet sleepers;
  static Timers timers;
  static Timer timer;
  timers.init(1, wheels, sleepers, nullptr);
  static WorkerTimers& wheel = wheels[0];
  {
    LockGuard guard(wheel.lock);
    (void)timers.arm(wheel, timer, 100, 0);
  }
  CHECK_EQ(timers.nearest(), 100u);
  const auto look = [](std::uint64_t now_ns, unsigned parts) {
    wheel.fire_some(
        now_ns,
        [](void**, unsigned) {
          wheel.rest = &timer;
          (void)timers.take_seat(false);
          CHECK(!timers.are_any());
        },
        [parts](void*& rest) {
          timers.hold(wheel);
          CHECK(timers.are_any());
          if (parts == 1) rest = nullptr;
        });
  };
  look(200, 2);
  CHECK(timers.are_any());
  CHECK_EQ(timers.nearest(), 0u);
  look(200, 1);
  (void)timers.take_seat(false);
  CHECK(!timers.are_any());
}

}  // namespace janus::test
