// SPDX-License-Identifier: Apache-2.0
// rt/mem/pages.h — the arithmetic of pages, alignments and bit sets.
#pragma once

#include <cstddef>
#include <cstdint>

namespace janus {

inline constexpr std::size_t kPageShift = 12;
inline constexpr std::size_t kPageBytes = std::size_t{1} << kPageShift;

// `unit` is a power of two.
[[nodiscard]] constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) noexcept {
  return (bytes + unit - 1) & ~(unit - 1);
}
[[nodiscard]] constexpr std::size_t round_down(std::size_t bytes, std::size_t unit) noexcept {
  return bytes & ~(unit - 1);
}
[[nodiscard]] constexpr bool is_power_of_two(std::size_t n) noexcept {
  return n != 0 && (n & (n - 1)) == 0;
}

[[nodiscard]] inline std::uintptr_t address_of(const void* p) noexcept {
  return reinterpret_cast<std::uintptr_t>(p);
}
[[nodiscard]] inline std::byte* align_up(std::byte* p, std::size_t unit) noexcept {
  return p + (round_up(address_of(p), unit) - address_of(p));
}

// Replaces std::popcount, which is a call into libgcc on the processors that we compile for.
[[nodiscard]] constexpr unsigned count_ones(std::uint64_t bits) noexcept {
  bits -= bits >> 1 & 0x5555555555555555u;
  bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
  bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return static_cast<unsigned>(bits * 0x0101010101010101u >> 56);
}

}  // namespace janus
