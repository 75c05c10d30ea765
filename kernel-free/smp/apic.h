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

// --- The calling CPU's timer, which fires once and raises Vector::kTimer. Interrupts must be off. clock/timer.h
// converts to nanoseconds. ---

inline constexpr std::uint32_t kMaxTimerTicks = ~std::uint32_t{0};

// Whether the timer fires when the time stamp counter reaches a value (set_timer_deadline); else it counts ticks of its
// own (set_timer_count).
[[nodiscard]] bool has_deadlines() noexcept;
// 0 stops the timer.
void set_timer_deadline(std::uint64_t tsc) noexcept;
void set_timer_count(std::uint32_t ticks) noexcept;

// For calibration: starts the timer at its largest count; timer_ticks_run() returns how many ticks have passed since.
void run_timer_freely() noexcept;
[[nodiscard]] std::uint64_t timer_ticks_run() noexcept;
// Ends the calibration.
void stop_timer() noexcept;

}  // namespace janus::bare
