// SPDX-License-Identifier: Apache-2.0
// registers_test.cpp — what QEMU's emulated processor lacks, tested on a simulated one: an APIC in registers (x2APIC),
// a timer with a deadline in counter ticks (TSC deadline), and KVM's clock. A model specific register keeps what is
// written; the simulated host fills in the clock's record when it gets the record's address.
#include <initializer_list>

#include "kernel-free/clock/clock.h"
#include "kernel-free/clock/interval_timer.h"
#include "kernel-free/clock/kvm_clock.h"
#include "kernel-free/clock/timer.h"
#include "kernel-free/cpu/instructions.h"
#include "kernel-free/memory/frames.h"
#include "kernel-free/smp/apic.h"
#include "kernel-free/smp/per_cpu.h"
#include "rt/platform.h"
#include "tests/harness/test.h"

namespace {

using namespace janus;
using namespace janus::bare;

// --- The processor

constexpr std::uint32_t kApicBase = 0x1b, kApicRegisters = 0x800, kDeadline = 0x6e0;
constexpr std::uint64_t kEnabled = 1 << 11, kX2apic = 1 << 10,
                        // the address of the registers, and the flag of the boot processor
    kAtReset = 0xfee00000 | 1 << 8;

struct Write {
  std::uint32_t which;
  std::uint64_t value;
  bool operator==(const Write&) const = default;
};

Write g_writes[64];
unsigned g_write_count = 0;
std::uint64_t g_base = kAtReset;
std::uint32_t g_timer_left = ~0u;

void forget_writes() {
  g_write_count = 0;
}
bool wrote(std::initializer_list<Write> expected) {
  if (g_write_count != expected.size()) return false;
  const Write* at = g_writes;
  for (const Write& write : expected)
    if (*at++ != write) return false;
  return true;
}

// --- The host

bool g_is_kvm = false;
KvmTimeRecord g_record{};
alignas(4096) std::byte g_page[4096];
int g_pages_taken = 0;

void be_kvm(std::uint32_t version, std::uint32_t multiplier, std::int8_t shift) {
  g_is_kvm = true;
  g_record = {};
  g_record.version = version;
  g_record.multiplier = multiplier;
  g_record.shift = shift;
  forget_writes();
}

const std::uint64_t kPlace = reinterpret_cast<std::uint64_t>(g_page);

}  // namespace

namespace janus::arch {

Features features() noexcept {
  return Features(Features::kX2apic | Features::kTscDeadline | Features::kHypervisor);
}

Cpuid cpuid(std::uint32_t leaf, std::uint32_t) noexcept {
  switch (leaf) {
    case 0:
      return {0xb, 0, 0, 0};
    case 1:
      return {0, 7u << 24, 0, 1 << 9};  // an APIC id of 8 bits, and the flag that there is an APIC
    case 0xb:
      return {0, 0, 0, 0x12345};
    case 0x40000000:
      if (g_is_kvm) return {0x40000001, 0x4b4d564b, 0x564b4d56, 0x4d};
      return {0x40000001, 0x54474354, 0x43544743, 0x47435447};
    case 0x40000001:
      return {1 << 3, 0, 0, 0};
    default:
      return {0, 0, 0, 0};
  }
}

}  // namespace janus::arch

namespace janus::bare {

std::uint64_t g_direct_map = 0;

std::uint64_t read_msr(std::uint32_t which) noexcept {
  if (which == kApicBase) return g_base;
  if (which == kApicRegisters + 0x02) return 0x12345;
  if (which == kApicRegisters + 0x39) return g_timer_left;
  CHECK(!"a register that is to be read");
  return 0;
}

void write_msr(std::uint32_t which, std::uint64_t value) noexcept {
  CHECK(g_write_count < sizeof g_writes / sizeof *g_writes);
  g_writes[g_write_count++ % (sizeof g_writes / sizeof *g_writes)] = {which, value};
  if (which == kApicBase) g_base = value;
  if (which == kMsrKvmSystemTime && (value & 1) != 0)
    *reinterpret_cast<KvmTimeRecord*>(value & ~std::uint64_t{1}) = g_record;
}

Frame take_frame(LastFrames) noexcept {
  ++g_pages_taken;
  __builtin_memset(g_page, 0, sizeof g_page);
  return reinterpret_cast<Frame>(g_page);
}
void give_frame(Frame) noexcept {
  --g_pages_taken;
}

// Not needed on this machine, since KVM tells the rate.
IntervalSample measure_interval(std::uint64_t) noexcept {
  return {};
}
std::int64_t read_battery_clock() noexcept {
  return 1'000'000'000;
}
void out8(std::uint16_t, std::uint8_t) noexcept {}

}  // namespace janus::bare

