// SPDX-License-Identifier: Apache-2.0
// per_cpu.cpp — prepares a CPU: descriptors, idle thread, features.
#include "kernel-free/smp/per_cpu.h"

#include <arch/cpu.h>

#include "kernel-free/cpu/vector_state.h"

namespace janus::bare {

Cpu g_first_cpu{};
Cpu* g_cpus[platform::kMaxCpus];  // zero-initialized, so that its 8 KiB are not a part of every image
unsigned g_cpu_count = 1;

namespace {

// Enables fsgsbase and the protection features that the processor has. There are no user pages, so SMEP and SMAP matter
// only if one appears by mistake. Without kCr4MachineCheck a machine check resets the machine before it can be
// reported.
void enable_features_here() {
  constexpr std::uint64_t kCr4MachineCheck = 1 << 6;
  constexpr std::uint64_t kCr4Umip = 1 << 11, kCr4Fsgsbase = 1 << 16, kCr4Smep = 1 << 20, kCr4Smap = 1 << 21;
  const bool has_leaf7 = arch::cpuid(0).eax >= 7;
  const arch::Cpuid leaf = has_leaf7 ? arch::cpuid(7) : arch::Cpuid{};
  std::uint64_t cr4 = read_cr4();
  if ((arch::cpuid(1).edx >> 7 & 1) != 0) cr4 |= kCr4MachineCheck;
  if ((leaf.ebx & 1) != 0) cr4 |= kCr4Fsgsbase;
  if ((leaf.ebx >> 7 & 1) != 0) cr4 |= kCr4Smep;
  if ((leaf.ebx >> 20 & 1) != 0) cr4 |= kCr4Smap;
  if ((leaf.ecx >> 2 & 1) != 0) cr4 |= kCr4Umip;
  write_cr4(cr4);
}

void become_idle_thread(Cpu& cpu) {
  Thread& idle = cpu.idle;
  idle.self = &idle;
  idle.cpu = &cpu;
  idle.next = &idle;
  idle.is_idle = true;
  idle.until_ns = platform::kForever;
  copy_bytes(idle.name, "idle", sizeof "idle");
  cpu.current = &idle;
  write_msr(kMsrFsBase, reinterpret_cast<std::uint64_t>(&idle));
  write_msr(kMsrGsBase, 0);
}

}  // namespace

void prepare_cpu_here(Cpu& cpu) noexcept {
  BARE_ASSERT(cpu.current == nullptr && !cpu.is_online.load(std::memory_order_relaxed));
  cpu.timer_at_ns = platform::kForever;
  std::uint64_t tops[kIstCount];
  for (unsigned n = 0; n < kIstCount; ++n) tops[n] = cpu.interrupt_stacks[n].top();
  load_descriptors(cpu.descriptors, tops);
  become_idle_thread(cpu);
  enable_features_here();
  enable_vectors_here();
}

}  // namespace janus::bare
