// SPDX-License-Identifier: Apache-2.0
// arch/linux/threads/affinity.h — the CPUs that a thread may use, and those that it could use before it was pinned.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/linux/kernel_abi.h"

namespace janus::kernel {

// As many CPUs as an x86-64 kernel can be built for. The kernel refuses masks smaller than its own.
struct CpuMask {
  std::uint64_t words[8192 / 64];
  [[nodiscard]] bool has(unsigned cpu) const { return (words[cpu / 64] >> (cpu % 64) & 1) != 0; }
};

// The CPUs that this process may use: the calling thread's, unless threads were pinned already; then those from before.
void allowed_cpus(CpuMask& out) noexcept;

// Pins a thread (0: the calling one) to one CPU, or for `cpu` < 0 undoes the pinning that it inherited. If the CPU is
// offline or not allowed, the thread stays unchanged.
void pin(long thread, int cpu) noexcept;

}  // namespace janus::kernel