TEST(x2apic, is_switched_on_in_two_steps_and_needs_no_memory) {
  REQUIRE(has_apic());
  REQUIRE(has_x2apic());
  CHECK(apic_registers().is_empty());
  forget_writes();
  start_apic_here();
  CHECK(wrote({{kApicBase, kAtReset | kEnabled},
               {kApicBase, kAtReset | kEnabled | kX2apic},
               {0x80f, 1 << 8 | kSpurious},
               {0x808, 0},
               {0x835, 1 << 16},
               {0x836, 4 << 8},  // LINT1, by which a PC signals a non-maskable interrupt
               {0x837, 1 << 16},
               {0x83e, 3},
               {0x832, 2 << 17 | kTimer}}));
}

TEST(x2apic, an_id_has_32_bits) {
  CHECK_EQ(apic_id_here(), 0x12345u);
  CHECK_EQ(boot_apic_id(), 0x12345u);
}

// In x2APIC mode the command register has no pending bit, so the code must not read it before it writes; a read would
// fail in read_msr().
TEST(x2apic, an_interrupt_to_another_processor_is_one_write) {
  static Cpu other;
  other.apic_id = 0x12345;
  constexpr std::uint64_t kTo = std::uint64_t{0x12345} << 32, kAssert = 1 << 14;
  forget_writes();
  send_interrupt(other, 0x42);
  send_init(0x12345);
  send_start(0x12345, 0x8000);
  acknowledge_interrupt();
  CHECK(wrote({{0x830, kTo | kAssert | 0x42},
               {0x830, kTo | kAssert | 5 << 8},
               {0x830, kTo | kAssert | 6 << 8 | 8},
               {0x80b, 0}}));
}

TEST(kvm_clock, is_its_multiplier_shifted_to_either_side) {
  be_kvm(2, 0x8000'0000, 0);  // half a nanosecond per tick
  CHECK_EQ(rate_from_kvm(), std::uint64_t{1} << 31);
  CHECK(wrote({{kMsrKvmSystemTime, kPlace | 1}, {kMsrKvmSystemTime, 0}}));
  be_kvm(4, 0x8000'0000, 2);
  CHECK_EQ(rate_from_kvm(), std::uint64_t{1} << 33);
  be_kvm(4, 0xd555'5555, -1);
  CHECK_EQ(rate_from_kvm(), 0xd555'5555u >> 1);
  CHECK_EQ(g_pages_taken, 0);
}

TEST(kvm_clock, that_is_not_written_or_being_written_tells_nothing) {
  for (const std::uint32_t version : {0u, 3u}) {
    be_kvm(version, 0x8000'0000, 0);
    CHECK_EQ(rate_from_kvm(), 0u);
    CHECK(wrote(
        // the host must forget the page before it is used for something else
        {{kMsrKvmSystemTime, kPlace | 1}, {kMsrKvmSystemTime, 0}}));
  }
  CHECK_EQ(g_pages_taken, 0);
}

TEST(kvm_clock, the_clock_of_another_hypervisor_is_not_asked_for) {
  g_is_kvm = false;
  forget_writes();
  CHECK_EQ(rate_from_kvm(), 0u);
  CHECK(wrote({}));
}

// The counter takes half a nanosecond per tick, from the start of the clock on.
TEST(deadline, the_timers_deadline_is_a_value_of_the_counter) {
  be_kvm(2, 0x8000'0000, 0);
  g_timer_left = ~0u - 1000;
  const std::uint64_t before = arch::rdtsc();
  REQUIRE(start_clock());
  const std::uint64_t after = arch::rdtsc();
  // Calibration masks the timer's entry; afterwards it is in deadline mode again and the count is 0.
  CHECK(g_write_count >= 4 && (g_writes[0] == Write{0x832, 1 << 16 | kTimer}) &&
        (g_writes[g_write_count - 2] == Write{0x838, 0}) &&
        (g_writes[g_write_count - 1] == Write{0x832, 2 << 17 | kTimer}));
  forget_writes();
  set_timer(1'000'000);
  REQUIRE(g_write_count == 1);
  CHECK_EQ(g_writes[0].which, kDeadline);
  CHECK_GE(g_writes[0].value, before + 2'000'000);
  CHECK_LE(g_writes[0].value, after + 2'000'000);
  CHECK_EQ(g_writes[0].value, tsc_at(1'000'000));
  // A deadline in the past is any value that the counter has passed, so that the timer fires at once. 0 would stop the
  // timer.
  set_timer(0);
  CHECK(g_writes[1].value >= before && g_writes[1].value <= after);
}

TEST(deadline, no_deadline_stops_the_timer_and_a_deadline_beyond_the_counter_is_its_last_value) {
  forget_writes();
  set_timer(platform::kForever);
  set_timer(platform::kForever - 1);
  CHECK(wrote({{kDeadline, 0}, {kDeadline, ~std::uint64_t{0}}}));
}
