// SPDX-License-Identifier: Apache-2.0
// descriptors.cpp — see descriptors.h. Intel SDM volume 3, chapters 3, 6 and 8.
#include "kernel-free/cpu/descriptors.h"

#include "kernel-free/cpu/selectors.h"
#include "kernel-free/cpu/trap_frame.h"

namespace janus::bare {
namespace {

struct Gate {
  std::uint16_t offset_low, selector;
  std::uint8_t ist, kind;
  std::uint16_t offset_middle;
  std::uint32_t offset_high, reserved;
};
static_assert(sizeof(Gate) == 16);

constexpr std::uint8_t kInterruptGate = 0x8e;  // present; entering by it turns interrupts off

Gate g_vectors[kVectors];

struct [[gnu::packed]] TableRegister {
  std::uint16_t limit;
  std::uint64_t base;
};

std::uint8_t ist_of(unsigned vector) {
  switch (vector) {
    case kDoubleFault:
      return kIstDoubleFault;
    case kNonMaskable:
      return kIstNmi;
    case kMachineCheck:
      return kIstMachineCheck;
    case kPageFault:
      return kIstPageFault;
    default:
      return vector <= kLastException ? kIstFault : kIstInterrupt;
  }
}

}  // namespace

void fill_interrupt_table(const std::uint64_t (&entries)[kVectors]) noexcept {
  for (unsigned vector = 0; vector < kVectors; ++vector) {
    const std::uint64_t entry = entries[vector];
    g_vectors[vector] = {static_cast<std::uint16_t>(entry),
                         SELECTOR_CODE,
                         ist_of(vector),
                         kInterruptGate,
                         static_cast<std::uint16_t>(entry >> 16),
                         static_cast<std::uint32_t>(entry >> 32),
                         0};
  }
}

void load_descriptors(Descriptors& descriptors, const std::uint64_t (&ist_tops)[kIstCount]) noexcept {
  TaskState& task = descriptors.task;
  for (unsigned n = 0; n < kIstCount; ++n) task.ist[n] = ist_tops[n];
  task.io_map = sizeof task;

  constexpr std::uint64_t kAvailableTask = 0x89;
  const auto base = reinterpret_cast<std::uint64_t>(&task);
  descriptors.gdt[0] = 0;
  descriptors.gdt[SELECTOR_CODE / 8] = DESCRIPTOR_CODE;
  descriptors.gdt[SELECTOR_TASK / 8] =
      (sizeof task - 1) | (base & 0xffffff) << 16 | kAvailableTask << 40 | (base >> 24 & 0xff) << 56;
  descriptors.gdt[SELECTOR_TASK / 8 + 1] = base >> 32;

  const TableRegister gdt{sizeof descriptors.gdt - 1, reinterpret_cast<std::uint64_t>(descriptors.gdt)};
  const TableRegister idt{sizeof g_vectors - 1, reinterpret_cast<std::uint64_t>(g_vectors)};
  asm volatile(
      "lgdt %0\n\t"
      "pushq %2\n\t"  // a far return reloads the code segment
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "lretq\n"
      "1:\n\t"
      "lidt %1\n\t"
      "ltr %w3"
      :
      : "m"(gdt), "m"(idt), "i"(SELECTOR_CODE), "r"(SELECTOR_TASK)
      : "rax", "memory");
}

}  // namespace janus::bare
