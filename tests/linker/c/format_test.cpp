// SPDX-License-Identifier: Apache-2.0
// format_test.cpp: snprintf prints what glibc's prints, for every combination of flags, widths, precisions and sizes.
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "tests/harness/test.h"
#include "tests/linker/c/runtime.h"

extern "C" int jc_snprintf(char* to, std::size_t size, const char* format, ...);
extern "C" int* jc___errno_location();
extern "C" int jc_sprintf(char* to, const char* format, ...);
extern "C" int jc_vsnprintf(char* to, std::size_t size, const char* format, va_list values);

#pragma GCC diagnostic ignored "-Wformat-security"

namespace {

char ours[4096], theirs[4096];

template <class... Values>
bool agree(const std::string& format, Values... values) {
  const int our_length = jc_snprintf(ours, sizeof ours, format.c_str(), values...);
  const int their_length = snprintf(theirs, sizeof theirs, format.c_str(), values...);
  if (our_length == their_length && strcmp(ours, theirs) == 0) return true;
  janus::test::note("format", format.c_str());
  return CHECK_STREQ(ours, theirs);
}

const char* const kWidths[] = {"", "1", "5", "12", "70"};
const char* const kPrecisions[] = {"", ".", ".0", ".1", ".4", ".25"};

// All 32 sets of flags with every width and precision.
template <class Each>
bool for_each_layout(Each each) {
  for (unsigned set = 0; set < 32; set++) {
    std::string flags;
    for (unsigned bit = 0; bit < 5; bit++)
      if (set >> bit & 1) flags += "-+ #0"[bit];
    for (const char* width : kWidths)
      for (const char* precision : kPrecisions)
        if (!each("%" + flags + width + precision)) return false;
  }
  return true;
}

template <class Number>
bool numbers_agree(const char* size, const char* letters, std::initializer_list<Number> numbers) {
  return for_each_layout([&](const std::string& layout) {
    for (const char* letter = letters; *letter != 0; letter++)
      for (Number number : numbers)
        if (!agree("<" + layout + size + *letter + ">", number)) return false;
    return true;
  });
}

}  // namespace

TEST(format, integers_of_every_size_look_as_glibc_prints_them) {
  CHECK(numbers_agree<int>("hh", "diuoxX", {0, 1, -1, 127, 128, 255, 256}));
  CHECK(numbers_agree<int>("h", "diuoxX", {0, -1, 32767, 32768, 65536}));
  CHECK(numbers_agree<int>("", "diuoxX", {0, 1, -1, 7, 8, 42, INT_MAX, INT_MIN}));
  CHECK(numbers_agree<long>("l", "diuoxX", {0L, -1L, LONG_MAX, LONG_MIN}));
  CHECK(numbers_agree<long long>("ll", "diuoxX", {0LL, -1LL, LLONG_MAX, LLONG_MIN}));
  CHECK(numbers_agree<std::intmax_t>("j", "diuoxX", {0, INTMAX_MAX, INTMAX_MIN}));
  CHECK(numbers_agree<std::size_t>("z", "diuoxX", {0, SIZE_MAX, 12345}));
  CHECK(numbers_agree<std::ptrdiff_t>("t", "diuoxX", {0, PTRDIFF_MAX, PTRDIFF_MIN}));
}

TEST(format, strings_are_padded_and_cut_as_glibc_does) {
  for (const char* text : {"", "a", "hello", "a longer text than any width here, to see it cut, or not"})
    CHECK(for_each_layout([&](const std::string& layout) { return agree("<" + layout + "s>", text); }));
  CHECK(agree("%s|%.3s|%.6s|%10s", static_cast<const char*>(nullptr), static_cast<const char*>(nullptr),
              static_cast<const char*>(nullptr), static_cast<const char*>(nullptr)));
}

TEST(format, a_string_with_a_precision_needs_no_end) {
  const char unterminated[3] = {'a', 'b', 'c'};
  CHECK_EQ(jc_snprintf(ours, sizeof ours, "%.3s", unterminated), 3);
  CHECK_STREQ(ours, "abc");
}

TEST(format, characters_pointers_and_percent_signs) {
  CHECK(agree("%c%5c%-5c|", 'a', 'b', 'c'));
  CHECK(agree("%%%d%%", 5));
  int object = 0;
  for (const char* layout : {"%p", "%20p", "%-20p|"}) {
    CHECK(agree(layout, static_cast<void*>(&object)));
    CHECK(agree(layout, static_cast<void*>(nullptr)));
  }
  const int length = jc_snprintf(ours, sizeof ours, "a%cb", 0);
  CHECK_EQ(length, 3);
  CHECK_EQ(ours[1], 0);
  CHECK_EQ(ours[2], 'b');
}

TEST(format, width_and_precision_come_from_arguments) {
  for (int width : {-20, -1, 0, 1, 20})
    for (int precision : {-5, 0, 3, 10}) {
      CHECK(agree("<%*.*d>", width, precision, -42));
      CHECK(agree("<%-*.*s>", width, precision, "text"));
      CHECK(agree("<%0*d>", width, 42));
    }
}

TEST(format, overlong_text_is_counted_and_cut_with_a_terminator) {
  for (std::size_t size = 0; size < 16; size++) {
    memset(ours, '#', sizeof ours);
    memset(theirs, '#', sizeof theirs);
    CHECK_EQ(jc_snprintf(ours, size, "%s-%d", "hello", 12345), 11);
    snprintf(theirs, size, "%s-%d", "hello", 12345);
    CHECK(memcmp(ours, theirs, 32) == 0);
  }
  CHECK_EQ(jc_snprintf(nullptr, 0, "%0100d", 1), 100);
}

