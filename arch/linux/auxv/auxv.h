// SPDX-License-Identifier: Apache-2.0
// arch/linux/auxv/auxv.h — what the kernel told this program at its start.
#pragma once

#include <cstdint>

#include "arch/linux/kernel_abi.h"

namespace janus::kernel {

// The value, or `otherwise` if the kernel did not say. In a host that started without our _start the kernel is asked
// for the vector.
[[nodiscard]] std::uint64_t aux_value(std::uint64_t type, std::uint64_t otherwise) noexcept;

// Called by the start code, before anything else runs: keeps the vector on the initial stack.
void remember_auxv(const AuxEntry* entries) noexcept;

}  // namespace janus::kernel
