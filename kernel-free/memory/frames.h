// SPDX-License-Identifier: Apache-2.0
// frames.h — physical memory, by the page. Any CPU, interrupts on or off.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel-free/memory/memory_map.h"

namespace janus::bare {

// The address of a page in physical memory. 0 is none.
using Frame = std::uint64_t;

// kDirectMap; 0 while the boot page tables are in force, which map physical addresses one to one.
extern std::uint64_t g_direct_map;

template <class T>
[[nodiscard]] T* at_physical(std::uint64_t address) noexcept {
  return reinterpret_cast<T*>(g_direct_map + address);
}

// Makes the map's frames available to take_frame(). Called once, before there is a second CPU.
void give_all_frames(const MemoryMap& map) noexcept;

// Whether a caller may take the last frames, which are reserved for callers whose failure would end the machine.
enum class LastFrames : bool { kLeave, kTake };
// Takes a zeroed frame; 0: no memory is left.
[[nodiscard]] Frame take_frame(LastFrames last = LastFrames::kTake) noexcept;
void give_frame(Frame frame) noexcept;

[[nodiscard]] std::uint64_t frames_in_all() noexcept;
[[nodiscard]] std::uint64_t frames_taken() noexcept;

}  // namespace janus::bare
