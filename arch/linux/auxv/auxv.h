// SPDX-License-Identifier: Apache-2.0
// arch/linux/auxv/auxv.h — the auxiliary vector, which the kernel gives to a program at its start.
#pragma once

#include <cstdint>

#include "arch/linux/kernel_abi.h"

namespace janus::kernel {

// The value, or `otherwise` if the vector has none. In a host that started without our _start, gets the vector from the
// kernel.
[[nodiscard]] std::uint64_t aux_value(std::uint64_t type, std::uint64_t otherwise) noexcept;

// Called by the start code, before anything else runs: keeps the vector on the initial stack.
void remember_auxv(const AuxEntry* entries) noexcept;

}  // namespace janus::kernel
