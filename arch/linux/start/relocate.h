// SPDX-License-Identifier: Apache-2.0
// arch/linux/start/relocate.h — a static-pie program relocates its own addresses before it does anything else.
#pragma once

#include <cstddef>

#include "arch/linux/auxv/elf.h"

namespace janus::elf {

// Applies the relocations of the image with these segments and its _DYNAMIC at `dynamic`, then makes its RELRO part
// read-only. Runs before relocation: no address of data or function may be read from memory. An image that is not
// position-independent has no dynamic segment and stays as it is.
void relocate_self(const Segment* segments, std::size_t count, const Dynamic* dynamic) noexcept;

}  // namespace janus::elf
