// SPDX-License-Identifier: Apache-2.0
// boot.cpp — the boot steps from 64-bit mode to janus_boot(), in order; step 1 is entry.S. Up to step 7 the boot page
// tables are in force, which map the first 4 GiB at their physical addresses; one CPU runs, on the boot stack, with
// interrupts off.
#include <arch/cpu.h>

#include "kernel-free/boot/image.h"
#include "kernel-free/boot/start_cpus.h"
#include "kernel-free/clock/clock.h"
#include "kernel-free/console/dump.h"
#include "kernel-free/console/line.h"
#include "kernel-free/devices/entropy.h"
#include "kernel-free/devices/find.h"
#include "kernel-free/devices/output.h"
#include "kernel-free/files/files.h"
#include "kernel-free/firmware/command_line.h"
#include "kernel-free/firmware/processors.h"
#include "kernel-free/firmware/start_info.h"
#include "kernel-free/memory/page_tables.h"
#include "kernel-free/smp/apic.h"
#include "kernel-free/smp/emulator.h"
#include "kernel-free/smp/per_cpu.h"
#include "kernel-free/threads/make_thread.h"
#include "kernel-free/threads/threads.h"
#include "kernel-free/traps/traps.h"

extern "C" [[noreturn]] void janus_boot(int argc, char** argv, char** envp);

namespace janus::bare {
namespace {

constexpr std::uint64_t kLowEnd = 0x100000;  // firmware uses the memory below; only the start page is taken there
constexpr std::uint64_t kMinFrames = 256;
constexpr std::size_t kMaxCommandLine = 4096;

char g_command_line[kMaxCommandLine + 1];
MemoryMap g_memory;
ProcessorList g_processors;
Range g_initrd{0, 0};
std::uint64_t g_start_page = 0;  // where the other CPUs start; 0: there is no low memory for it

// --- Step 3: the loader's data. All of it is checked: addresses must lie below 4 GiB, the range of the boot page
// tables, and counts and lengths are bounded. ---

template <class T>
const T* records(std::uint64_t address, std::uint64_t count, const char* otherwise) {
  constexpr std::uint64_t kMaxRecords = 4096;
  if (address == 0 || count > kMaxRecords || address > kReachable - count * sizeof(T)) refuse(otherwise);
  return reinterpret_cast<const T*>(address);
}

void check(const StartInfo* info) {
  if (info == nullptr || info->magic != StartInfo::kMagic)
    refuse("not started by a PVH loader (QEMU: -kernel), so nothing says which memory is there");
  if (info->version < 1 || info->memory_map_count == 0) refuse("the loader passes no memory map");
}

void copy_command_line(const StartInfo& info) {
  if (info.command_line == 0) return;
  for (std::size_t bytes = 0;; ++bytes) {
    if (info.command_line + bytes >= kReachable) refuse("the loader's command line is not where it says");
    const char c = *reinterpret_cast<const char*>(info.command_line + bytes);
    if (c == '\0') return;
    if (bytes == kMaxCommandLine) refuse("the command line is longer than 4096 bytes");
    g_command_line[bytes] = c;
  }
}

void find_initrd(const StartInfo& info) {
  if (info.module_count == 0) return;
  const auto* const module = records<StartModule>(info.modules, 1, "the loader's list of modules is not where it says");
  if (module->bytes != 0) g_initrd = {module->address, module->address + module->bytes};
}

// --- Step 4: memory ---

// Chooses the last page of low RAM, below what firmware reserves for itself.
void find_start_page(Range ram) {
  constexpr std::uint64_t kHighest = 0x9f000;
  const std::uint64_t end = ram.end < kHighest ? ram.end : kHighest;
  const std::uint64_t page = (end & ~(kPage - 1)) - kPage;
  if (ram.begin == 0 && end > 2 * kPage) g_start_page = page;
}

std::uint64_t physical_end() {
  const bool is_told = arch::cpuid(0x80000000).eax >= 0x80000008;
  const unsigned bits = is_told ? arch::cpuid(0x80000008).eax & 0xff : 36;
  return std::uint64_t{1} << (bits < 46 ? bits : 46);
}

// The range of a memory map entry, cut off at `most`; empty if it begins beyond that.
Range range_of(const StartMemory& memory, std::uint64_t most) {
  if (memory.address >= most) return {0, 0};
  return {memory.address, memory.bytes < most - memory.address ? memory.address + memory.bytes : most};
}

// Memory that the map lists both as RAM and as another type is not used as RAM.
void read_memory_map(const StartInfo& info) {
  const auto* const entries =
      records<StartMemory>(info.memory_map, info.memory_map_count, "the loader's memory map is not where it says");
  const std::uint64_t most = physical_end();
  unsigned ends = 0;  // how many of the initrd's two ends are in RAM
  for (std::uint32_t n = 0; n < info.memory_map_count; ++n) {
    const Range ram = range_of(entries[n], most);
    if (entries[n].type != StartMemory::kRam || ram.is_empty()) continue;
    find_start_page(ram);
    g_memory.add(ram);
    ends += g_initrd.begin >= ram.begin && g_initrd.begin < ram.end;
    ends += g_initrd.end > ram.begin && g_initrd.end <= ram.end;
  }
  for (std::uint32_t n = 0; n < info.memory_map_count; ++n)
    if (entries[n].type != StartMemory::kRam) g_memory.remove(range_of(entries[n], most));
  if (g_initrd.begin != g_initrd.end && (g_initrd.begin > g_initrd.end || ends < 2))
    refuse("the loader names an initrd that is not in memory");
  const Range image = image_range();
  if (g_initrd.begin < image.end && g_initrd.end > image.begin) refuse("the loader put the initrd over the program");
  g_memory.remove({0, kLowEnd});
  const std::uint64_t before = g_memory.bytes();
  g_memory.remove(image);
  if (before - g_memory.bytes() != image.end - image.begin) refuse("too little memory: the program does not lie in it");
  g_memory.remove(g_initrd);
  g_memory.remove(apic_registers());
}

// --- Step 5: CPUs ---

void find_processors(const StartInfo& info) {
  if (!has_apic())
    return Line{}.text("janus: this machine has no local APIC: one CPU, one worker, and waiting is polling").print();
  g_processors.own_id = boot_apic_id();
  const Told acpi = processors_from_acpi(info.rsdp, g_processors);
  if (acpi == Told::kAll) return;
  if (acpi == Told::kDamaged) Line{}.text("janus: ACPI's table of CPUs is missing or damaged").print();
  if (processors_from_mp_table(g_processors) == Told::kAll) return;
  Line{}.text("janus: neither ACPI nor an MP table says which CPUs there are: one CPU").print();
}

// --- Step 6: page tables ---

bool map_direct() {
  for (std::size_t n = 0; n < g_memory.count(); ++n)
    if (!map_physical(kDirectMap + g_memory[n].begin, g_memory[n], kReadWrite)) return false;
  if (!g_initrd.is_empty()) {
    const Range pages{g_initrd.begin & ~(kPage - 1), (g_initrd.end + kPage - 1) & ~(kPage - 1)};
    if (!map_physical(kDirectMap + pages.begin, pages, kReadOnly)) return false;
  }
  const Range apic = apic_registers();
  return apic.is_empty() || map_physical(kDirectMap + apic.begin, apic, kReadWrite | kUncached);
}

void make_page_tables() {
  give_all_frames(g_memory);
  if (frames_in_all() < kMinFrames) refuse("too little memory: less than 1 MiB besides the program");
  if (!make_tables() || !map_image() || !map_direct()) refuse("too little memory for page tables");
}

// --- Step 10: the first thread ---

[[noreturn]] void run_program(void*) {
  std::size_t bytes = 0;
  while (g_command_line[bytes] != '\0') ++bytes;
  const std::size_t pointers = (pointers_for(bytes) * sizeof(char*) + kPage - 1) & ~(kPage - 1);
  std::byte* const pages = platform::map(pointers);
  if (pages == nullptr) refuse("no memory for the program's arguments");
  const Words words = parse_command_line(g_command_line, reinterpret_cast<char**>(pages));
  use_device_words(words.devices);
  find_output();  // step 11
  janus_boot(words.argc, words.argv, words.envp);
}

void first_thread(void* argument) {
  run_program(argument);
}

}  // namespace

}  // namespace janus::bare

