// SPDX-License-Identifier: Apache-2.0
// requests.cpp — see requests.h.
#include "kernel-free/smp/requests.h"

#include <atomic>

#include <arch/cpu.h>

#include "kernel-free/cpu/cpu.h"
#include "kernel-free/smp/apic.h"
#include "rt/platform.h"

namespace janus::bare {
namespace {

std::atomic<std::uint64_t> g_fences{0}, g_forgettings{0};  // how many were asked for

using Count = std::atomic<std::uint64_t> Cpu::*;

// Everybody whose count is behind, and who is awake, does it; and then has done it.
void ask_all(Count count, std::uint64_t wanted) {
  const Cpu& here = this_cpu();
  for (unsigned n = 0; n < g_cpu_count; ++n)
    if (g_cpus[n] != &here && !g_cpus[n]->is_halted.load(std::memory_order_seq_cst))
      send_interrupt(*g_cpus[n], kRequest);
  for (unsigned n = 0; n < g_cpu_count; ++n) {
    const Cpu& other = *g_cpus[n];
    if (&other == &here) continue;
    while ((other.*count).load(std::memory_order_acquire) < wanted &&  // pairs with the answer
           !other.is_halted.load(std::memory_order_seq_cst))
      wait_a_moment();
  }
}

void forget_here() {
  write_cr3(read_cr3());
}

}  // namespace

void answer_requests(Cpu& here) noexcept {
  const std::uint64_t fences = g_fences.load(std::memory_order_acquire);
  if (here.fenced.load(std::memory_order_relaxed) != fences) {
    arch::full_fence();
    here.fenced.store(fences, std::memory_order_release);
  }
  const std::uint64_t forgettings = g_forgettings.load(std::memory_order_acquire);
  if (here.forgotten.load(std::memory_order_relaxed) != forgettings) {
    forget_here();
    here.forgotten.store(forgettings, std::memory_order_release);
  }
}

// At a pause an emulator takes the lock that its processors share, and that the one needs which is to answer: a
// thousand times as long for both. So most moments are without.
void wait_a_moment() noexcept {
  constexpr unsigned kMomentsToPause = 64;
  Cpu& here = this_cpu();
  answer_requests(here);
  if (++here.moments % kMomentsToPause == 0) arch::pause();
}

void fence_everywhere() noexcept {
  Quiet quiet;
  const std::uint64_t wanted = g_fences.fetch_add(1, std::memory_order_seq_cst) + 1;
  arch::full_fence();
  ask_all(&Cpu::fenced, wanted);
}

void forget_translations_everywhere() noexcept {
  Quiet quiet;
  const std::uint64_t wanted = g_forgettings.fetch_add(1, std::memory_order_seq_cst) + 1;
  forget_here();
  ask_all(&Cpu::forgotten, wanted);
}

}  // namespace janus::bare

namespace janus::platform {

// Other CPUs can be interrupted wherever there are any.
bool has_heavy_fence() noexcept {
  return true;
}

void heavy_fence() noexcept {
  bare::fence_everywhere();
}

}  // namespace janus::platform
