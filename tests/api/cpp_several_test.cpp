// SPDX-License-Identifier: Apache-2.0
// rt.hpp: several closures until enough of them have ended: all, any, race, quorum.
#include <janus/rt.hpp>

#include "tests/api/in_task.h"

namespace {

using namespace janus;
using namespace janus::literals;

struct MoveOnly {
  explicit MoveOnly(int of) noexcept : value(of) {}
  MoveOnly(MoveOnly&& other) noexcept : value(std::exchange(other.value, -1)) {}
  int value;
};

Error failure(std::int64_t code) {
  return {code, JANUS_KIND_CHILD_FAILED};
}

// Waits until it is cancelled. `running`: how many do.
struct Endless {
  std::atomic<int>& running;
  Result<int> operator()() const {
    running.fetch_add(1);
    const Result<void> slept = janus::sleep(3600_s);
    running.fetch_sub(1);
    return slept.ok() ? Result<int>(0) : Result<int>(slept.error());
  }
};

TASK_TEST(cpp_several, all_values_come_in_order) {
  auto all_of = all([] { return 1; }, [] { return MoveOnly(2); }, [] {}, []() -> Result<long> { return 4L; });
  REQUIRE(all_of.ok());
  CHECK_EQ(std::get<0>(all_of.value()), 1);
  CHECK_EQ(std::get<1>(all_of.value()).value, 2);
  CHECK_EQ(std::get<3>(all_of.value()), 4L);
  CHECK_EQ(std::get<0>(all([] { return 7; }).value()), 7);
}

TASK_TEST(cpp_several, the_first_that_fails_cancels_the_rest_of_all) {
  std::atomic<int> running{0};
  const auto failed = all(
      Endless{running}, []() -> Result<int> { return failure(-77); }, Endless{running});
  CHECK_EQ(failed.error().code, -77);
  const auto panicked = all(Endless{running}, [] { janus_task_panic("in all"); });
  CHECK_EQ(panicked.error().kind, static_cast<std::uint32_t>(JANUS_KIND_PANIC));
  CHECK_EQ(running.load(), 0);
}

TASK_TEST(cpp_several, any_takes_the_first_value_and_no_failure) {
  std::atomic<int> running{0};
  const auto first = any(
      Endless{running}, []() -> Result<int> { return failure(-5); },
      [] {
        (void)janus::sleep(1_ms);
        return 3;
      });
  CHECK_EQ(first.value(), 3);
  CHECK_EQ(running.load(), 0);
  const auto none = any([]() -> Result<int> { return failure(-5); }, []() -> Result<int> { return failure(-6); });
  CHECK(none.error().code == -5 || none.error().code == -6);
  CHECK(any([] {}, [] {}).ok());
}

TASK_TEST(cpp_several, whatever_ends_first_wins_a_race) {
  std::atomic<int> running{0};
  CHECK_EQ(race(Endless{running}, []() -> Result<int> { return failure(-5); }).error().code, -5);
  CHECK_EQ(race([] { return 8; }, Endless{running}).value(), 8);
  CHECK_EQ(running.load(), 0);
  CHECK_EQ(race([] { return MoveOnly(9); }).value().value, 9);
}

TASK_TEST(cpp_several, a_quorum_waits_for_as_many_as_it_wants) {
  std::atomic<int> running{0};
  auto most = quorum(
      2, [] { return 1; }, Endless{running}, []() -> Result<int> { return failure(-3); }, [] { return 4; });
  CHECK_EQ(most.values, 2u);
  CHECK_EQ(most.size(), 4u);
  CHECK_EQ(most[0].value(), 1);
  CHECK(!most[2].ok());  // it has failed, or was not needed any more
  CHECK_EQ(most[3].value(), 4);
  CHECK(!most[1].ok());
  CHECK_EQ(running.load(), 0);
  // Two of three have failed: there is nothing to wait for.
  const auto few = quorum(
      2, []() -> Result<int> { return failure(-1); }, Endless{running}, []() -> Result<int> { return failure(-3); });
  CHECK_EQ(few.values, 0u);
  CHECK_EQ(running.load(), 0);
  CHECK_EQ(quorum(0, Endless{running}).values, 0u);
  CHECK_LT(quorum(2, [] { return 1; }).values, 2u);
}

TASK_TEST(cpp_several, each_has_a_time_within_a_timeout) {
  std::atomic<int> running{0};
  const auto late = timeout(5_ms, [&] { return any(Endless{running}, Endless{running}); });
  CHECK_EQ(late.error().code, JANUS_E_TIMEOUT);
  CHECK_EQ(running.load(), 0);
}

TASK_TEST(cpp_several, a_cancelled_caller_is_told_so) {
  for (int way = 0; way < 4; ++way) {
    std::atomic<int> running{0};
    std::atomic<std::int64_t> code{0};
    std::atomic<bool> has_begun{false};
    Nursery nursery;
    auto caller = nursery.spawn([&] {
      has_begun = true;
      const Endless one{running}, other{running};
      if (way == 0) code = all(one, other).error().code;
      if (way == 1) code = any(one, other).error().code;
      if (way == 2) code = race(one, other).error().code;
      if (way == 3) code = quorum(1, one, other)[0].error().code;
    });
    CHECK(test::eventually([&] { return has_begun.load(); }));
    nursery.cancel();
    (void)nursery.await();
    CHECK_EQ(code.load(), JANUS_CANCELLED);
    CHECK_EQ(running.load(), 0);
  }
}

}  // namespace
