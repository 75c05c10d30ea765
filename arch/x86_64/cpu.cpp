// SPDX-License-Identifier: Apache-2.0
// cpu.cpp — cpuid, read once. Intel SDM volume 2, CPUID; XCR0 has the registers that the kernel saves.
#include <arch/cpu.h>

// Features::bits(), 0 until they are first asked for. Also read by mem*.S, which calls janus_cpu_find_features() where
// it is 0. Every thread that finds it 0 computes the same value, so a plain relaxed store is enough.
extern "C" {
extern std::uint32_t janus_cpu_features;
std::uint32_t janus_cpu_features = 0;
std::uint32_t janus_cpu_find_features();
}

namespace janus::arch {
namespace {

constexpr bool bit(std::uint32_t word, unsigned n) {
  return (word >> n & 1) != 0;
}

// XCR0, or 0 where the kernel does not use xsave.
std::uint32_t kept_registers(std::uint32_t leaf1_ecx) {
  if (!bit(leaf1_ecx, 27)) return 0;
  std::uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

std::uint32_t detect() {
  const std::uint32_t last = cpuid(0).eax;
  const std::uint32_t last_extended = cpuid(0x80000000u).eax;
  const Cpuid leaf1 = cpuid(1);
  const Cpuid leaf7 = last >= 7 ? cpuid(7) : Cpuid{};
  const Cpuid extended1 = last_extended >= 0x80000001u ? cpuid(0x80000001u) : Cpuid{};
  const Cpuid extended7 = last_extended >= 0x80000007u ? cpuid(0x80000007u) : Cpuid{};
  const std::uint32_t kept = kept_registers(leaf1.ecx);
  const bool keeps_ymm = (kept & 0x6) == 0x6;
  const bool keeps_zmm = (kept & 0xe6) == 0xe6;

  std::uint32_t found = Features::kKnown;
  auto add = [&found](bool present, Features::Bit feature) { found |= present ? std::uint32_t{feature} : 0u; };
  add(bit(leaf7.ebx, 9), Features::kErms);
  add(bit(leaf7.edx, 4), Features::kFsrm);
  add(bit(leaf7.ebx, 5) && bit(leaf1.ecx, 28) && keeps_ymm, Features::kAvx2);
  add(bit(leaf7.ebx, 16) && bit(leaf7.ebx, 30) && bit(leaf7.ebx, 31) && keeps_zmm, Features::kAvx512);
  add(bit(leaf7.ebx, 0), Features::kFsgsbase);
  add(bit(extended7.edx, 8), Features::kInvariantTsc);
  add(bit(extended1.edx, 27), Features::kRdtscp);
  add(bit(leaf1.ecx, 30), Features::kRdrand);
  add(bit(leaf1.ecx, 31), Features::kHypervisor);
  add(bit(leaf1.ecx, 24), Features::kTscDeadline);
  add(bit(leaf1.ecx, 21), Features::kX2apic);
  return found;
}

}  // namespace

Features features() noexcept {
  const std::uint32_t bits = __atomic_load_n(&janus_cpu_features, __ATOMIC_RELAXED);
  return Features(bits != 0 ? bits : janus_cpu_find_features());
}

}  // namespace janus::arch

// Called by mem*.S, so it uses little stack: the callers of those may have left no more.
std::uint32_t janus_cpu_find_features() {
  const std::uint32_t bits = janus::arch::detect();
  __atomic_store_n(&janus_cpu_features, bits, __ATOMIC_RELAXED);
  return bits;
}
