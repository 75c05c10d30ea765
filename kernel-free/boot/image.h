// SPDX-License-Identifier: Apache-2.0
// image.h — the program in memory, as its own ELF headers describe it. It lies where it was linked: addresses are
// physical ones.
#pragma once

#include <cstdint>

#include "kernel-free/boot/memory_map.h"

namespace janus::bare {

// From the headers to the end of the data, in whole pages.
[[nodiscard]] Range image_range() noexcept;

// Every segment with the rights that its header asks for, and read-only what the linker asks to be so once relocated;
// pages that only guard a stack are left out. False: no memory for tables. A segment that is both writable and
// executable ends the machine.
[[nodiscard]] bool map_image() noexcept;

}  // namespace janus::bare
