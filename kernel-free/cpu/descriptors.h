// SPDX-License-Identifier: Apache-2.0
// descriptors.h — the descriptors with which a CPU takes interrupts and faults: segments, and a stack for each kind of
// trap, so that nothing is ever pushed onto a task's stack, which may be full, or hold values below its stack pointer
// (the red zone).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel-free/cpu/trap_frame.h"

namespace janus::bare {

// The interrupt stacks, by their number in the task state segment. A page fault may happen while another fault is
// handled. Interrupts are off while code runs on any of these stacks.
enum Ist : std::uint8_t {
  kIstDoubleFault = 1,
  kIstNmi,
  kIstMachineCheck,
  kIstPageFault,
  kIstFault,
  kIstInterrupt,
  kIstCount = 6
};

struct [[gnu::packed]] TaskState {
  std::uint32_t reserved0;
  std::uint64_t rsp[3];
  std::uint64_t reserved1;
  std::uint64_t ist[7];
  std::uint64_t reserved2;
  std::uint16_t reserved3;
  std::uint16_t io_map;
};
static_assert(sizeof(TaskState) == 104);

struct Descriptors {
  std::uint64_t gdt[4];
  TaskState task;
};

// Fills `descriptors` and loads them on the calling CPU; `ist_tops` has the stacks' tops in the order of Ist.
void load_descriptors(Descriptors& descriptors, const std::uint64_t (&ist_tops)[kIstCount]) noexcept;

// Fills the table of vectors that all CPUs share with the addresses of the entry points. Called once, before the first
// load_descriptors().
void fill_interrupt_table(const std::uint64_t (&entries)[kVectors]) noexcept;

}  // namespace janus::bare
