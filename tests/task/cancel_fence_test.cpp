// SPDX-License-Identifier: Apache-2.0
// cancel_fence_test.cpp — a heavy fence interrupts every CPU that the process runs on, so a cancel makes one only where
// it meets a task that may be about to wait. One worker, so that no task is stolen.
#include "tests/api/world.h"
#include "tests/fake_platform/fake_platform.h"

namespace janus::test {

namespace {

constexpr unsigned kCancels = 100;

std::int64_t nothing(void*) {
  return 0;
}

std::int64_t wait_for_ever(void*) {
  return janus_park(-1);
}

std::int64_t wait_in_a_nursery(void*) {
  Scope scope;
  scope.go(wait_for_ever, nullptr);
  return scope.end();
}

std::int64_t wait_at_a_channel(void*) {
  janus_channel* const channel = janus_channel_create(8, 0);
  std::uint64_t word = 0;
  const int told = janus_channel_recv(channel, &word);
  janus_channel_release(channel);
  return told;
}

std::int64_t yield_for_ever(void*) {
  while (janus_yield() == 0) {
  }
  return -1;
}

// The number of heavy fences that kCancels cancels make. Each cancels a nursery with one child, which has already run
// if `has_turn`.
std::uint64_t fences_of_cancels(janus_task_fn fn, bool has_turn) {
  fake_platform::reset();
  std::uint64_t caused = 0;
  CHECK_EQ(run_in(with_workers(1),
                  [&] {
                    const std::uint64_t before = fake_platform::heavy_fences();
                    for (unsigned n = 0; n < kCancels; n++) {
                      Scope scope;
                      scope.go(fn, nullptr);
                      if (has_turn) janus_yield();
                      CHECK_EQ(scope.cancel(), 0);
                      scope.end();
                    }
                    caused = fake_platform::heavy_fences() - before;
                    return 0L;
                  }),
           0);
  return caused;
}

}  // namespace

TEST(cancel_fence, none_is_made_if_no_member_ever_left_the_worker) {
  CHECK_EQ(fences_of_cancels(nothing, false), 0u);
  CHECK_EQ(fences_of_cancels(nothing, true), 0u);
}

TEST(cancel_fence, none_is_made_if_all_members_already_wait) {
  CHECK_EQ(fences_of_cancels(wait_for_ever, true), 0u);
  CHECK_EQ(fences_of_cancels(wait_at_a_channel, true), 0u);
}

TEST(cancel_fence, one_fence_is_made_where_a_member_may_be_about_to_wait) {
  CHECK_EQ(fences_of_cancels(yield_for_ever, true), kCancels);
}

// Half of the members yield, and half wait.
TEST(cancel_fence, one_fence_serves_any_number_of_members) {
  fake_platform::reset();
  run_in(with_workers(1), [] {
    Scope scope;
    for (int i = 0; i < 1000; ++i) scope.go(i % 2 == 0 ? yield_for_ever : wait_in_a_nursery, nullptr);
    for (int i = 0; i < 5; ++i) janus_yield();
    const std::uint64_t before = fake_platform::heavy_fences();
    CHECK_EQ(scope.cancel(), 0);
    CHECK_EQ(fake_platform::heavy_fences() - before, 1u);
    scope.end();
  });
}

TEST(cancel_fence, none_is_made_by_the_only_running_worker) {
  fake_platform::reset();
  run_in(with_workers(1), [] {
    Scope scope;
    auto cancel = [&scope] {
      janus_yield();
      const std::uint64_t before = fake_platform::heavy_fences();
      CHECK_EQ(scope.cancel(), 0);
      CHECK_EQ(fake_platform::heavy_fences() - before, 0u);
    };
    scope.go(cancel);
    scope.go(wait_for_ever, nullptr);
    scope.end();
  });
}

TEST(cancel_fence, the_task_that_cancels_pays_for_it) {
  fake_platform::reset();
  run_in(with_workers(1), [] {
    for (const janus_task_fn fn : {wait_for_ever, yield_for_ever}) {
      auto pay = [fn] {
        Scope scope;
        scope.go(fn, nullptr);
        janus_yield();
        const std::uint64_t before = janus_budget_get_current().ops;
        CHECK_EQ(scope.cancel(), 0);
        const std::uint64_t paid = before - janus_budget_get_current().ops;
        CHECK(fn == wait_for_ever ? paid < 16 : paid > 32);
        scope.end();
      };
      janus_budget budget = JANUS_BUDGET_ALL;
      budget.ops = 100'000;
      Scope scope;
      scope.go(pay, 0, budget);
      scope.end();
    }
  });
}

}  // namespace janus::test
