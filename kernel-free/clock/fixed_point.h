// SPDX-License-Identifier: Apache-2.0
// fixed_point.h — conversion between clocks by rates that are fixed-point numbers with 32 fractional bits; intermediate
// results have 128 bits.
#pragma once

#include <cstdint>

namespace janus::bare {

__extension__ typedef unsigned __int128 Wide;

// value * rate
[[nodiscard]] inline std::uint64_t scale_up(std::uint64_t value, std::uint64_t rate) noexcept {
  return static_cast<std::uint64_t>(static_cast<Wide>(value) * rate >> 32);
}

// value / rate if that fits into 64 bits; else the largest number.
[[nodiscard]] inline std::uint64_t scale_down(std::uint64_t value, std::uint64_t rate) noexcept {
  if (value >> 32 >= rate) return ~std::uint64_t{0};
  std::uint64_t quotient, rest;
  asm("divq %4" : "=a"(quotient), "=d"(rest) : "a"(value << 32), "d"(value >> 32), "r"(rate) : "cc");
  return quotient;
}

}  // namespace janus::bare
