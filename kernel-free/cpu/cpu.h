// SPDX-License-Identifier: Apache-2.0
// cpu.h — one processor: its stacks, its threads, what it was asked.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "kernel-free/cpu/descriptors.h"
#include "kernel-free/smp/lock.h"
#include "kernel-free/threads/thread.h"

namespace janus::bare {

inline constexpr std::size_t kPage = 4096;
inline constexpr std::size_t kInterruptStack = 2 * kPage, kIdleStack = 4 * kPage;

// A stack above a page that is absent once our own page tables are in force.
template <std::size_t Bytes>
struct alignas(kPage) GuardedStack {
  std::byte guard[kPage];
  std::byte bytes[Bytes];
  [[nodiscard]] std::uint64_t top() noexcept { return reinterpret_cast<std::uint64_t>(bytes + Bytes); }
};

struct alignas(kPage) Cpu {
  // --- Read by everyone, written as it starts ---
  unsigned index;
  std::uint32_t apic_id;
  std::atomic<bool> is_online;

  // --- Written by this CPU ---
  alignas(64) Thread* current;
  std::uint64_t timer_at_ns;  // what the timer is set to; kForever: not at all
  std::uint64_t slice_end_ns;
  unsigned moments;  // waited (requests.cpp)
  alignas(64) std::atomic<bool> is_halted;
  std::atomic<bool> is_sharing;                  // the page tables (page_tables.h)
  std::atomic<std::uint64_t> fenced, forgotten;  // the counts that it has answered (requests.h)
  std::uint64_t widened;                         // another one

  Lock threads_lock;  // of the ring
  Thread idle;
  Descriptors descriptors;

  GuardedStack<kInterruptStack> interrupt_stacks[kIstCount];
};

// All that have been found and could be started; [0] is the one that booted. Constant once the first thread runs.
extern Cpu* g_cpus[platform::kMaxCpus];
extern unsigned g_cpu_count;

[[nodiscard]] inline Cpu& this_cpu() noexcept {
  return *this_thread().cpu;
}

extern Cpu g_first_cpu;

// What every CPU does for itself when it starts, with `cpu` filled in as far as its index: registers, descriptors, idle
// thread as the current one.
void prepare_cpu_here(Cpu& cpu) noexcept;

}  // namespace janus::bare
