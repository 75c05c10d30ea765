// SPDX-License-Identifier: Apache-2.0
// apic.h — each CPU's local interrupt controller (APIC): interrupts to other CPUs, and a timer.
#pragma once

#include <cstdint>

#include "kernel-free/cpu/page.h"

namespace janus::bare {

struct Cpu;

// Whether the machine has local APICs; looked up once, on the first CPU.
[[nodiscard]] bool has_apic() noexcept;
[[nodiscard]] bool has_x2apic() noexcept;
// The physical range of an APIC's registers, to be mapped uncached; empty with x2APIC and without APICs.
[[nodiscard]] Range apic_registers() noexcept;

// Masks the old interrupt controllers (8259), which are not used.
void silence_old_controllers() noexcept;

// Enables the calling CPU's APIC, with its timer stopped. Requires has_apic().
void start_apic_here() noexcept;
[[nodiscard]] std::uint32_t apic_id_here() noexcept;
// The calling CPU's APIC id as cpuid reports it, which needs no start_apic_here().
[[nodiscard]] std::uint32_t boot_apic_id() noexcept;

void acknowledge_interrupt() noexcept;
// Interrupts must be off for the next three.
void send_interrupt(const Cpu& to, std::uint8_t vector) noexcept;
void send_init(std::uint32_t apic_id) noexcept;
void send_start(std::uint32_t apic_id, std::uint64_t page) noexcept;

// --- The calling CPU's timer, which fires once and raises Vector::kTimer. Interrupts must be off. ---

// For calibration: starts the timer at its largest count; timer_ticks_run() returns how many ticks have passed since.
void run_timer_freely() noexcept;
[[nodiscard]] std::uint64_t timer_ticks_run() noexcept;
// Sets the timer's rate to `ticks` in `ns` nanoseconds, and stops it.
void set_timer_rate(std::uint64_t ticks, std::uint64_t ns) noexcept;

// Makes the timer fire at a time of now_ns()'s clock; kForever: stops it. It may fire early if it cannot count that
// far.
void set_timer(std::uint64_t at_ns) noexcept;

}  // namespace janus::bare
