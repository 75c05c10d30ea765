// SPDX-License-Identifier: Apache-2.0
// careful_copy.h — to and from memory that a caller named, and that may not be there.
#pragma once

#include <cstddef>

#include "kernel-free/traps/trap_frame.h"

extern "C" {
// Bytes that could not be copied any more: 0 if all were.
std::size_t janus_copy_carefully(void* to, const void* from, std::size_t count);
}

namespace janus::bare {

[[nodiscard]] inline bool copy_carefully(void* to, const void* from, std::size_t count) noexcept {
  return janus_copy_carefully(to, from, count) == 0;
}

// The fault happened in that copy, which goes on where it says so.
[[nodiscard]] bool fix_up(TrapFrame& frame) noexcept;

}  // namespace janus::bare
