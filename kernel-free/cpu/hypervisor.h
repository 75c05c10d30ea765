// SPDX-License-Identifier: Apache-2.0
// hypervisor.h — which hypervisor runs this machine, as cpuid reports it.
#pragma once

#include <cstdint>

#include <arch/cpu.h>

namespace janus::bare {

inline constexpr std::uint32_t kHypervisorLeaf = 0x40000000;

struct HypervisorName {
  std::uint32_t ebx, ecx, edx;
};
inline constexpr HypervisorName kKvm{0x4b4d564b, 0x564b4d56, 0x0000004d};       // "KVMKVMKVM"
inline constexpr HypervisorName kEmulator{0x54474354, 0x43544743, 0x47435447};  // "TCGTCGTCGTCG", QEMU's own

[[nodiscard]] inline bool is_below(const HypervisorName& expected) noexcept {
  if (!arch::features().has(arch::Features::kHypervisor)) return false;
  const arch::Cpuid name = arch::cpuid(kHypervisorLeaf);
  return name.ebx == expected.ebx && name.ecx == expected.ecx && name.edx == expected.edx;
}

}  // namespace janus::bare
