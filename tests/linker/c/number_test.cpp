// SPDX-License-Identifier: Apache-2.0
// number_test.cpp: conversions of text to numbers, and their errors, are the same as glibc's.
#include <bit>
#include <cerrno>
#include <cinttypes>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/harness/test.h"

extern "C" {
int* jc___errno_location();
long jc_strtol(const char* text, char** end, int base);
unsigned long jc_strtoul(const char* text, char** end, int base);
long long jc_strtoll(const char* text, char** end, int base);
unsigned long long jc_strtoull(const char* text, char** end, int base);
std::intmax_t jc_strtoimax(const char* text, char** end, int base);
int jc_atoi(const char* text);
int jc_abs(int value);
div_t jc_div(int dividend, int divisor);
lldiv_t jc_lldiv(long long dividend, long long divisor);
imaxdiv_t jc_imaxdiv(std::intmax_t dividend, std::intmax_t divisor);
double jc_ceil(double x);
double jc_floor(double x);
}

namespace {

template <class Number>
using Parser = Number (*)(const char*, char**, int);

template <class Number>
bool same(Parser<Number> our, Parser<Number> their, const std::string& text, int base) {
  char *our_end = nullptr, *their_end = nullptr;
  *jc___errno_location() = errno = 0;
  const Number our_number = our(text.c_str(), &our_end, base);
  const int our_error = *jc___errno_location();
  errno = 0;
  const Number their_number = their(text.c_str(), &their_end, base);
  const bool base_is_valid = base == 0 || (base >= 2 && base <= 36);
  if (our_number == their_number && our_error == errno && (our_end == their_end || !base_is_valid)) return true;
  janus::test::note("text", text.c_str());
  CHECK_EQ(base, INT_MIN);  // shows the base in the output
  return false;
}

bool all_same(const std::string& text, int base) {
  return same<long>(jc_strtol, strtol, text, base) && same<unsigned long>(jc_strtoul, strtoul, text, base) &&
         same<long long>(jc_strtoll, strtoll, text, base) &&
         same<unsigned long long>(jc_strtoull, strtoull, text, base) &&
         same<std::intmax_t>(jc_strtoimax, strtoimax, text, base);
}

constexpr int kBases[] = {0, 2, 3, 8, 10, 16, 35, 36, -1, 1, 37};

}  // namespace

TEST(number, edges_are_parsed_as_glibc_parses_them) {
  const char* const texts[] = {"",
                               " ",
                               "+",
                               "-",
                               "0",
                               "-0",
                               "00",
                               "0x",
                               "0X",
                               "0xg",
                               "0xf",
                               "-0xF",
                               "0x0x1",
                               "08",
                               "09",
                               "0b1",
                               "z",
                               "Zz",
                               "\t\n\v\f\r 12",
                               "12abc",
                               "+-1",
                               "--1",
                               "1 2",
                               "9223372036854775807",
                               "9223372036854775808",
                               "-9223372036854775808",
                               "-9223372036854775809",
                               "18446744073709551615",
                               "18446744073709551616",
                               "-18446744073709551615",
                               "-18446744073709551616",
                               "99999999999999999999999999",
                               "-99999999999999999999999999",
                               "0x7fffffffffffffff",
                               "0xffffffffffffffff",
                               "0x10000000000000000",
                               "1777777777777777777777",
                               "2000000000000000000000"};
  for (const char* text : texts)
    for (int base : kBases) CHECK(all_same(text, base));
}

TEST(number, random_texts_are_parsed_as_glibc_parses_them) {
  std::minstd_rand random{1};
  const char alphabet[] = "0123456789abcfxXzZ+- \t";
  for (int round = 0; round < 60000; round++) {
    std::string text;
    for (auto length = random() % 24; length > 0; length--) text += alphabet[random() % (sizeof alphabet - 1)];
    REQUIRE(all_same(text, kBases[random() % 8]));
  }
}

TEST(number, the_end_pointer_may_be_null) {
  CHECK_EQ(jc_strtol("12x", nullptr, 10), 12);
  CHECK_EQ(jc_atoi(" -77 "), -77);
}

TEST(number, division_gives_both_results) {
  const div_t small = jc_div(-7, 2);
  CHECK_EQ(small.quot, -3);
  CHECK_EQ(small.rem, -1);
  CHECK_EQ(jc_lldiv(LLONG_MIN, 3).rem, LLONG_MIN % 3);
  CHECK_EQ(jc_imaxdiv(10, -4).quot, -2);
  CHECK_EQ(jc_abs(-5), 5);
}

TEST(number, whole_numbers_above_and_below_are_glibcs_to_the_bit) {
  std::mt19937_64 random(5);
  std::vector<double> numbers = {0.0,
                                 0.5,
                                 1.0,
                                 4503599627370495.5,
                                 4503599627370496.0,
                                 9.3e18,
                                 std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::denorm_min()};
  // Random numbers of every exponent, and numbers near whole ones, where one bit decides.
  for (int i = 0; i < 200000; i++) numbers.push_back(std::bit_cast<double>(random()));
  for (int i = 0; i < 20000; i++) {
    const double whole = static_cast<double>(random() >> (12 + random() % 52));
    numbers.insert(numbers.end(), {whole, std::nextafter(whole, 0.0), std::nextafter(whole, 1e300), whole + 0.5});
  }
  for (double number : numbers) {
    for (double x : {number, -number}) {
      if (std::isnan(x)) {
        REQUIRE(std::isnan(jc_ceil(x)) && std::isnan(jc_floor(x)));
        continue;
      }
      REQUIRE(std::bit_cast<std::uint64_t>(jc_ceil(x)) == std::bit_cast<std::uint64_t>(std::ceil(x)));
      REQUIRE(std::bit_cast<std::uint64_t>(jc_floor(x)) == std::bit_cast<std::uint64_t>(std::floor(x)));
    }
  }
}
