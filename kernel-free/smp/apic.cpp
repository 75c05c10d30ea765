// SPDX-License-Identifier: Apache-2.0
// apic.cpp — Intel SDM volume 3, chapter 10. A register has one number n in both modes: with x2APIC it is the model
// specific register 0x800 + n, without x2APIC the word at byte 16 * n in memory.
#include "kernel-free/smp/apic.h"

#include <arch/cpu.h>

#include "kernel-free/smp/per_cpu.h"

namespace janus::bare {
namespace {

enum Register : std::uint32_t {
  kId = 0x02,
  kPriority = 0x08,
  kEndOfInterrupt = 0x0b,
  kSpuriousVector = 0x0f,
  kCommand = 0x30,
  kCommandTo = 0x31,  // not with x2APIC
  kTimerEntry = 0x32,
  kLine0Entry = 0x35,
  kLine1Entry = 0x36,
  kErrorEntry = 0x37,
  kTimerCount = 0x38,
  kTimerLeft = 0x39,
  kTimerDivide = 0x3e,
};
constexpr std::uint32_t kMsrBase = 0x1b, kMsrDeadline = 0x6e0, kMsrX2apic = 0x800;
constexpr std::uint64_t kBaseX2apic = 1 << 10, kBaseEnabled = 1 << 11, kBaseAddress = 0x000f'ffff'ffff'f000;
constexpr std::uint32_t kMasked = 1 << 16, kAsNmi = 4 << 8, kSoftwareEnabled = 1 << 8, kDeadlineMode = 2 << 17;
constexpr std::uint32_t kCommandPending = 1 << 12, kCommandAssert = 1 << 14, kInit = 5 << 8, kStart = 6 << 8;
constexpr std::uint32_t kDivideBy16 = 3;

enum class Kind : std::uint8_t { kUnknown, kNone, kMemory, kX2 };
Kind g_kind = Kind::kUnknown;
std::uint64_t g_registers = 0;

Kind kind() {
  if (g_kind == Kind::kUnknown) {
    const arch::Cpuid leaf = arch::cpuid(1);
    const bool present = (leaf.edx >> 9 & 1) != 0;
    g_kind = !present ? Kind::kNone : arch::features().has(arch::Features::kX2apic) ? Kind::kX2 : Kind::kMemory;
    if (present) g_registers = read_msr(kMsrBase) & kBaseAddress;
  }
  return g_kind;
}

std::uint32_t read(Register which) {
  if (g_kind == Kind::kX2) return static_cast<std::uint32_t>(read_msr(kMsrX2apic + which));
  return *reinterpret_cast<const volatile std::uint32_t*>(kDirectMap + g_registers + which * 16);
}

void write(Register which, std::uint32_t value) {
  if (g_kind == Kind::kX2)
    write_msr(kMsrX2apic + which, value);
  else
    *reinterpret_cast<volatile std::uint32_t*>(kDirectMap + g_registers + which * 16) = value;
}

void command(std::uint32_t apic_id, std::uint32_t what) {
  if (g_kind == Kind::kX2) {
    asm volatile("mfence; lfence" : : : "memory");  // earlier stores are visible when the interrupt arrives
    write_msr(kMsrX2apic + kCommand, std::uint64_t{apic_id} << 32 | what);
    return;
  }
  while ((read(kCommand) & kCommandPending) != 0) arch::pause();
  write(kCommandTo, apic_id << 24);
  write(kCommand, what);
}

}  // namespace

bool has_apic() noexcept {
  return kind() != Kind::kNone;
}

bool has_x2apic() noexcept {
  return kind() == Kind::kX2;
}

Range apic_registers() noexcept {
  return kind() == Kind::kMemory ? Range{g_registers, g_registers + kPage} : Range{0, 0};
}

void silence_old_controllers() noexcept {
  struct {
    std::uint16_t port;
    std::uint8_t first, cascade;
  } const controllers[] = {{0x20, kFirstOldInterrupt, 4}, {0xa0, kFirstOldInterrupt + 8, 2}};
  for (const auto& controller : controllers) {
    out8(controller.port, 0x11);
    out8(controller.port + 1, controller.first);
    out8(controller.port + 1, controller.cascade);
    out8(controller.port + 1, 1);
    out8(controller.port + 1, 0xff);  // all masked
  }
}

void start_apic_here() noexcept {
  const std::uint64_t base = read_msr(kMsrBase) | kBaseEnabled;
  write_msr(kMsrBase, base);
  if (kind() == Kind::kX2) write_msr(kMsrBase, base | kBaseX2apic);
  write(kSpuriousVector, kSoftwareEnabled | kSpurious);
  write(kPriority, 0);
  write(kLine0Entry, kMasked);
  write(kLine1Entry, kAsNmi);  // a monitor's nmi comes by this line, as on every PC
  write(kErrorEntry, kMasked);
  write(kTimerDivide, kDivideBy16);
  write(kTimerEntry, kTimer | (has_deadlines() ? kDeadlineMode : 0));
  asm volatile("mfence" : : : "memory");  // the timer's entry is written before the first deadline
}

std::uint32_t apic_id_here() noexcept {
  return g_kind == Kind::kX2 ? read(kId) : read(kId) >> 24;
}

std::uint32_t boot_apic_id() noexcept {
  if (has_x2apic() && arch::cpuid(0).eax >= 0xb) return arch::cpuid(0xb).edx;
  return arch::cpuid(1).ebx >> 24;
}

void acknowledge_interrupt() noexcept {
  write(kEndOfInterrupt, 0);
}

void send_interrupt(const Cpu& to, std::uint8_t vector) noexcept {
  command(to.apic_id, kCommandAssert | vector);
}

void send_init(std::uint32_t apic_id) noexcept {
  command(apic_id, kCommandAssert | kInit);
}

void send_start(std::uint32_t apic_id, std::uint64_t page) noexcept {
  command(apic_id, kCommandAssert | kStart | static_cast<std::uint32_t>(page / kPage));
}

void run_timer_freely() noexcept {
  write(kTimerEntry, kMasked | kTimer);
  write(kTimerCount, kMaxTimerTicks);
}

std::uint64_t timer_ticks_run() noexcept {
  return kMaxTimerTicks - read(kTimerLeft);
}

void stop_timer() noexcept {
  write(kTimerCount, 0);
  write(kTimerEntry, kTimer | (has_deadlines() ? kDeadlineMode : 0));
}

bool has_deadlines() noexcept {
  return arch::features().has(arch::Features::kTscDeadline);
}

void set_timer_deadline(std::uint64_t tsc) noexcept {
  write_msr(kMsrDeadline, tsc);
}

void set_timer_count(std::uint32_t ticks) noexcept {
  write(kTimerCount, ticks);
}

}  // namespace janus::bare
