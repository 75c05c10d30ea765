// SPDX-License-Identifier: Apache-2.0
// careful_copy.h — copies to and from a caller's memory, which may not be mapped.
#pragma once

#include <cstddef>

#include "kernel-free/cpu/trap_frame.h"

extern "C" {
// Returns how many bytes could not be copied; 0: all were.
std::size_t janus_copy_carefully(void* to, const void* from, std::size_t count);
}

namespace janus::bare {

[[nodiscard]] inline bool copy_carefully(void* to, const void* from, std::size_t count) noexcept {
  return janus_copy_carefully(to, from, count) == 0;
}

// If the fault happened in janus_copy_carefully(), changes the frame so that the function returns the number of bytes
// left, and returns true.
[[nodiscard]] bool fix_up(TrapFrame& frame) noexcept;

}  // namespace janus::bare
