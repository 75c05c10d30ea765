// SPDX-License-Identifier: Apache-2.0
// frames.h — physical memory, by the page. Any CPU, interrupts on or off.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel-free/boot/memory_map.h"

namespace janus::bare {

// The address of a page in physical memory. 0 is none.
using Frame = std::uint64_t;

// Where all RAM of ours can be reached. While the boot tables are in force, physical addresses are addresses.
inline constexpr std::uint64_t kDirectMap = 0xffff'8000'0000'0000;
extern std::uint64_t g_direct_map;

template <class T>
[[nodiscard]] T* at_physical(std::uint64_t address) noexcept {
  return reinterpret_cast<T*>(g_direct_map + address);
}

// From here on they can be taken. Before there is a second CPU.
void give_all_frames(const MemoryMap& map) noexcept;

// Zeroed; 0 when no memory is left. The last ones are for those with whom everything would end.
[[nodiscard]] Frame take_frame(bool may_be_last = true) noexcept;
void give_frame(Frame frame) noexcept;

[[nodiscard]] std::uint64_t frames_in_all() noexcept;
// Of memory that was given to begin with, whoever has it now.
[[nodiscard]] Range longest_range() noexcept;
[[nodiscard]] std::uint64_t frames_taken() noexcept;

}  // namespace janus::bare
