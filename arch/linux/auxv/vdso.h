// SPDX-License-Identifier: Apache-2.0
// arch/linux/auxv/vdso.h — looks a function up in the small shared object that the kernel maps into every process.
#pragma once

#include "arch/linux/auxv/elf.h"

namespace janus::elf {

// The address of the symbol `name` in the loaded image at `image`, or nullptr. The image needs DT_HASH or
// DT_GNU_HASH.
[[nodiscard]] const void* find_symbol(const Header* image, const char* name) noexcept;

}  // namespace janus::elf
