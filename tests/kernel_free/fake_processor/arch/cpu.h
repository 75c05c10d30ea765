// SPDX-License-Identifier: Apache-2.0
// fake_processor/arch/cpu.h — arch/cpu.h with a cpuid that the test defines. This folder comes before the real one on
// the include path.
#pragma once

#define cpuid cpuid_of_this_machine
#include "arch/x86_64/include/arch/cpu.h"
#undef cpuid

namespace janus::arch {

[[nodiscard]] Cpuid cpuid(std::uint32_t leaf, std::uint32_t subleaf = 0) noexcept;

}  // namespace janus::arch
