// SPDX-License-Identifier: Apache-2.0
// addresses.h — which addresses mappings get: blocks of a power of two, at a multiple of it, split in halves as needed
// and never joined again. A free block is listed in the page tables themselves: its first entry names the next one.
// Address space is plentiful; blocks of 2 MiB and more share no table with others, so their tables go with them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel-free/memory/page_tables.h"

namespace janus::bare {

inline constexpr unsigned kSmallestPower = 12, kLargestPower = 46;  // as powers of two
inline constexpr std::uint64_t kAreaBegin = std::uint64_t{1} << kLargestPower;
inline constexpr std::uint64_t kAreaEnd = kAreaBegin * 2;

// The power of two of the smallest block that holds so many bytes; more than kLargestPower if none does.
[[nodiscard]] unsigned block_for(std::size_t bytes) noexcept;

// 0: no addresses, or no memory for their tables. Within Sharing.
[[nodiscard]] std::uint64_t take_block(unsigned power) noexcept;
// Nothing is mapped in it. Within Sharing.
void give_block(std::uint64_t address, unsigned power) noexcept;

}  // namespace janus::bare
