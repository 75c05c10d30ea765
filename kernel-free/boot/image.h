// SPDX-License-Identifier: Apache-2.0
// image.h — the program in memory, as its own ELF headers describe it. It lies where it was linked: its addresses are
// physical addresses, too. docs/decisions/0113
#pragma once

#include <cstdint>

#include "kernel-free/memory/memory_map.h"

namespace janus::bare {

// The image from its ELF header to the end of its data, in whole pages.
[[nodiscard]] Range image_range() noexcept;

// Maps every segment with the rights in its header. Two kinds of pages of writable segments differ: those that the
// linker marks as read-only after relocation are mapped read-only, and guard pages of stacks are not mapped. False: no
// memory for page tables. Ends the machine if a segment is both writable and executable.
[[nodiscard]] bool map_image() noexcept;

}  // namespace janus::bare
