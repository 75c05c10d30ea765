// SPDX-License-Identifier: Apache-2.0
// steal_backoff_test.cpp — when a thief stops stealing for a while, and for how long.
#include "rt/sched/steal_backoff.h"

#include "tests/harness/test.h"

namespace janus::test {

namespace {

constexpr std::uint64_t kStart = 1'000'000'000;

// Records `times` steals of `steal_ns` from worker 1, with `apart_ns` between two of them, in which the victim spawns
// and ends `tasks` tasks.
std::uint64_t steal_repeatedly(StealBackoff& backoff, int times, std::uint64_t apart_ns, std::uint64_t tasks,
                               std::uint64_t steal_ns = 5'000) {
  std::uint64_t now = kStart;
  for (int i = 0; i < times; ++i, now += steal_ns + apart_ns)
    backoff.record_steal(1, static_cast<unsigned>(i) * tasks, now, now + steal_ns);
  return now;
}

}  // namespace

TEST(steal_backoff, backs_off_after_more_than_three_thefts_that_did_not_pay) {
  StealBackoff backoff;
  (void)steal_repeatedly(backoff, 4, 1000, 100);  // the first steal has no interval before it
  CHECK(!backoff.is_backed_off());
  (void)steal_repeatedly(backoff, 5, 1000, 100);
  CHECK(backoff.is_backed_off());
}

TEST(steal_backoff, thefts_from_a_stalled_victim_count_as_profitable) {
  StealBackoff backoff;
  (void)steal_repeatedly(backoff, 100, 1000, 31);
  CHECK(!backoff.is_backed_off());
}

TEST(steal_backoff, rare_thefts_count_as_profitable) {
  StealBackoff backoff;
  (void)steal_repeatedly(backoff, 100, 20'000, 100);
  CHECK(!backoff.is_backed_off());
}

TEST(steal_backoff, what_must_be_stolen_to_pay_grows_with_what_a_theft_costs) {
  StealBackoff cheap, dear;
  (void)steal_repeatedly(cheap, 50, 100'000, 100, 1'000);
  (void)steal_repeatedly(dear, 50, 100'000, 100, 20'000);
  CHECK_LE(cheap.steal_ns(), 1'100u);
  CHECK_GE(dear.steal_ns(), 19'000u);
  (void)steal_repeatedly(cheap, 50, 5'000, 100, 1'000);
  (void)steal_repeatedly(dear, 50, 5'000, 100, 20'000);
  CHECK(!cheap.is_backed_off() && dear.is_backed_off());
}

TEST(steal_backoff, one_theft_from_another_victim_ends_it) {
  StealBackoff backoff;
  const std::uint64_t now = steal_repeatedly(backoff, 10, 1000, 100);
  CHECK(backoff.is_backed_off());
  backoff.record_steal(2, 1'000'000, now, now + 5'000);
  CHECK(!backoff.is_backed_off());
}

TEST(steal_backoff, stays_away_longer_each_time_but_not_for_long) {
  StealBackoff backoff;
  std::uint64_t now = steal_repeatedly(backoff, 5, 1000, 100), last = 0;
  for (unsigned i = 5; i < 20; ++i) {
    CHECK(backoff.is_backed_off());
    CHECK_GE(backoff.backoff_ns(), last);
    last = backoff.backoff_ns();
    now += last;
    backoff.end_backoff(last);  // allows the next steal at once
    backoff.record_steal(1, i * 100, now, now + 5'000);
    now += 5'000;
  }
  CHECK_EQ(last, 250'000u);
}

TEST(steal_backoff, a_waker_is_trusted_until_it_has_stood_still_for_50_us) {
  StealBackoff backoff;
  CHECK(backoff.defers_to_waker(1, 7, kStart));
  CHECK(backoff.defers_to_waker(1, 7, kStart + 49'999));
  CHECK(!backoff.defers_to_waker(1, 7, kStart + 50'000));
  CHECK(backoff.defers_to_waker(1, 8, kStart + 60'000));  // the waker has moved, so the 50 us begin anew
  CHECK(backoff.defers_to_waker(1, 8, kStart + 100'000));
  CHECK(!backoff.defers_to_waker(1, 8, kStart + 110'000));
  CHECK(backoff.defers_to_waker(2, 8, kStart + 110'000));  // another waker
}

TEST(steal_backoff, timed_sleeps_grow_to_a_millisecond_and_end) {
  StealBackoff backoff;
  std::uint64_t last = 0;
  int rounds = 0;
  for (; backoff.keeps_watching(); ++rounds) {
    CHECK_GE(backoff.timed_park_ns(), last);
    last = backoff.timed_park_ns();
    backoff.begin_timed_park();
  }
  CHECK_EQ(rounds, 8);
  CHECK_EQ(last, 1'000'000u);
  backoff.end_watch();
  CHECK(backoff.keeps_watching());
  CHECK_EQ(backoff.timed_park_ns(), 50'000u);
}

}  // namespace janus::test