extern "C" [[noreturn]] void janus_boot_first_cpu(const janus::bare::StartInfo* info) {
  using namespace janus;
  using namespace janus::bare;
  // 2. From now on this CPU can take faults and report them.
  g_cpus[0] = &g_first_cpu;
  fill_interrupt_table(janus_trap_entries);
  prepare_cpu_here(g_first_cpu);
  init_console();

  // 3. The loader's data.
  check(info);
  copy_command_line(*info);
  find_initrd(*info);

  // 4. The machine's memory.
  read_memory_map(*info);

  // 5. The machine's CPUs.
  find_processors(*info);

  // 6. Our own page tables: the image with its segments' rights; at kDirectMap all free memory, the initrd and the
  // APIC's registers; nothing else.
  make_page_tables();
  if (g_start_page != 0) place_start_code(g_start_page);

  // 7. From now on page 0 faults, no page is both writable and executable, and the loader's data must not be read any
  // more. On QEMU's emulator this also widens its table of translations (smp/emulator.h).
  use_tables_here();
  g_direct_map = kDirectMap;
  const Range longest = g_memory.longest();
  use_for_widening({kDirectMap + longest.begin, kDirectMap + longest.end});
  widen_translations_here();

  // 8. Interrupts and time.
  silence_old_controllers();
  if (has_apic()) start_apic_here();
  if (!start_clock())
    refuse("no clock: neither the hypervisor, nor the processor, nor an interval timer tells the time");
  g_first_cpu.apic_id = has_apic() ? apic_id_here() : 0;
  g_first_cpu.idle.canary = any_random_word() & ~std::uint64_t{0xff};  // a zero byte ends strings that overflow into it

  // 9. The other CPUs.
  start_cpus(g_processors, g_start_page);

  // 10. Files, and the thread that becomes worker 0. The code here becomes the CPU's idle thread.
  open_initrd(g_initrd);
  Thread* const first = make_thread(kFirstThreadStack, first_thread, nullptr, g_first_cpu, "janus");
  if (first == nullptr) refuse("no memory for the first thread");
  add_thread(*first);
  run_idle();
}
