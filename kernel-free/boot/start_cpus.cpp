// SPDX-License-Identifier: Apache-2.0
// start_cpus.cpp — Intel SDM volume 3, chapter 8.4: an INIT, then a start-up interrupt with the page to begin at.
#include "kernel-free/boot/start_cpus.h"

#include <arch/cpu.h>

#include "kernel-free/console/line.h"
#include "kernel-free/memory/page_tables.h"
#include "kernel-free/smp/apic.h"
#include "kernel-free/smp/emulator.h"
#include "kernel-free/smp/per_cpu.h"
#include "kernel-free/threads/threads.h"

extern "C" {
extern const char janus_start_cpu[], janus_start_cpu_end[], janus_start_cpu_tables[], janus_start_cpu_gdt[];
// Shared with start_cpu.S.
extern std::atomic<std::uint32_t> janus_started_cpus;
extern void* janus_starting_cpus;
std::atomic<std::uint32_t> janus_started_cpus{0};
void* janus_starting_cpus = nullptr;
}

namespace janus::bare {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;

struct Starting {
  Cpu* cpu;
  std::uint64_t stack_top;
};

// The record and idle stack of a CPU that is to be started. All pages but the guards are present from the beginning,
// since traps write to them.
struct OtherCpu {
  Cpu cpu;
  GuardedStack<kIdleStack> idle_stack;
};

std::atomic<bool> g_cpus_are_final{false};  // true: g_cpus is complete

bool guard_page(std::byte* page) {
  std::size_t made = 0;
  return platform::guard(page, kPage, 1, kPage, made) != platform::Guard::kNone;
}

OtherCpu* make_cpu() {
  static_assert(sizeof(OtherCpu) % kPage == 0);
  std::byte* const pages = platform::map(sizeof(OtherCpu));
  if (pages == nullptr) return nullptr;
  auto* const other = reinterpret_cast<OtherCpu*>(pages);
  bool good = guard_page(other->idle_stack.guard);
  for (auto& stack : other->cpu.interrupt_stacks) good = good && guard_page(stack.guard);
  for (std::size_t at = 0; good && at < sizeof(OtherCpu); at += kPage) {
    const auto address = reinterpret_cast<std::uint64_t>(pages + at);
    good = is(look_up(address).entry, Absence::kGuard) || fill(address) == Filled::kYes;
  }
  if (good) return other;
  platform::unmap(pages, sizeof(OtherCpu));
  return nullptr;
}

void pass_ns(std::uint64_t ns) {
  const std::uint64_t until = platform::now_ns() + ns;
  while (platform::now_ns() < until) arch::pause();
}

unsigned count_online(const Starting* starting, unsigned count) {
  unsigned online = 0;
  for (unsigned n = 0; n < count; ++n) online += starting[n].cpu->is_online.load(std::memory_order_acquire);
  return online;
}

bool wait_for_all(const Starting* starting, unsigned count, std::uint64_t ns) {
  const std::uint64_t until = platform::now_ns() + ns;
  while (count_online(starting, count) != count) {
    if (platform::now_ns() >= until) return false;
    arch::pause();
  }
  return true;
}

bool is_up(const Starting* starting, unsigned count, std::uint32_t apic_id) {
  for (unsigned n = 0; n < count; ++n)
    if (starting[n].cpu->is_online.load(std::memory_order_acquire) && starting[n].cpu->apic_id == apic_id) return true;
  return false;
}

// Starts all CPUs at once, so that they come up in parallel. A CPU that has not processed its INIT yet, such as an
// emulated one that has not run, misses the start-up interrupt, so it is repeated; a CPU that is up ignores it.
void start_all(const ProcessorList& list, const Starting* starting, unsigned count, std::uint64_t page) {
  constexpr unsigned kTries = 500;
  const bool is_virtual = arch::features().has(arch::Features::kHypervisor);
  for (unsigned n = 0; n < count; ++n) send_init(list.ids[n]);
  pass_ns(is_virtual ? kMillisecond / 10 : 10 * kMillisecond);
  for (unsigned again = 0; again < kTries; ++again) {
    for (unsigned n = 0; n < count; ++n)
      if (!is_up(starting, count, list.ids[n])) send_start(list.ids[n], page);
    if (wait_for_all(starting, count, kMillisecond)) return;
  }
}

// Adds the CPUs that came up to g_cpus, in the order of the list, so that they are numbered the same in every run.
void take_online(const ProcessorList& list, const Starting* starting, unsigned count) {
  for (unsigned n = 0; n < count; ++n) {
    for (unsigned m = 0; m < count; ++m) {
      Cpu& cpu = *starting[m].cpu;
      if (!cpu.is_online.load(std::memory_order_acquire) || cpu.apic_id != list.ids[n]) continue;
      BARE_ASSERT(g_cpu_count < platform::kMaxCpus && g_cpus[g_cpu_count] == nullptr);
      cpu.index = g_cpu_count;
      g_cpus[g_cpu_count++] = &cpu;
    }
  }
}

// Prepares an entry for each CPU, as far as there is memory, and returns how many: no more than a quarter of all memory
// is used for CPUs that may never come. A started CPU takes whichever entry is next.
unsigned prepare(Starting* starting, unsigned count) {
  const std::uint64_t most = frames_taken() + frames_in_all() / 4;
  for (unsigned n = 0; n < count; ++n) {
    OtherCpu* const other = frames_taken() + sizeof(OtherCpu) / kPage > most ? nullptr : make_cpu();
    if (other == nullptr) return n;
    starting[n] = {&other->cpu, other->idle_stack.top()};
  }
  return count;
}

void report_missing_cpus(unsigned announced) {
  if (g_cpu_count == announced) return;
  Line{}.text("janus: ").number(announced).text(" CPUs are announced, ").number(g_cpu_count).text(" run").print();
}

}  // namespace

