// SPDX-License-Identifier: Apache-2.0
// arch/linux/threads/alternate_stack.h — the stack on which handlers run, since a task's own may be full, or only 8 KiB
// in all.
#pragma once

#include <cstddef>

namespace janus::kernel {

// Whole pages: at least 64 KiB, and four times what this processor's largest signal frame needs.
[[nodiscard]] std::size_t alternate_stack_bytes() noexcept;

void use_alternate_stack(std::byte* base) noexcept;

// Gives the calling thread an alternate stack unless it has one that is large enough. It lasts as long as the process.
// False: there is no memory for it. on_fault() detects kernels that refuse alternate stacks.
[[nodiscard]] bool ensure_alternate_stack() noexcept;

}  // namespace janus::kernel
