// SPDX-License-Identifier: Apache-2.0
// rt/base/floating.h — formats a double as printf's %e %f %g and %a do: every digit is exact, the last one rounded to
// nearest, ties to even. No tables, no floating-point operations. docs/decisions/0272
#pragma once

#include <cstddef>
#include <cstdint>

namespace janus {

inline constexpr std::size_t kMaxFloatingText = 1096;  // the smallest double has 1,074 digits behind the point

// The work of formatting the double with these bits, in units of reading one byte of a format: about the number of
// factors 2 or 5 by which its digits are multiplied.
[[nodiscard]] constexpr unsigned floating_work(std::uint64_t bits) noexcept {
  constexpr int kHalfway = 1075;  // the biased exponent of doubles whose last mantissa bit is worth 1
  const int e = static_cast<int>(bits >> 52 & 0x7ff) - kHalfway;
  return static_cast<unsigned>(e < 0 ? -e : e);
}

// Formats `bits`, an IEEE 754 double, without its sign and without the 0x of %a, which the caller adds. `conversion` is
// one of a A e E f F g G, `precision` below 0 means none, and `keeps_point` is the flag '#'. Returns the length of the
// text, which begins with a digit except for infinity and NaN. The caller inserts `zeros` zeros at `zeros_at`: they are
// counted but not written, so that a precision of two thousand million takes no room.
std::size_t write_floating(char* text, std::uint64_t bits, char conversion, int precision, bool keeps_point,
                           std::size_t* zeros_at, std::size_t* zeros) noexcept;

}  // namespace janus
