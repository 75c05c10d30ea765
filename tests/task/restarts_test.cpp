// SPDX-License-Identifier: Apache-2.0
// restarts_test.cpp — how often a supervisor restarts its children, and after how long.
#include "rt/task/supervise/restarts.h"

#include "tests/harness/test.h"

namespace janus::test {

namespace {

// How many of the moments are allowed before the first one that is not.
template <unsigned kMoments>
unsigned allowed(const RestartLimit& limit, const Moment (&moments)[kMoments]) {
  static Moment ring[RestartLimit::kMost];
  Restarts restarts;
  restarts.init(ring);
  for (unsigned i = 0; i < kMoments; ++i)
    if (!restarts.note(limit, moments[i])) return i;
  return kMoments;
}

}  // namespace

TEST(restarts, as_many_as_the_limit_says_may_be_recent) {
  const Moment at_once[] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}};
  for (std::uint32_t most = 0; most < 4; ++most) {
    CHECK_EQ(allowed({most, 0, 0}, at_once), most);
    CHECK_EQ(allowed({most, 10, 10}, at_once), most);
  }
  CHECK_EQ(allowed({RestartLimit::kAny, 0, 0}, at_once), 5u);
}

TEST(restarts, ops_and_time_have_to_be_recent_both) {
  const Moment quiet[] = {{0, 0}, {1, 100}, {2, 200}, {3, 300}};  // few ops, much time
  const Moment busy[] = {{0, 0}, {100, 1}, {200, 2}, {300, 3}};   // and the other way round
  const Moment exact[] = {{0, 0}, {50, 50}, {100, 100}, {150, 150}};
  CHECK_EQ(allowed({2, 1000, 0}, quiet), 2u);
  CHECK_EQ(allowed({2, 0, 150}, quiet), 4u);
  CHECK_EQ(allowed({2, 1000, 150}, quiet), 4u);
  CHECK_EQ(allowed({2, 150, 1000}, busy), 4u);
  CHECK_EQ(allowed({2, 0, 1000}, busy), 2u);
  CHECK_EQ(allowed({2, 100, 100}, exact), 2u);  // the very last moment counts
  CHECK_EQ(allowed({2, 99, 100}, exact), 4u);
  CHECK_EQ(allowed({2, 100, 99}, exact), 4u);
}

TEST(restarts, delays_are_none_and_then_double_up_to_the_longest) {
  const Backoff backoff = Backoff::of(3, 20);
  const std::uint64_t expected[] = {0, 3, 6, 12, 20, 20, 20};
  unsigned level = 0;
  for (const std::uint64_t delay : expected) {
    CHECK_EQ(backoff.delay_at(level), delay);
    level = backoff.next(level);
  }
  CHECK(!backoff.begins_anew(19) && backoff.begins_anew(20));
  const Backoff widest = Backoff::of(1, UINT64_MAX);
  for (unsigned i = 0; i < 100; ++i) level = widest.next(level);
  CHECK(level < Backoff::kLevels);
  CHECK_EQ(widest.delay_at(63), std::uint64_t{1} << 62);
}

TEST(restarts, what_is_not_given_is_the_usual) {
  CHECK_EQ(Backoff::of(0, 0).max_ns, 0u);
  CHECK_EQ(Backoff::of(0, 0).delay_at(5), 0u);
  CHECK(Backoff::of(0, 0).begins_anew(0));
  CHECK_EQ(Backoff::of(5, 0).max_ns, Backoff::kMaxNs);
  CHECK_EQ(Backoff::of(2 * Backoff::kMaxNs, 0).max_ns, 2 * Backoff::kMaxNs);
  CHECK_EQ(Backoff::of(0, 2 * Backoff::kMinNs).min_ns, Backoff::kMinNs);
  CHECK_EQ(Backoff::of(0, 7).min_ns, 7u);
  CHECK(!Backoff::of(2, 1).is_valid());
  CHECK(Backoff::of(1, 1).is_valid());
}

}  // namespace janus::test
