// SPDX-License-Identifier: Apache-2.0
// clock.cpp — the rate of the time stamp counter: from the hypervisor (pvclock) or the processor (cpuid 15h) if they
// report it, else measured against the interval timer of the PC. The date comes from the battery clock.
#include "kernel-free/clock/clock.h"

#include <arch/cpu.h>

#include "kernel-free/clock/fixed_point.h"
#include "kernel-free/clock/interval_timer.h"
#include "kernel-free/clock/kvm_clock.h"
#include "kernel-free/clock/timer.h"
#include "kernel-free/cpu/instructions.h"
#include "kernel-free/smp/apic.h"
#include "rt/platform.h"

namespace janus::bare {

[[nodiscard]] std::int64_t read_battery_clock() noexcept;  // battery_clock.cpp

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kMeasuredNs = 2'000'000;

// Written before there is a second thread.
std::uint64_t g_zero = 0;
std::uint64_t g_ns_per_tick = 0;  // fixed point, 32 fractional bits
std::int64_t g_unix_at_zero_ns = 0;

std::uint64_t rate_of_hz(std::uint64_t hz) {
  return (kSecond << 32) / hz;
}

// cpuid 15h: the counter's rate as a multiple of a crystal's frequency, which only some processors report.
std::uint64_t rate_from_processor() {
  if (arch::cpuid(0).eax < 0x15) return 0;
  const arch::Cpuid leaf = arch::cpuid(0x15);
  if (leaf.eax == 0 || leaf.ebx == 0 || leaf.ecx == 0) return 0;
  return rate_of_hz(std::uint64_t{leaf.ecx} * leaf.ebx / leaf.eax);
}

std::uint64_t measured_rate() {
  const IntervalSample measured = measure_interval(kMeasuredNs);
  return measured.tsc_ticks == 0 ? 0 : (measured.ns << 32) / measured.tsc_ticks;
}

std::uint64_t ticks_to_ns(std::uint64_t ticks) {
  return scale_up(ticks, g_ns_per_tick);
}

}  // namespace

bool start_clock() noexcept {
  const bool with_timer = has_apic();
  if (with_timer) run_timer_freely();
  const std::uint64_t begin = arch::rdtsc();
  g_ns_per_tick = rate_from_kvm();
  if (g_ns_per_tick == 0) g_ns_per_tick = rate_from_processor();
  if (g_ns_per_tick == 0) g_ns_per_tick = measured_rate();
  if (g_ns_per_tick == 0) return false;
  if (with_timer) {
    while (ticks_to_ns(arch::rdtsc() - begin) < kMeasuredNs / 4) arch::pause();
    const std::uint64_t ticks = timer_ticks_run();
    set_timer_rate(ticks, ticks_to_ns(arch::rdtsc() - begin));
    stop_timer();
  }
  g_zero = begin;
  g_unix_at_zero_ns = read_battery_clock() - static_cast<std::int64_t>(platform::now_ns());
  return true;
}

std::uint64_t tsc_at(std::uint64_t at_ns) noexcept {
  std::uint64_t tsc;
  return __builtin_add_overflow(scale_down(at_ns, g_ns_per_tick), g_zero, &tsc) ? ~std::uint64_t{0} : tsc;
}

}  // namespace janus::bare

namespace janus::platform {

std::uint64_t now_ns() noexcept {
  return bare::ticks_to_ns(arch::rdtsc() - bare::g_zero);
}

std::int64_t unix_time_ns() noexcept {
  return bare::g_unix_at_zero_ns + static_cast<std::int64_t>(now_ns());
}

}  // namespace janus::platform