TEST(format, a_length_beyond_int_is_an_error) {
  CHECK_EQ(jc_snprintf(ours, 8, "%2147483647d%d", 1, 22), -1);
}

TEST(format, wide_strings_print_their_ascii) {
  CHECK_EQ(jc_snprintf(ours, sizeof ours, "<%ls|%5ls|%-5ls|%.2ls>", L"ab", L"ab", L"ab", L"abc"), 19);
  CHECK_STREQ(ours, "<ab|   ab|ab   |ab>");
  jc_snprintf(ours, sizeof ours, "%ls", L"\u00e9");
  CHECK_STREQ(ours, "?");
}

// Extensions that compilers accept without a warning: each takes its argument, so that the following ones are right.
TEST(format, extensions_agree) {
  numbers_agree<unsigned>("", "bB", {0u, 5u, ~0u});
  numbers_agree<unsigned long>("l", "b", {~0ul});
  agree("%'d items in %s|%'8u|%'.2f", 1000000, "x", 89u, 1.5);
  agree("%Id %s", 5, "x");
  agree("%S %C %s", L"wide", L'w', "x");
}

// tests/base/format_oracle_test.cpp compares the digits themselves. Values whose %#g glibc prints wrongly are not among
// these.
TEST(format, floating_point_agrees) {
  numbers_agree<double>("", "eEfFgGaA",
                        {0.0, -0.0, 1.0, -1.5, 0.1, 1e-5, 123456.0, -6.02214076e23, 5e-324, 1e308, HUGE_VAL, NAN});
  numbers_agree<long double>("L", "efg", {0.5L, -1e22L});
  agree("%d %f %d %Lg %s", 1, 2.0, 3, 4.0L, "five");
  agree("%.1100f|%.2000e|%01500.3f", 5e-324, 1e-300, -1.0);
}

TEST(format, long_directives_are_paid_for) {
  const std::string flags = "%" + std::string(64'000, '0') + "d", width = "%" + std::string(64'000, '0') + "1d";
  const std::wstring wide(64'000, L'x');
  for (const std::string& format : {flags, width, "%." + std::string(64'000, '0') + "1d"}) {
    const auto before = runtime::paid;
    jc_snprintf(ours, sizeof ours, format.c_str(), 1);
    CHECK(runtime::paid - before >= 999);
  }
  const auto before = runtime::paid;
  jc_snprintf(ours, sizeof ours, "%.3ls%ls", wide.c_str(), wide.c_str());
  CHECK(runtime::paid - before >= 999);
}

TEST(format, n_stores_the_length_so_far) {
  signed char tiny = 0;
  short small = 0;
  int plain = 0;
  long large = 0;
  jc_snprintf(ours, 4, "ab%hhn-%hn%d%n..%ln", &tiny, &small, 12345, &plain, &large);
  CHECK_EQ(tiny, 2);
  CHECK_EQ(small, 3);
  CHECK_EQ(plain, 8);
  CHECK_EQ(large, 10);
}

TEST(format, text_that_is_no_conversion_is_copied) {
  jc_snprintf(ours, sizeof ours, "100%y and %");
  CHECK_STREQ(ours, "100%y and %");
}

TEST(format, m_is_the_text_of_errno) {
  *jc___errno_location() = ENOENT;
  jc_snprintf(ours, sizeof ours, "<%30m>", 0);
  CHECK_STREQ(ours, "<     No such file or directory>");
}

TEST(format, sprintf_has_no_limit) {
  CHECK_EQ(jc_sprintf(ours, "%s%1000d", "", 7), 1000);
  CHECK_EQ(ours[999], '7');
}

// Text that is long because of a width, a precision, a string, wide characters or many conversions.
TEST(format, formatting_is_charged_piece_by_piece) {
  constexpr std::size_t kMany = 1 << 20;
  static char out[kMany + 100], text[kMany + 1];
  static wchar_t wide[kMany / 4 + 1];
  std::memset(text, 'x', kMany);
  for (std::size_t i = 0; i < kMany / 4; i++) wide[i] = L'w';
  const auto is_paid_for = [](std::size_t bytes, auto... values) {
    runtime::paid = runtime::most_paid = 0;
    const int length = jc_snprintf(out, sizeof out, values...);
    CHECK(length >= 0 && strlen(out) == static_cast<std::size_t>(length));
    CHECK_GE(runtime::paid + 1, bytes / 4096);
    CHECK_LE(runtime::most_paid, 16u);
  };
  is_paid_for(kMany, "%1048576d", 1);
  is_paid_for(kMany, "%-1048576d", 1);
  is_paid_for(kMany, "%.1048576d", 1);
  is_paid_for(kMany, "%s", text);
  is_paid_for(kMany, text);
  is_paid_for(kMany / 4, "%ls", wide);
  std::string many;
  for (int i = 0; i < 1000; i++) many += "%%";
  runtime::paid = 0;
  CHECK_EQ(jc_snprintf(out, sizeof out, many.c_str()), 1000);
  CHECK_GE(runtime::paid, 1000u / 16);
  runtime::paid = 0;
  CHECK_EQ(jc_snprintf(nullptr, 0, "%2000000000d", 1), 2000000000);
  CHECK_EQ(runtime::paid, 0u);  // text that does not fit costs nothing
}
