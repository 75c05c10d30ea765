// SPDX-License-Identifier: Apache-2.0
// kvm_clock.cpp — Linux, Documentation/virt/kvm/x86/msr.rst: the host writes a record with the rate into memory of
// ours. Reads the record once, and makes the host stop updating it: from then on the counter alone is accurate enough.
#include "kernel-free/clock/kvm_clock.h"

#include <atomic>

#include <arch/cpu.h>

#include "kernel-free/cpu/hypervisor.h"
#include "kernel-free/cpu/instructions.h"
#include "kernel-free/memory/frames.h"

namespace janus::bare {
namespace {

bool offers_clock() {
  return is_below(kKvm) && (arch::cpuid(kHypervisorLeaf + 1).eax >> 3 & 1) != 0;
}

}  // namespace

std::uint64_t rate_from_kvm() noexcept {
  if (!offers_clock()) return 0;
  const Frame frame = take_frame();
  if (frame == 0) return 0;
  write_msr(kMsrKvmSystemTime, frame | 1);
  const auto* record = at_physical<const volatile KvmTimeRecord>(frame);
  std::uint64_t rate = 0;
  if (const std::uint32_t version = record->version; version != 0 && version % 2 == 0) {
    const std::int8_t shift = record->shift;
    rate = shift >= 0 ? std::uint64_t{record->multiplier} << shift : std::uint64_t{record->multiplier} >> -shift;
  }
  write_msr(kMsrKvmSystemTime, 0);
  give_frame(frame);
  return rate;
}

}  // namespace janus::bare
