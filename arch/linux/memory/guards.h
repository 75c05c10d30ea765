// SPDX-License-Identifier: Apache-2.0
// arch/linux/memory/guards.h — lets unmap() correct the count of protected guards.
#pragma once

#include <cstddef>

namespace janus::kernel {

// Called when the pages are unmapped, which has freed the mappings that their guards had used.
void forget_guards(std::byte* pages, std::size_t bytes) noexcept;

}  // namespace janus::kernel
