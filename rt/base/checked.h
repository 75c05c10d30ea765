// SPDX-License-Identifier: Apache-2.0
// rt/base/checked.h — arithmetic on sizes and amounts that reports overflow, or saturates.
#pragma once

#include <concepts>
#include <cstddef>
#include <limits>

namespace janus {

// False: the result does not fit, and `out` is meaningless.
template <std::unsigned_integral T>
[[nodiscard]] constexpr bool checked_add(T a, T b, T& out) noexcept {
  return !__builtin_add_overflow(a, b, &out);
}
template <std::unsigned_integral T>
[[nodiscard]] constexpr bool checked_sub(T a, T b, T& out) noexcept {
  return !__builtin_sub_overflow(a, b, &out);
}
template <std::unsigned_integral T>
[[nodiscard]] constexpr bool checked_mul(T a, T b, T& out) noexcept {
  return !__builtin_mul_overflow(a, b, &out);
}

// `value` rounded up to a multiple of `unit`, a power of two.
template <std::unsigned_integral T>
[[nodiscard]] constexpr bool checked_round_up(T value, T unit, T& out) noexcept {
  const bool fits = checked_add(value, static_cast<T>(unit - 1), out);
  out = static_cast<T>(out & static_cast<T>(~static_cast<T>(unit - 1)));
  return fits;
}

template <std::unsigned_integral T>
[[nodiscard]] constexpr T saturating_add(T a, T b, T most = std::numeric_limits<T>::max()) noexcept {
  T sum = 0;
  return checked_add(a, b, sum) && sum < most ? sum : most;
}

}  // namespace janus
