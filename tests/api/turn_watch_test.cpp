// SPDX-License-Identifier: Apache-2.0
// turn_watch_test.cpp — how the time is counted that a task holds its worker, on machines that stop. The clock and the alarm
// are the test's. A task that is to end is seen by the alarm, which is then set for a tenth of a millisecond, since no
// position of this program is one where a task may end. docs/decisions/0345
#include "tests/api/world.h"
#include "tests/fake_platform/fake_platform.h"

namespace janus::test {

namespace {

constexpr std::uint64_t kMs = 1'000'000, kPeriodNs = 1'500'000, kAgainNs = 100'000;

// Runs the closure as a task of a cage with this limit, on one worker.
template <class Body>
void run_caged(std::uint64_t turn_ns, Body body) {
  fake_platform::reset();
  run_in(with_workers(1), [&] {
    janus_nursery_options options = {};
    options.size = sizeof options;
    options.budget = budget_of(1'000'000);
    options.turn_ns = turn_ns;
    janus_nursery* const cage = janus_nursery_open(nullptr, &options);
    spawn(cage, call_closure<Body>, &body);
    CHECK_EQ(end(cage), 0);
  });
}

bool is_overdue() {
  return fake_platform::alarm().first_ns == kAgainNs;
}
// The alarm rings after `ns`.
void ring_after(std::uint64_t ns) {
  fake_platform::advance_ns(ns);
  CHECK(!fake_platform::ring());
}

}  // namespace

TEST(turn_watch, an_alarm_rings_at_equal_distances_and_when_the_turn_is_over) {
  run_caged(10 * kPeriodNs + kMs, [] {
    CHECK_EQ(fake_platform::alarm().period_ns, kPeriodNs);
    for (int i = 0; i <= 10; ++i) {
      CHECK_EQ(fake_platform::alarm().first_ns, kPeriodNs);
      ring_after(kPeriodNs);
    }
    CHECK_EQ(fake_platform::alarm().first_ns, kMs);
    ring_after(kMs);
    CHECK(is_overdue());
  });
}

TEST(turn_watch, who_comes_back_begins_anew) {
  run_caged(3 * kMs, [] {
    for (int i = 0; i < 100; ++i) {
      ring_after(kMs);
      ring_after(kMs);
      CHECK(!is_overdue());
      i % 2 == 0 ? janus_yield_check(1) : janus_yield();
    }
    for (int i = 0; i < 4; ++i) ring_after(kMs);
    CHECK(is_overdue());
  });
}

TEST(turn_watch, a_thread_that_does_not_run_holds_nothing) {
  run_caged(3 * kMs, [] {
    ring_after(kMs);
    for (int i = 0; i < 100; ++i) {
      fake_platform::preempt_ns(10 * kMs);
      CHECK(!fake_platform::ring());
      CHECK(!is_overdue());
    }
    for (int i = 0; i < 3; ++i) ring_after(kMs);
    CHECK(is_overdue());
  });
}

// A virtual machine that was stopped counts that as time in which the thread ran.
TEST(turn_watch, a_ring_counts_for_two_periods_at_most) {
  run_caged(10 * kPeriodNs, [] {
    ring_after(kMs);
    for (int i = 0; i < 4; ++i) ring_after(1000 * kMs);
    CHECK(!is_overdue());
    ring_after(1000 * kMs);
    CHECK(is_overdue());
  });
}

TEST(turn_watch, the_alarm_stops_when_the_cage_is_gone_and_is_set_for_the_next) {
  fake_platform::reset();
  run_in(with_workers(1), [] {
    for (int round = 0; round < 3; ++round) {
      janus_nursery_options options = {};
      options.size = sizeof options;
      options.budget = budget_of(1'000'000);
      janus_nursery* const cage = janus_nursery_open(nullptr, &options);
      spawn(cage, [](void*) -> std::int64_t {
        CHECK_EQ(fake_platform::alarm().period_ns, kPeriodNs);
        janus_yield();
        CHECK(!fake_platform::ring());
        CHECK_EQ(fake_platform::alarm().period_ns, kPeriodNs);
        return 0;
      });
      CHECK_EQ(end(cage), 0);
      for (int i = 0; i < 5000; ++i) janus_yield();
      CHECK(!fake_platform::ring());
      CHECK_EQ(fake_platform::alarm().period_ns, 0u);
    }
  });
}

}  // namespace janus::test
