// SPDX-License-Identifier: Apache-2.0
// tests/base/format_oracle_test.cpp — janus_vformat beside the C library's vsnprintf, over every combination of flags,
// width, precision, length and conversion, with values from the edges. Hosted only.
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>

#include "rt/base/format.h"
#include "rt/base/rng.h"
#include "tests/harness/test.h"

namespace {

constexpr std::size_t kCapacity = 128;

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

// Reports only differences: there are some hundred thousand comparisons.
template <typename... Values>
bool agrees(std::size_t capacity, const std::string& format, Values... values) {
  const Output expected = by_oracle(capacity, format.c_str(), values...);
  const Output actual = by_us(capacity, format.c_str(), values...);
  if (expected.size == actual.size && std::memcmp(expected.bytes, actual.bytes, kCapacity) == 0) return true;
  janus::test::note("format", format.c_str());
  CHECK_STREQ(actual.bytes, expected.bytes);
  return CHECK_EQ(actual.size, expected.size);
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
    for (const char conversion : std::string("diuoxX")) {
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
    // Edges and small numbers as often as large ones.
    if (!agrees(kCapacity, format, static_cast<long long>(rng.next() >> rng.below(64)))) return;
  }
}

}  // namespace
