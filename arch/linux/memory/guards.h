// SPDX-License-Identifier: Apache-2.0
// arch/linux/memory/guards.h — how unmap() corrects the count of protected guards.
#pragma once

#include <cstddef>

namespace janus::kernel {

// Called when the pages are gone, and with them the mappings that guards in them had cost.
void forget_guards(std::byte* pages, std::size_t bytes) noexcept;

}  // namespace janus::kernel
