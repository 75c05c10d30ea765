// SPDX-License-Identifier: Apache-2.0
// rt/base/floating.h — a number with a point, as printf's %e %f %g and %a write it: every digit is the number's own,
// the last one rounded to the nearest, to the even one of two that are as near. No tables, no floating-point
// operations.
#pragma once

#include <cstddef>
#include <cstdint>

namespace janus {

inline constexpr std::size_t kMostFloatingText = 1096;  // 1,074 digits behind the point of the smallest

// How much work a number of these bits is, in units of what reading one byte of a format is: as often its digits are
// multiplied.
[[nodiscard]] constexpr unsigned floating_work(std::uint64_t bits) noexcept {
  constexpr int kHalfway = 1075;  // the exponent of whole numbers that take all bits
  const int e = static_cast<int>(bits >> 52 & 0x7ff) - kHalfway;
  return static_cast<unsigned>(e < 0 ? -e : e);
}

// `bits` of an IEEE 754 double; its sign is the caller's, and so is the 0x of %a. `conversion` is one of a A e E f F g
// G, `precision` below 0 is none, and `keeps_point` is the flag '#'. Gives the length of the text, which begins with a
// digit but for infinity and what is no number. `zeros` are to be put in at `zeros_at`: they are counted and not
// written, so that a precision of two thousand millions takes no room.
std::size_t write_floating(char* text, std::uint64_t bits, char conversion, int precision, bool keeps_point,
                           std::size_t* zeros_at, std::size_t* zeros) noexcept;

}  // namespace janus
