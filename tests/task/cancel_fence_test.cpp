// SPDX-License-Identifier: Apache-2.0
// cancel_fence_test.cpp — a heavy fence interrupts every CPU that the process runs on, so a cancel causes one only
// where it may come by somebody who is blocked. One worker, which has nobody to steal from.
#include "tests/conformance/world.h"
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

// How many heavy fences so many cancels cause, each of a nursery with one child that has had a turn, or none.
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

TEST(cancel_fence, none_where_nobody_was_ever_off_the_worker) {
  CHECK_EQ(fences_of_cancels(nothing, false), 0u);
  CHECK_EQ(fences_of_cancels(nothing, true), 0u);
}

TEST(cancel_fence, one_where_somebody_waits) {
  CHECK_EQ(fences_of_cancels(wait_for_ever, true), kCancels);
}

}  // namespace janus::test
