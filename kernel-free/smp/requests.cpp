// SPDX-License-Identifier: Apache-2.0
// requests.cpp — see requests.h.
#include "kernel-free/smp/requests.h"

#include <atomic>

#include <arch/cpu.h>

#include "kernel-free/smp/apic.h"
#include "kernel-free/smp/emulator.h"
#include "kernel-free/smp/per_cpu.h"
#include "rt/platform.h"

namespace janus::bare {
namespace {

std::atomic<std::uint64_t> g_fences{0}, g_forgettings{0}, g_widenings{0};  // how many of each were requested

// The addresses of the latest request to forget and of the next one, indexed by the request's number modulo 2.
struct Asked {
  std::atomic<std::uint64_t> begin, end;
};
Asked g_asked[2];

using Count = std::atomic<std::uint64_t> Cpu::*;

// Interrupts all other CPUs that are not halted; returns when each has reached the wanted count or is halted.
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

// Forgets a few pages one by one, so that the CPU keeps its other translations.
void forget(Range range) {
  if (range.end - range.begin > kMaxAlone * kPage) return write_cr3(read_cr3());
  for (std::uint64_t at = range.begin; at < range.end; at += kPage) forget_page(at);
}

// A CPU that is behind by more than one request forgets all translations. So does a CPU that may have read the range of
// a later request, since no asker waits for a CPU that is halted: then its second read of the count gives a later one.
void catch_up(Cpu& here) {
  const std::uint64_t asked = g_forgettings.load(std::memory_order_acquire);  // pairs with the asker's raise
  const std::uint64_t done = here.forgotten.load(std::memory_order_relaxed);
  BARE_ASSERT(done <= asked);
  if (done == asked) return;
  const Asked& what = g_asked[asked % 2];
  const Range range{what.begin.load(std::memory_order_relaxed), what.end.load(std::memory_order_relaxed)};
  std::atomic_thread_fence(std::memory_order_acquire);  // pairs with the asker's release
  const bool is_the_last = g_forgettings.load(std::memory_order_relaxed) == asked;
  forget(is_the_last && done + 1 == asked ? range : kEverything);
  here.forgotten.store(asked, std::memory_order_release);
}

}  // namespace

void answer_requests(Cpu& here) noexcept {
  BARE_ASSERT(interrupts_are_off() && &here == &this_cpu());
  const std::uint64_t fences = g_fences.load(std::memory_order_acquire);
  if (here.fenced.load(std::memory_order_relaxed) != fences) {
    arch::full_fence();
    here.fenced.store(fences, std::memory_order_release);
  }
  catch_up(here);
  const std::uint64_t widenings = g_widenings.load(std::memory_order_relaxed);
  if (here.widened == widenings) return;
  widen_translations_here();
  here.widened = widenings;
}

// At a pause instruction an emulator takes a lock that all its processors share and that the answering one needs, too:
// then both take a thousand times as long. So most calls execute no pause.
void wait_a_moment() noexcept {
  constexpr unsigned kMomentsToPause = 64;
  Cpu& here = this_cpu();
  answer_requests(here);
  if (++here.moments % kMomentsToPause == 0) arch::pause();
}

void fence_everywhere() noexcept {
  IrqOff irq_off;
  const std::uint64_t wanted = g_fences.fetch_add(1, std::memory_order_seq_cst) + 1;
  arch::full_fence();
  ask_all(&Cpu::fenced, wanted);
}

void forget_translations_everywhere(Range range) noexcept {
  BARE_ASSERT(!range.is_empty() && range.begin % kPage == 0);
  IrqOff irq_off;
  const std::uint64_t wanted = g_forgettings.load(std::memory_order_relaxed) + 1;
  // Pairs with catch_up(): a CPU that sees the range that follows also sees the previous count.
  std::atomic_thread_fence(std::memory_order_release);
  g_asked[wanted % 2].begin.store(range.begin, std::memory_order_relaxed);
  g_asked[wanted % 2].end.store(range.end, std::memory_order_relaxed);
  g_forgettings.store(wanted, std::memory_order_release);
  arch::full_fence();
  catch_up(this_cpu());
  ask_all(&Cpu::forgotten, wanted);
}

void widen_translations_everywhere() noexcept {
  IrqOff irq_off;
  g_widenings.fetch_add(1, std::memory_order_relaxed);
  answer_requests(this_cpu());
}

}  // namespace janus::bare

namespace janus::platform {

// If there are other CPUs, they can be interrupted.
bool has_heavy_fence() noexcept {
  return true;
}

void heavy_fence() noexcept {
  bare::fence_everywhere();
}

}  // namespace janus::platform
