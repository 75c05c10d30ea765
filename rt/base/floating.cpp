// SPDX-License-Identifier: Apache-2.0
// rt/base/floating.cpp — see floating.h. A double is m * 2^e. For negative e that is the whole number m * 5^-e with the
// decimal point moved -e places to the left. So all its digits are those of one whole number, a product of small
// factors.
#include "rt/base/floating.h"

namespace janus {
namespace {

constexpr unsigned kFractionBits = 52;
constexpr std::uint64_t kOne = std::uint64_t{1} << kFractionBits;
constexpr int kAllOnes = 0x7ff;  // the exponent of infinities and NaNs
constexpr int kBias = 1023;

// 0.d1d2d3... * base^point. The last digit is not 0.
struct Digits {
  std::uint8_t at[768];  // the longest double has 767
  int count = 0;
  int point = 1;
  unsigned base = 10;

  void append(unsigned digit) noexcept { at[count++] = static_cast<std::uint8_t>(digit); }
  void trim() noexcept {
    while (count > 0 && at[count - 1] == 0) --count;
    if (count == 0) point = 1;
  }

  // Rounds to the first `most` digits. `most` may be negative: then nothing is left.
  void round(std::int64_t most) noexcept {
    if (most >= count) return;
    bool is_up = false;
    if (most >= 0) {
      const unsigned twice = at[most] * 2u;
      const bool is_above_half = most + 1 < count || (most > 0 && at[most - 1] % 2 != 0);  // or a tie, to even
      is_up = twice > base || (twice == base && is_above_half);
    }
    count = most < 0 ? 0 : static_cast<int>(most);
    while (is_up && count > 0 && at[count - 1] == base - 1) --count;
    if (!is_up) return trim();
    if (count == 0) {
      append(0);
      ++point;
    }
    ++at[count - 1];
  }
};

void set_decimal(Digits& digits, std::uint64_t m, int e) noexcept {
  constexpr std::uint32_t kWordBase = 1'000'000'000;
  constexpr int kFactors = 13;  // 5^13 is the highest power of 5 that fits into a word
  std::uint32_t words[88];      // the lowest first; the longest number has 86
  unsigned count = 0;
  for (; m != 0; m /= kWordBase) words[count++] = static_cast<std::uint32_t>(m % kWordBase);
  for (int left = e < 0 ? -e : e; left != 0;) {
    std::uint32_t factor = 1;
    for (int i = 0; i < kFactors && left != 0; ++i, --left) factor *= e < 0 ? 5 : 2;
    std::uint64_t carry = 0;
    for (unsigned i = 0; i < count || carry != 0; ++i) {
      if (i == count) words[count++] = 0;
      carry += std::uint64_t{words[i]} * factor;
      words[i] = static_cast<std::uint32_t>(carry % kWordBase);
      carry /= kWordBase;
    }
  }
  while (count-- > 0)
    for (std::uint32_t place = kWordBase / 10; place != 0; place /= 10)
      if (const unsigned digit = words[count] / place % 10; digit != 0 || digits.count != 0) digits.append(digit);
  digits.point = digits.count + (e < 0 ? e : 0);
  digits.trim();
}

void set_hexadecimal(Digits& digits, std::uint64_t m) noexcept {
  digits.base = 16;
  for (int shift = kFractionBits; shift >= 0; shift -= 4) digits.append(m >> shift & 15);
  digits.trim();
}

// Writes the exponent with at least `least` digits; returns the end of the text.
char* write_exponent(char* to, char letter, int exponent, unsigned least) noexcept {
  char reversed[4];
  unsigned count = 0;
  for (int left = exponent < 0 ? -exponent : exponent; left != 0 || count < least; left /= 10)
    reversed[count++] = static_cast<char>('0' + left % 10);
  *to++ = letter;
  *to++ = exponent < 0 ? '-' : '+';
  while (count-- > 0) *to++ = reversed[count];
  return to;
}

}  // namespace

std::size_t write_floating(char* text, std::uint64_t bits, char conversion, int precision_given, bool keeps_point,
                           std::size_t* zeros_at, std::size_t* zeros) noexcept {
  const int upper = ~conversion & 0x20;
  const char kind = static_cast<char>(conversion | 0x20);
  std::uint64_t m = bits & (kOne - 1);
  int e = static_cast<int>(bits >> kFractionBits) & kAllOnes;
  char* to = text;
  *zeros = 0;
  *zeros_at = 0;
  if (e == kAllOnes) {
    for (const char* word = m == 0 ? "inf" : "nan"; *word != '\0'; ++word) *to++ = static_cast<char>(*word - upper);
    return 3;
  }
  if (e != 0) m |= kOne;
  if (e == 0) e = 1;

  Digits number;
  std::int64_t precision = precision_given;
  if (kind == 'a') {
    set_hexadecimal(number, m);
    if (precision < 0) precision = number.count > 1 ? number.count - 1 : 0;
  } else {
    set_decimal(number, m, e - kBias - static_cast<int>(kFractionBits));
    if (precision < 0) precision = 6;
    if (kind == 'g' && precision != 0) --precision;  // of significant digits
  }
  number.round(precision + (kind == 'f' ? number.point : 1));

  int exponent = number.point - 1;
  const bool is_fixed = kind == 'f' || (kind == 'g' && exponent >= -4 && exponent <= precision);
  int point = is_fixed ? number.point : 1;
  if (kind == 'g') {
    if (is_fixed) precision -= exponent;
    const int most = number.count > point ? number.count - point : 0;
    if (!keeps_point && precision > most) precision = most;
  }
  const std::int64_t end = point + precision;
  for (std::int64_t i = point < 1 ? point - 1 : 0; i < end || (i == point && keeps_point); ++i) {
    if (i == point) *to++ = '.';
    if (i >= point && i >= number.count) {
      *zeros = static_cast<std::size_t>(end - i);
      break;
    }
    const int digit = i >= 0 && i < number.count ? number.at[i] : 0;
    *to++ = static_cast<char>(digit < 10 ? '0' + digit : 'a' - 10 + digit - upper);
  }
  *zeros_at = static_cast<std::size_t>(to - text);
  if (!is_fixed) {
    if (kind == 'a') exponent = m != 0 ? e - kBias : 0;
    to = write_exponent(to, static_cast<char>((kind == 'a' ? 'p' : 'e') - upper), exponent, kind == 'a' ? 1 : 2);
  }
  return static_cast<std::size_t>(to - text);
}

}  // namespace janus
