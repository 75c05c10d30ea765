// SPDX-License-Identifier: Apache-2.0
// page.h — the size of a page, ranges of addresses, and where physical memory is mapped under our own page tables.
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

// The direct map: physical address x is mapped at kDirectMap + x, if it is free RAM, the initrd or a device's register.
inline constexpr std::uint64_t kDirectMap = 0xffff'8000'0000'0000;

}  // namespace janus::bare
