// SPDX-License-Identifier: Apache-2.0
// steal_backoff_test.cpp — when a thief stops stealing for a while, for how long, and when a worker stands still.
#include "rt/sched/steal_backoff.h"

#include "rt/sched/standstill.h"
#include "tests/harness/test.h"

namespace janus::test {

namespace {

constexpr std::uint64_t kStart = 1'000'000'000;

// Steals `times` times from worker 1, and is busy with what each theft brings for `gain_ns`. Meanwhile the victim spawns and
// ends `tasks` tasks. Returns how many thefts did not pay.
int steal_repeatedly(StealBackoff& backoff, int times, std::uint64_t gain_ns, std::uint64_t tasks,
                     std::uint64_t steal_ns = 5'000) {
  std::uint64_t now = kStart, victims_tasks = 1'000;
  int poor = 0;
  for (int i = 0; i < times; ++i) {
    backoff.record_steal(1, victims_tasks, now, now + steal_ns);
    victims_tasks += tasks;
    now += steal_ns + gain_ns;
    CHECK(backoff.has_unjudged());
    CHECK_EQ(backoff.victim(), 1u);
    poor += backoff.judge(backoff.victim_goes_on(victims_tasks), now) ? 1 : 0;
    CHECK(!backoff.has_unjudged());
  }
  return poor;
}

}  // namespace

TEST(steal_backoff, backs_off_after_more_than_three_thefts_that_did_not_pay) {
  StealBackoff backoff;
  CHECK_EQ(steal_repeatedly(backoff, 3, 1000, 100), 3);
  CHECK(!backoff.is_backed_off());
  CHECK_EQ(steal_repeatedly(backoff, 1, 1000, 100), 1);
  CHECK(backoff.is_backed_off());
}

TEST(steal_backoff, a_theft_from_a_victim_that_stands_still_pays) {
  StealBackoff backoff;
  CHECK_EQ(steal_repeatedly(backoff, 100, 0, 3), 0);
  CHECK(!backoff.is_backed_off());
  CHECK_EQ(steal_repeatedly(backoff, 100, 0, 4), 100);
}

TEST(steal_backoff, a_theft_pays_that_keeps_the_thief_busy_four_times_as_long) {
  StealBackoff backoff;
  CHECK_EQ(steal_repeatedly(backoff, 100, 19'999, 100), 100);
  CHECK_EQ(steal_repeatedly(backoff, 100, 20'000, 100), 0);
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

TEST(steal_backoff, one_theft_that_pays_ends_it) {
  StealBackoff backoff;
  (void)steal_repeatedly(backoff, 10, 1000, 100);
  CHECK(backoff.is_backed_off());
  (void)steal_repeatedly(backoff, 1, 30'000, 100);
  CHECK(!backoff.is_backed_off());
}

TEST(steal_backoff, work_that_comes_without_a_theft_ends_it_until_the_next_theft_that_does_not_pay) {
  StealBackoff backoff;
  (void)steal_repeatedly(backoff, 10, 1000, 100);
  CHECK(backoff.is_backed_off());
  backoff.forget();
  CHECK(!backoff.is_backed_off());
  (void)steal_repeatedly(backoff, 1, 1000, 100);
  CHECK(backoff.is_backed_off());
  CHECK_EQ(backoff.backoff_ns(), 100'000u);
}

TEST(steal_backoff, stays_away_longer_each_time_but_not_for_long) {
  StealBackoff backoff;
  (void)steal_repeatedly(backoff, 4, 1000, 100);
  std::uint64_t last = 0;
  for (int i = 0; i < 15; ++i) {
    CHECK(backoff.is_backed_off());
    CHECK_GE(backoff.backoff_ns(), last);
    last = backoff.backoff_ns();
    (void)steal_repeatedly(backoff, 1, 1000, 100);
  }
  CHECK_EQ(last, 1'000'000u);
}

TEST(standstill, a_worker_stands_still_when_its_count_has_been_the_same_for_long) {
  Standstill standstill{};
  CHECK(!standstill.has_lasted(7, kStart, 50'000));
  CHECK(!standstill.has_lasted(7, kStart + 49'999, 50'000));
  CHECK(standstill.has_lasted(7, kStart + 50'000, 50'000));
  CHECK(!standstill.has_lasted(7, kStart + 50'000, 50'001));
  CHECK(!standstill.has_lasted(8, kStart + 60'000, 50'000));  // it has moved, so the time begins anew
  CHECK(!standstill.has_lasted(8, kStart + 109'999, 50'000));
  CHECK(standstill.has_lasted(8, kStart + 110'000, 50'000));
  CHECK(!standstill.has_lasted(8, kStart, 50'000));  // by somebody who has read the clock before
}

TEST(steal_backoff, only_who_has_left_work_to_others_or_stolen_some_sleeps_with_timeouts_and_not_for_ever) {
  StealBackoff backoff;
  CHECK(!backoff.keeps_watching());
  backoff.begin_watch();
  int rounds = 0;
  for (; backoff.keeps_watching(); ++rounds) {
    backoff.begin_timed_park(false);
    backoff.end_rounds();  // it finds work each time, for which it has been woken
  }
  CHECK_EQ(rounds, 8);
  backoff.begin_timed_park(true);
  CHECK(backoff.keeps_watching());
}

TEST(steal_backoff, timed_sleeps_take_a_millisecond_or_grow_to_it) {
  StealBackoff backoff;
  std::uint64_t last = 0;
  CHECK_EQ(backoff.timed_park_ns(false), 1'000'000u);
  for (int rounds = 0; rounds < 8; ++rounds) {
    CHECK_GE(backoff.timed_park_ns(true), last);
    last = backoff.timed_park_ns(true);
    backoff.begin_timed_park(true);
  }
  CHECK_EQ(last, 1'000'000u);
  backoff.end_rounds();
  CHECK_EQ(backoff.timed_park_ns(true), 50'000u);
}

}  // namespace janus::test
