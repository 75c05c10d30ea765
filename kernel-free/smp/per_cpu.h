// SPDX-License-Identifier: Apache-2.0
// per_cpu.h — the record of one CPU: its stacks, its threads, the requests that it has answered.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "kernel-free/cpu/descriptors.h"
#include "kernel-free/cpu/page.h"
#include "kernel-free/smp/lock.h"
#include "kernel-free/smp/thread.h"

namespace janus::bare {

inline constexpr std::size_t kInterruptStack = 2 * kPage, kIdleStack = 4 * kPage;

// A stack above a guard page, which is absent once our own page tables are in force.
template <std::size_t Bytes>
struct alignas(kPage) GuardedStack {
  std::byte guard[kPage];
  std::byte bytes[Bytes];
  [[nodiscard]] std::uint64_t top() noexcept { return reinterpret_cast<std::uint64_t>(bytes + Bytes); }
};

struct alignas(kPage) Cpu {
  // --- Read by all CPUs, written while this CPU is started ---
  unsigned index;
  std::uint32_t apic_id;
  std::atomic<bool> is_online;

  // --- Written by this CPU ---
  alignas(64) Thread* current;
  std::uint64_t timer_at_ns;  // when the timer fires; kForever: it is not set
  std::uint64_t slice_end_ns;
  unsigned moments;  // calls of wait_a_moment() (requests.cpp)
  alignas(64) std::atomic<bool> is_halted;
  std::atomic<bool> has_shared_access;           // it is within SharedAccess (page_tables.h)
  std::atomic<std::uint64_t> fenced, forgotten;  // the request counts that it has answered (requests.h)
  std::uint64_t widened;                         // the same for widenings; no other CPU reads it

  Lock threads_lock;  // protects the ring of the CPU's threads
  Thread idle;
  Descriptors descriptors;

  GuardedStack<kInterruptStack> interrupt_stacks[kIstCount];
};

// All CPUs that were found and could be started; [0] is the one that booted. Constant once the first thread runs.
extern Cpu* g_cpus[platform::kMaxCpus];
extern unsigned g_cpu_count;

[[nodiscard]] inline Cpu& this_cpu() noexcept {
  return *this_thread().cpu;
}

extern Cpu g_first_cpu;

// Prepares the calling CPU when it starts: registers, descriptors, the idle thread as the current one. `cpu` is its
// record, zeroed before.
void prepare_cpu_here(Cpu& cpu) noexcept;

}  // namespace janus::bare
