// SPDX-License-Identifier: Apache-2.0
// tests/base/format_oracle_test.cpp — compares janus_vformat with the C library's vsnprintf, for every combination of
// flags, width, precision, length and conversion, with values at the edges of their ranges. Hosted only.
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "rt/base/format.h"
#include "rt/base/rng.h"
#include "tests/harness/test.h"

namespace {

constexpr std::size_t kCapacity = 2048;  // the longest double has 1,077 bytes

struct Output {
  char bytes[kCapacity];
  long long size;
};

Output by_oracle(std::size_t capacity, const char* format, ...) {
  Output output;
  std::memset(output.bytes, '#', sizeof output.bytes);
  va_list arguments;
  va_start(arguments, format);
  output.size = std::vsnprintf(output.bytes, capacity, format, arguments);
  va_end(arguments);
  return output;
}

Output by_us(std::size_t capacity, const char* format, ...) {
  Output output;
  std::memset(output.bytes, '#', sizeof output.bytes);
  va_list arguments;
  va_start(arguments, format);
  output.size = static_cast<long long>(janus_vformat(output.bytes, capacity, format, arguments));
  va_end(arguments);
  return output;
}

// Prints a line only where the two differ: there are some hundred thousand comparisons.
template <typename... Values>
bool agrees(std::size_t capacity, const std::string& format, Values... values) {
  const Output expected = by_oracle(capacity, format.c_str(), values...);
  const Output actual = by_us(capacity, format.c_str(), values...);
  if (expected.size == actual.size && std::memcmp(expected.bytes, actual.bytes, kCapacity) == 0) return true;
  janus::test::note("format", format.c_str());
  CHECK_STREQ(actual.bytes, expected.bytes);
  return CHECK_EQ(actual.size, expected.size);
}

// True where the oracle's %#g is wrong: it omits trailing zeros where rounding makes the number a digit longer.
bool oracle_errs(const std::string& format, double value) {
  if (format.find('#') == std::string::npos || (format.back() | 0x20) != 'g') return false;
  const std::size_t point = format.find('.');
  const int precision = point == std::string::npos ? 6 : std::atoi(format.c_str() + point + 1);
  char exact[64], rounded[64];
  std::snprintf(exact, sizeof exact, "%.30e", value);
  std::snprintf(rounded, sizeof rounded, "%.*e", precision > 0 ? precision - 1 : 0, value);
  const char* const exponent = std::strchr(exact, 'e');
  return exponent != nullptr && std::strcmp(exponent, std::strchr(rounded, 'e')) != 0;
}

const char* const kWidths[] = {"", "1", "2", "7", "30"};
const char* const kPrecisions[] = {"", ".", ".0", ".1", ".5", ".6", ".25"};

// Calls each(prefix) with every "%[flags][width][.precision]".
template <typename Each>
void for_each_prefix(Each each) {
  for (unsigned mask = 0; mask < 32; ++mask) {
    std::string flags;
    for (unsigned i = 0; i < 5; ++i) {
      if (((mask >> i) & 1) != 0) flags += "-0+ #"[i];
    }
    for (const char* width : kWidths) {
      for (const char* precision : kPrecisions) each("%" + flags + width + precision);
    }
  }
}

constexpr long long kValues[] = {0,
                                 1,
                                 -1,
                                 7,
                                 8,
                                 9,
                                 -10,
                                 255,
                                 256,
                                 -129,
                                 32767,
                                 32768,
                                 65536,
                                 123456789,
                                 std::numeric_limits<int>::max(),
                                 std::numeric_limits<int>::min(),
                                 std::numeric_limits<long long>::max(),
                                 std::numeric_limits<long long>::min()};

TEST(format_oracle, integers_of_all_lengths_agree) {
  for_each_prefix([](const std::string& prefix) {
    for (const char conversion : std::string("diuoxXbB")) {
      for (const long long value : kValues) {
        const int narrow = static_cast<int>(value);
        if (!agrees(kCapacity, prefix + conversion, narrow)) return;
        if (!agrees(kCapacity, prefix + "h" + conversion, narrow)) return;
        if (!agrees(kCapacity, prefix + "hh" + conversion, narrow)) return;
        for (const char* length : {"l", "ll", "z", "t", "j"}) {
          if (!agrees(kCapacity, prefix + length + conversion, value)) return;
        }
      }
    }
  });
}

TEST(format_oracle, strings_and_characters_agree) {
  for_each_prefix([](const std::string& prefix) {
    for (const char* text : {"", "a", "ab\xff\ncd", "a string that is longer than any width"}) {
      if (!agrees(kCapacity, prefix + "s", text)) return;
    }
    for (const int byte : {97, 0, 255, -1, 0x161}) {
      if (!agrees(kCapacity, prefix + "c", byte)) return;
    }
    if (!agrees(kCapacity, prefix + "s", static_cast<const char*>(nullptr))) return;
  });
}

TEST(format_oracle, pointers_agree) {
  for_each_prefix([](const std::string& prefix) {
    for (const std::uintptr_t address : {std::uintptr_t{0}, std::uintptr_t{0x7ffc12345678}, ~std::uintptr_t{0}}) {
      if (!agrees(kCapacity, prefix + "p", reinterpret_cast<void*>(address))) return;
    }
  });
}

constexpr double kDoubles[] = {0.0,
                               0.5,
                               1.5,
                               2.5,
                               0.05,
                               0.25,
                               0.125,
                               1.0,
                               9.5,
                               9.9999995,
                               99999.95,
                               999999.5,
                               123456789.0,
                               1e15,
                               1e16,
                               1e21,
                               1e22,
                               1e23,
                               0.1,
                               0.3,
                               1.0 / 3,
                               2.0 / 3,
                               1e-4,
                               1e-5,
                               9.9999e-5,
                               5e-324,
                               2.2250738585072014e-308,
                               std::numeric_limits<double>::max(),
                               std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN(),
                               6.02214076e23,
                               1.8446744073709552e19};

TEST(format_oracle, numbers_with_a_point_agree) {
  for_each_prefix([](const std::string& prefix) {
    for (const char conversion : std::string("eEfFgGaA"))
      for (const double value : kDoubles)
        for (const double signed_value : {value, -value}) {
          if (oracle_errs(prefix + conversion, signed_value)) continue;
          if (!agrees(kCapacity, prefix + conversion, signed_value)) return;
          if (!agrees(kCapacity, prefix + "l" + conversion, signed_value)) return;
        }
  });
  for (const char* format : {"%.1100f", "%.1074f", "%.1073f", "%.766e", "%.767g", "%.800g", "%#.800g", "%.1000e",
                             "%2000.3f", "%02000.1f", "%.30a"})
    for (const double value : kDoubles)
      if (!agrees(kCapacity, format, value)) return;
}

TEST(format_oracle, long_doubles_that_are_doubles_agree) {
  for (const char* format : {"%Lf", "%Lg", "%.20Le"})
    for (const double value : kDoubles)
      if (!agrees(kCapacity, format, static_cast<long double>(value))) return;
}

TEST(format_oracle, random_doubles_agree) {
  janus::Rng rng(janus::test::environment_number("JANUS_TEST_SEED", 1));
  for (unsigned i = 0; i < 100'000; ++i) {
    std::string format = "<%";
    for (std::uint64_t flags = rng.below(4); flags != 0; --flags) format += "-0+ #"[rng.below(5)];
    if (rng.below(2) != 0) format += std::to_string(rng.below(40));
    if (rng.below(4) != 0) format.append(".").append(std::to_string(rng.below(30)));
    format += "aefgAEFG"[rng.below(8)];
    // By turns: any bits; a number of moderate size; a number with few decimal digits.
    double value = std::bit_cast<double>(rng.next());
    if (i % 3 == 1)
      value = static_cast<double>(rng.next() >> rng.below(64)) / static_cast<double>(1 + rng.below(1'000'000));
    if (i % 3 == 2) value = static_cast<double>(rng.below(2'000'000)) / 64 - 10'000;
    if (!oracle_errs(format, value) && !agrees(kCapacity, format + ">", value)) return;
  }
}

TEST(format_oracle, widths_and_precisions_from_arguments_agree) {
  for (const int width : {0, 3, -3, 20, -20}) {
    for (const int precision : {-5, -1, 0, 2, 10}) {
      if (!agrees(kCapacity, "[%*.*d]", width, precision, 42)) return;
      if (!agrees(kCapacity, "[%*.*s]", width, precision, "text")) return;
      if (!agrees(kCapacity, "[%0*d|%-*x]", width, -42, width, 42u)) return;
    }
  }
}

TEST(format_oracle, every_capacity_cuts_alike) {
  for (std::size_t capacity = 0; capacity < 60; ++capacity) {
    if (!agrees(capacity, "%s|%20d|%-12s|%#x|%.9d|%c|100%%", "some text", -12345, "left", 48879u, 17, 'z')) return;
  }
}

TEST(format_oracle, many_arguments_agree) {
  agrees(kCapacity, "%d %s %u %lx %c %zu %hhd %p %o %i %ld %s", 1, "two", 3u, 4ul, '5', std::size_t{6}, 7,
         reinterpret_cast<void*>(0x8), 9u, 10, 11l, "twelve");
}

TEST(format_oracle, random_directives_agree) {
  janus::Rng rng(janus::test::environment_number("JANUS_TEST_SEED", 1));
  const auto pick = [&rng](const std::string& from) { return from[rng.below(from.size())]; };
  for (unsigned i = 0; i < 100'000; ++i) {
    std::string format = "<%";
    for (std::uint64_t flags = rng.below(4); flags != 0; --flags) format += pick("-0+ #");
    if (rng.below(2) != 0) format += std::to_string(rng.below(40));
    if (rng.below(2) != 0) format.append(".").append(std::to_string(rng.below(40)));
    format += "ll";
    format += pick("diuoxX");
    format += ">";
    // A random number of bits, so that small numbers are as frequent as large ones.
    if (!agrees(kCapacity, format, static_cast<long long>(rng.next() >> rng.below(64)))) return;
  }
}

}  // namespace
