// SPDX-License-Identifier: Apache-2.0
#include "rt/base/checked.h"

#include "tests/harness/test.h"

namespace {

using janus::checked_add;
using janus::checked_mul;
using janus::checked_round_up;
using janus::checked_sub;
using janus::saturating_add;

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();

// Every pair of bytes, compared with arithmetic in wider integers.
TEST(checked, says_for_every_pair_of_bytes_whether_the_result_fits) {
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) {
      const std::uint8_t x = static_cast<std::uint8_t>(a);
      const std::uint8_t y = static_cast<std::uint8_t>(b);
      std::uint8_t out = 0;
      const bool adds = checked_add(x, y, out);
      if (adds != (a + b < 256) || (adds && out != a + b)) CHECK_EQ(out, a + b);
      const bool multiplies = checked_mul(x, y, out);
      if (multiplies != (a * b < 256) || (multiplies && out != a * b)) CHECK_EQ(out, a * b);
      const bool subtracts = checked_sub(x, y, out);
      if (subtracts != (a >= b) || (subtracts && out != a - b)) CHECK_EQ(out, a - b);
    }
  }
}

TEST(checked, sizes_overflow_at_their_end_and_not_before) {
  std::size_t out = 0;
  CHECK(checked_add(kMax - 1, std::size_t{1}, out));
  CHECK_EQ(out, kMax);
  CHECK(!checked_add(kMax, std::size_t{1}, out));
  CHECK(checked_mul(std::size_t{1} << 32, (std::size_t{1} << 32) - 1, out));
  CHECK(!checked_mul(std::size_t{1} << 32, std::size_t{1} << 32, out));
}

TEST(checked, rounding_up_stops_where_no_multiple_fits) {
  std::size_t out = 0;
  CHECK(checked_round_up(std::size_t{0}, std::size_t{4096}, out));
  CHECK_EQ(out, 0);
  CHECK(checked_round_up(std::size_t{1}, std::size_t{4096}, out));
  CHECK_EQ(out, 4096);
  CHECK(checked_round_up(std::size_t{4096}, std::size_t{4096}, out));
  CHECK_EQ(out, 4096);
  CHECK(checked_round_up(kMax - 4095, std::size_t{4096}, out));
  CHECK_EQ(out, kMax - 4095);
  CHECK(!checked_round_up(kMax - 4094, std::size_t{4096}, out));
}

TEST(checked, saturating_sums_stop_at_the_most) {
  CHECK_EQ(saturating_add(1u, 2u), 3u);
  CHECK_EQ(saturating_add(kMax, std::size_t{1}), kMax);
  CHECK_EQ(saturating_add(kMax, std::size_t{1}, kMax - 1), kMax - 1);
  CHECK_EQ(saturating_add(kMax - 2, std::size_t{1}, kMax - 1), kMax - 1);
  CHECK_EQ(saturating_add(5u, 5u, 7u), 7u);
}

}  // namespace
