// SPDX-License-Identifier: Apache-2.0
// page.h — the size of a page, ranges of addresses, and where all RAM is mapped once our own page tables are in force.
#pragma once

#include <cstddef>
#include <cstdint>

namespace janus::bare {

inline constexpr std::size_t kPage = 4096;

// From `begin` up to, but without, `end`.
struct Range {
  std::uint64_t begin, end;
  [[nodiscard]] bool is_empty() const { return begin >= end; }
};

// The direct map: physical address x is also mapped at kDirectMap + x.
inline constexpr std::uint64_t kDirectMap = 0xffff'8000'0000'0000;

}  // namespace janus::bare
