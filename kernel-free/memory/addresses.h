// SPDX-License-Identifier: Apache-2.0
// addresses.h — allocates the addresses of mappings: blocks of a power of two bytes, aligned to their size, split in
// halves as needed and never joined again, since address space is plentiful. Free blocks are listed in the page tables
// themselves: the first entry of a block names the next block. Blocks of 2 MiB and more share no table with others, so
// their tables are freed with them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel-free/memory/page_tables.h"

namespace janus::bare {

inline constexpr unsigned kSmallestPower = 12, kLargestPower = 46;  // as powers of two
inline constexpr std::uint64_t kAreaBegin = std::uint64_t{1} << kLargestPower;
inline constexpr std::uint64_t kAreaEnd = kAreaBegin * 2;

// The power of two of the smallest block that holds this many bytes; more than kLargestPower if none does.
[[nodiscard]] unsigned block_for(std::size_t bytes) noexcept;

// Takes a block of 2^power bytes. 0: no addresses, or no memory for their tables. Within SharedAccess.
[[nodiscard]] std::uint64_t take_block(unsigned power) noexcept;
// Gives a block back, in which nothing is mapped any more. Within SharedAccess.
void give_block(std::uint64_t address, unsigned power) noexcept;

}  // namespace janus::bare
