// SPDX-License-Identifier: Apache-2.0
// tests/base/format_test.cpp — the parts of formatting that have no oracle: bounds, and the project's own extensions.
// format_oracle_test.cpp compares the rest with the C library.
#include "rt/base/format.h"

#include <initializer_list>

#include "tests/harness/test.h"

namespace {

using janus::format_to;
using janus::Text;

// Has no format attribute, since the compiler would refuse the formats of these tests.
std::size_t format_unchecked(char* buffer, std::size_t capacity, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const std::size_t size = janus_vformat(buffer, capacity, format, arguments);
  va_end(arguments);
  return size;
}

TEST(format, plain_text_and_directives_come_in_order) {
  char line[64];
  CHECK_EQ(format_to(line, sizeof line, "task %d of %s: %#x%%", -7, "root", 255u), 22);
  CHECK_STREQ(line, "task -7 of root: 0xff%");
}

TEST(format, nothing_beyond_the_capacity_is_touched) {
  char bytes[16];
  for (std::size_t capacity = 0; capacity <= 12; ++capacity) {
    for (char& byte : bytes) byte = '#';
    CHECK_EQ(format_to(bytes, capacity, "%s%05d", "abc", 42), 8);
    for (std::size_t i = capacity; i < sizeof bytes; ++i) CHECK_EQ(bytes[i], '#');
    if (capacity == 0) continue;
    const std::size_t size = capacity < 9 ? capacity - 1 : 8;
    CHECK_EQ(bytes[size], '\0');
    for (std::size_t i = 0; i < size; ++i) CHECK_EQ(bytes[i], "abc00042"[i]);
  }
}

TEST(format, without_a_buffer_the_length_is_returned) {
  CHECK_EQ(format_to(nullptr, 0, "%s and %d", "this", 12), 11);
}

TEST(format, huge_widths_cost_no_time_and_keep_the_count) {
  char bytes[8];
  CHECK_EQ(format_to(bytes, sizeof bytes, "%2147483647d", 1), 2147483647u);
  CHECK_STREQ(bytes, "       ");
  CHECK_EQ(format_unchecked(bytes, sizeof bytes, "%.2147483647d|%d", 1, 2), 2147483649u);
  CHECK_STREQ(bytes, "0000000");
  CHECK_EQ(format_unchecked(bytes, sizeof bytes, "%99999999999999999999d", 1), 2147483647u);
  CHECK_EQ(format_unchecked(bytes, sizeof bytes, "%*d", -2147483647 - 1, 1), 2147483647u);
  CHECK_STREQ(bytes, "1      ");
}

janus::Formatted format_within(const janus::FormatBounds& bounds, char* buffer, std::size_t capacity,
                               const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const janus::Formatted formatted = janus::vformat(buffer, capacity, bounds, format, arguments);
  va_end(arguments);
  return formatted;
}

// A megabyte of one letter.
struct LongString {
  char bytes[(1 << 20) + 1];
  explicit LongString(char letter) {
    for (char& byte : bytes) byte = letter;
    bytes[1 << 20] = '\0';
  }
};

TEST(format, a_string_argument_is_read_only_as_far_as_it_can_be_printed) {
  static LongString a('a');
  const janus::FormatBounds bounds = {.text = 64};
  for (const char* format : {"%s", "%s%s%s%s", "%5s|", "%-5s|", "%.100000s", "%200000s", "%-200000s", "%s%n%100s"}) {
    char bytes[65];
    const janus::Formatted formatted =
        format_within(bounds, bytes, sizeof bytes, format, a.bytes, a.bytes, a.bytes, a.bytes);
    CHECK(formatted.size >= 64);
    CHECK(formatted.reads <= 2 * 64 + 32);
  }
  char bytes[65];
  CHECK(format_within(bounds, bytes, sizeof bytes, a.bytes).reads <= 64);
  CHECK(format_within(bounds, bytes, sizeof bytes, "%*d%s", 2147483647, 1, a.bytes).reads <= 16);
}

TEST(format, text_within_its_bounds_is_as_with_no_bounds) {
  char bytes[65];
  const janus::FormatBounds bounds = {.text = 64, .reads = 256};
  const char* const most = "0123456789012345678901234567890123456789012345678901234567890123";
  CHECK_EQ(format_within(bounds, bytes, sizeof bytes, "%s", most).size, 64);
  CHECK_STREQ(bytes, most);
  CHECK_EQ(format_within(bounds, bytes, sizeof bytes, "%.3s|%8s|%-4s|%s", most, "ab", "c", "d").size, 19);
  CHECK_STREQ(bytes, "012|      ab|c   |d");
  CHECK(format_within(bounds, bytes, sizeof bytes, "%200s", "abc").size >= 64);
  for (std::size_t i = 0; i < 64; ++i) CHECK_EQ(bytes[i], ' ');
}

// Formats that print nothing, however long they are: only the bound on reads ends them.
TEST(format, a_format_ends_where_its_reads_do) {
  static LongString dashes('-'), zeros('0');
  const janus::FormatBounds bounds = {.text = 64, .reads = 256};
  char bytes[65];
  for (LongString* some : {&dashes, &zeros}) {
    some->bytes[0] = '%';
    const janus::Formatted formatted = format_within(bounds, bytes, sizeof bytes, some->bytes, 1);
    CHECK(formatted.reads <= 256 && formatted.size <= 64);
    CHECK_STREQ(bytes, "");
  }
  CHECK(format_within({.text = 64, .reads = 9}, bytes, sizeof bytes, "abcdefghijkl").size == 9);
  CHECK_STREQ(bytes, "abcdefghi");
}

TEST(format, a_line_looks_at_no_more_of_a_string_than_it_keeps) {
  const char letters[20] = "abcdefghijklmnopqrs";
  Text<20> line;
  line.append("%s", letters);
  CHECK(!line.is_cut());
  line.clear();
  line.append("-%s", letters);
  CHECK(line.is_cut());
  CHECK_STREQ(line.data(), "-abcdefghijklmnopqr");
}

TEST(format, a_bounded_string_needs_no_terminator) {
  const char letters[3] = {'a', 'b', 'c'};
  char bytes[8];
  CHECK_EQ(format_to(bytes, sizeof bytes, "%.3s", letters), 3);
  CHECK_STREQ(bytes, "abc");
  CHECK_EQ(format_to(bytes, sizeof bytes, "%.*s", 2, letters), 2);
  CHECK_STREQ(bytes, "ab");
}

TEST(format, missing_strings_and_pointers_are_named) {
  char bytes[32];
  const char* const none = nullptr;
  format_unchecked(bytes, sizeof bytes, "%s %p", none, none);
  CHECK_STREQ(bytes, "(null) (nil)");
  format_unchecked(bytes, sizeof bytes, "[%.5s]", none);
  CHECK_STREQ(bytes, "[]");
}

TEST(format, an_unknown_conversion_is_marked_and_takes_no_argument) {
  char bytes[64];
  format_unchecked(bytes, sizeof bytes, "%k|%d", 7);
  CHECK_STREQ(bytes, "%k(not printed)|7");
  format_unchecked(bytes, sizeof bytes, "%ls|%lc|%d", L"wide", L'w', 7);
  CHECK_STREQ(bytes, "%ls(not printed)|%lc(not printed)|7");
}

// Extensions of C99 that gcc accepts without a warning: each works, or prints that it is not supported.
TEST(format, extensions_that_compilers_accept_work_or_say_that_they_do_not) {
  char bytes[96];
  format_unchecked(bytes, sizeof bytes, "%'d|%'8u|%qd|%Zu|%Ld|%Id|%d", 1234567, 89u, -6ll, sizeof bytes, 8ll, 5, 9);
  CHECK_STREQ(bytes, "1234567|      89|-6|96|8|%I(not printed)d|9");
  format_unchecked(bytes, sizeof bytes, "%S|%C|%b|%lB|%d", L"wide", L'w', 5, 6l, 7);
  CHECK_STREQ(bytes, "%S(not printed)|%C(not printed)|101|110|7");
  format_unchecked(bytes, sizeof bytes, "%'.2f|%#b|%#B|%d", 1.5, 5, 5, 7);
  CHECK_STREQ(bytes, "1.50|0b101|0B101|7");
  format_unchecked(bytes, sizeof bytes, "%m|%d", 7);
  CHECK_STREQ(bytes, "%m(not printed)|7");
  format_unchecked(bytes, sizeof bytes, "%2$d and %1$d", 1, 2);
  CHECK_STREQ(bytes, "%2$(not printed)d and %1$(not printed)d");
}

// The long double is passed on the stack, and so is the last number: a formatter that did not step over the long double
// would print its bytes as that number.
TEST(format, a_long_double_is_printed_as_the_nearest_double) {
  char bytes[64];
  for (const char* format : {"%d%d%d|%La|%d", "%d%d%d|%LA|%d"}) {
    format_unchecked(bytes, sizeof bytes, format, 1, 2, 3, 1.5L, 4);
    CHECK_STREQ(bytes, format[9] == 'a' ? "123|0x1.8p+0|4" : "123|0X1.8P+0|4");
  }
  format_unchecked(bytes, sizeof bytes, "%d%d%d|%.20Lf|%d", 1, 2, 3, 0.1L, 4);
  CHECK_STREQ(bytes, "123|0.10000000000000000555|4");
  format_unchecked(bytes, sizeof bytes, "%Lg|%d", 1e4000L, 4);
  CHECK_STREQ(bytes, "inf|4");
}

// Numbers with many digits take long to print. Their digits count as reads, so the bound on reads ends them as well.
TEST(format, the_digits_of_a_far_exponent_count_as_read) {
  char bytes[2048];
  const std::size_t one = format_within({}, bytes, sizeof bytes, "%g", 1e15).reads;
  CHECK(one < 64);
  CHECK(format_within({}, bytes, sizeof bytes, "%g", 5e-324).reads >= one + 1000);
  const janus::Formatted all =
      format_within({.text = 100, .reads = 1500}, bytes, sizeof bytes, "%.0e %.0e %.0e", 5e-324, 5e-324, 5e-324);
  CHECK_EQ(all.reads, 1500);
  CHECK_STREQ(bytes, "5e-324 5e-324");
}

TEST(format, counting_by_percent_n_writes_nothing) {
  char bytes[32];
  int count = -1;
  format_unchecked(bytes, sizeof bytes, "ab%n|%d", &count, 7);
  CHECK_STREQ(bytes, "ab%n(not printed)|7");
  CHECK_EQ(count, -1);
}

TEST(format, a_directive_that_breaks_off_is_the_last_thing_printed) {
  char bytes[16];
  const char* const formats[] = {"ab%", "ab%-5", "ab%5.3", "ab%l", "ab%hh"};
  for (const char* format : formats) {
    format_unchecked(bytes, sizeof bytes, format, 1);
    CHECK_STREQ(bytes, format);
  }
}

TEST(format, empty_text_takes_no_room) {
  char bytes[16];
  CHECK_EQ(format_to(bytes, sizeof bytes, "[%s%.0d%.*s]", "", 0, 0, "abc"), 2);
  CHECK_STREQ(bytes, "[]");
}

TEST(format, text_grows_until_it_is_full_and_then_says_so) {
  Text<8> text;
  CHECK_EQ(text.size(), 0);
  CHECK_STREQ(text.data(), "");
  text.append("%d", 123).append("%s", "ab");
  CHECK_STREQ(text.data(), "123ab");
  CHECK(!text.is_cut());
  text.append("xy");
  CHECK_STREQ(text.data(), "123abxy");
  CHECK(!text.is_cut());
  text.append("z");
  CHECK_STREQ(text.data(), "123abxy");
  CHECK(text.is_cut());
  CHECK_EQ(text.size(), 7);
  text.clear();
  CHECK(!text.is_cut());
  CHECK_STREQ(text.append("%c", 'a').data(), "a");
}

}  // namespace
