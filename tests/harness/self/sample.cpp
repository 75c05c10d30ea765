// SPDX-License-Identifier: Apache-2.0
// sample.cpp — tests that pass, fail, skip and crash on purpose; self_test.py checks the harness's output for them.
#include "tests/harness/test.h"

namespace {

enum class Colour : unsigned char { kRed, kGreen };

TEST(sample, passes) {
  CHECK(true);
  CHECK_EQ(1, 1u);
  CHECK_EQ(Colour::kGreen, Colour::kGreen);
  CHECK_NE(-1, ~0u);
  CHECK_NE(std::int64_t{-1}, ~std::uint64_t{0});
  CHECK_LT(-1, 0u);
  CHECK_LT(-2, -1);
  CHECK_LE(2, 2u);
  CHECK_GT(0u, -1);
  CHECK_GE(3, 3);
  CHECK_STREQ("same", "same");
  REQUIRE(&sample_passes != nullptr);
}

TEST(sample, fails_and_goes_on) {
  CHECK(1 + 1 == 3);
  CHECK_EQ(-5, 5u);
  CHECK_LT(2u, 2);
  CHECK_STREQ("this", "that");
}

TEST(sample, leaves_at_a_requirement) {
  REQUIRE(false);
  CHECK(!"reached");
}

TEST(sample, skips) {
  SKIP("no such machine");
}

TEST(sample, fails_before_it_skips) {
  CHECK(false);
  SKIP("too late");
}

TEST(sample, sees_its_environment) {
  janus::test::note("HARNESS_NUMBER", janus::test::environment_number("HARNESS_NUMBER", 7));
}

TEST(crash, dies) {
  __builtin_trap();
}

TEST(crash, never_runs) {}

}  // namespace
