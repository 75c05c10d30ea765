// SPDX-License-Identifier: Apache-2.0
// workers.cpp — rt/platform.h's threads, their worker slots, and the list of CPUs.
#include <atomic>

#include <arch/cpu.h>
#include <arch/worker_slot.h>

#include "kernel-free/smp/apic.h"
#include "kernel-free/smp/per_cpu.h"
#include "kernel-free/threads/make_thread.h"
#include "kernel-free/threads/threads.h"
#include "rt/platform.h"

namespace janus::bare {
namespace {

std::atomic<unsigned> g_turn{0};

// The CPU for a thread that may run anywhere: the CPUs in turn, beginning after the one that booted.
Cpu& next_cpu() {
  return *g_cpus[(g_turn.fetch_add(1, std::memory_order_relaxed) + 1) % g_cpu_count];
}

}  // namespace
}  // namespace janus::bare

namespace janus::platform {

using namespace janus::bare;

void cpus(Cpus& out) noexcept {
  out.allowed = out.quota = g_cpu_count;
  out.fractional = false;
  out.no_turns = !has_apic();
  const unsigned here = this_cpu().index;
  for (unsigned n = 0; n < g_cpu_count; ++n) out.ids[n] = static_cast<std::uint16_t>((here + n) % g_cpu_count);
}

bool start_thread(ThreadEntry entry, void* arg, int cpu, const char* name) noexcept {
  const bool is_named = cpu >= 0 && static_cast<unsigned>(cpu) < g_cpu_count;
  Thread* const thread = make_thread(kTaskThreadStack, entry, arg, is_named ? *g_cpus[cpu] : next_cpu(), name);
  if (thread == nullptr) return false;
  add_thread(*thread);
  return true;
}

// The CPU frees the thread once it runs another one.
void exit_thread() noexcept {
  interrupts_off();
  BARE_ASSERT(!this_thread().is_idle && !this_thread().in_fault);
  this_thread().is_dead = true;
  asm volatile("int %0" : : "i"(kSwitch) : "memory");
  __builtin_unreachable();
}

// The thread stays on the CPU that it was made for.
bool adopt_thread(int, const char* name) noexcept {
  Thread& thread = this_thread();
  for (std::size_t n = 0; name != nullptr && n < sizeof thread.name; ++n) {
    thread.name[n] = n + 1 < sizeof thread.name ? name[n] : '\0';
    if (name[n] == '\0') break;
  }
  return true;
}

int thread_id() noexcept {
  return 0;
}
void pin_thread(int, int) noexcept {}

void set_worker_slot(void* slot) noexcept {
  if (arch::features().has(arch::Features::kFsgsbase))
    arch::write_gs_base(reinterpret_cast<std::uint64_t>(slot));
  else
    write_msr(kMsrGsBase, reinterpret_cast<std::uint64_t>(slot));
}

void* worker_slot() noexcept {
  if (arch::features().has(arch::Features::kFsgsbase)) return reinterpret_cast<void*>(arch::read_gs_base());
  return reinterpret_cast<void*>(read_msr(kMsrGsBase));
}

// There are no signals, so no request to end ever comes.
void on_terminate(TerminateHandler) noexcept {}

void exit_later(std::uint64_t after_ns, int status, LastWords) noexcept {
  const std::uint64_t now = now_ns();
  end_at(after_ns < kForever - now ? now + after_ns : kForever, status);
}

}  // namespace janus::platform
