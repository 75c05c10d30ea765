// SPDX-License-Identifier: Apache-2.0
// arch/linux/memory/guards.h — lets unmap() correct the count of protected guards.
#pragma once

#include <cstddef>

namespace janus::kernel {

// Called after the pages were unmapped: no longer counts the mappings that their mprotect guards used.
void forget_guards(std::byte* pages, std::size_t bytes) noexcept;

}  // namespace janus::kernel