void place_start_code(std::uint64_t page) noexcept {
  auto* const copy = reinterpret_cast<char*>(page);
  copy_bytes(copy, janus_start_cpu, static_cast<std::size_t>(janus_start_cpu_end - janus_start_cpu));
  const auto tables = static_cast<std::uint32_t>(top_table());
  copy_bytes(copy + (janus_start_cpu_tables - janus_start_cpu), &tables, sizeof tables);
  char* const base = copy + (janus_start_cpu_gdt - janus_start_cpu) + 2;
  std::uint32_t segments;
  copy_bytes(&segments, base, sizeof segments);
  segments += static_cast<std::uint32_t>(page);
  copy_bytes(base, &segments, sizeof segments);
}

void start_cpus(const ProcessorList& others, std::uint64_t page) noexcept {
  BARE_ASSERT(g_cpu_count == 1 && g_cpus[0] == &g_first_cpu);
  const std::size_t bytes = (others.count * sizeof(Starting) + kPage - 1) & ~(kPage - 1);
  std::byte* const table = page == 0 || others.count == 0 ? nullptr : platform::map(bytes);
  auto* const starting = reinterpret_cast<Starting*>(table);
  const unsigned count = table == nullptr ? 0 : prepare(starting, others.count);
  if (count != 0 && map_physical(page, {page, page + kPage}, kReadExecute)) {
    janus_starting_cpus = starting;
    start_all(others, starting, count, page);
    take_online(others, starting, count);
  }
  report_missing_cpus(others.announced + 1);
  g_cpus_are_final.store(true, std::memory_order_release);  // pairs with janus_run_started_cpu
  // A CPU that has not come up may still do so, so the data for its first steps stays mapped.
  if (table == nullptr || g_cpu_count != count + 1) return;
  platform::unmap(table, bytes);
  unmap_physical(page);
}

}  // namespace janus::bare

// From start_cpu.S.
extern "C" [[noreturn]] void janus_run_started_cpu(janus::bare::Cpu* cpu) {
  using namespace janus::bare;
  prepare_cpu_here(*cpu);
  answer_requests(*cpu);  // requests made before this CPU was up
  widen_translations_here();
  start_apic_here();
  cpu->apic_id = apic_id_here();
  cpu->idle.canary = g_first_cpu.idle.canary;
  cpu->is_online.store(true, std::memory_order_release);  // pairs with take_online
  while (!g_cpus_are_final.load(std::memory_order_acquire)) janus::arch::pause();
  for (unsigned n = 0; n < g_cpu_count; ++n)
    if (g_cpus[n] == cpu) run_idle();
  for (;;) asm volatile("cli; hlt");  // it came up too late to be in g_cpus
}
