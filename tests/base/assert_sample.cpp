// SPDX-License-Identifier: Apache-2.0
// assert_sample.cpp — claims that hold and claims that do not; assert_test.py runs each by itself and holds what it
// says and how it ends.
#include "rt/base/assert.h"
#include "tests/harness/test.h"

// Compared byte by byte where assertions are off.
extern "C" [[gnu::noinline, gnu::used, gnu::retain]] int janus_test_asserted(int number) {
  JANUS_ASSERT(number > 0);
  return number * 3;
}
extern "C" [[gnu::noinline, gnu::used, gnu::retain]] int janus_test_unasserted(int number) {
  return number * 3;
}

namespace {

unsigned asked = 0;

bool answer(bool holds) {
  ++asked;
  return holds;
}

TEST(claims, that_hold_cost_nothing_else) {
  JANUS_CHECK(answer(true));
  CHECK_EQ(asked, 1u);
  JANUS_ASSERT(answer(true));
  CHECK_EQ(asked, janus::kAssertions ? 2u : 1u);
  CHECK_EQ(janus_test_asserted(2), janus_test_unasserted(2));
}

TEST(claims, checked) {
  JANUS_CHECK(answer(false) && "a, b");
}

TEST(claims, asserted) {
  JANUS_ASSERT(answer(false));
}

TEST(claims, too_long) {
  JANUS_CHECK(answer(false) &&
              "012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
              "01234567890123456789012345678901234567890123456789012345678901234567890123456789"
              "01234567890123456789012345678901234567890123456789012345678901234567890123456789"
              "01234567890123456789012345678901234567890123456789012345678901234567890123456789"
              "01234567890123456789012345678901234567890123456789012345678901234567890123456789"
              "01234567890123456789012345678901234567890123456789012345678901234567890123456789");
}

}  // namespace
