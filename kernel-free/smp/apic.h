// SPDX-License-Identifier: Apache-2.0
// apic.h — the local interrupt controller of each CPU: interrupts to others, and a timer.
#pragma once

#include <cstdint>

#include "kernel-free/memory/frames.h"

namespace janus::bare {

struct Cpu;

// Whether the machine has them; looked up once, on the first CPU.
[[nodiscard]] bool has_apic() noexcept;
[[nodiscard]] bool has_x2apic() noexcept;
// Where its registers are, to be mapped uncached; empty with x2APIC.
[[nodiscard]] Range apic_registers() noexcept;

// Masks the old interrupt controllers, which nobody asks here.
void silence_old_controllers() noexcept;

// On the calling CPU: on, with its timer stopped. Needs has_apic().
void start_apic_here() noexcept;
[[nodiscard]] std::uint32_t apic_id_here() noexcept;
// The same before it is started, as the processor says it.
[[nodiscard]] std::uint32_t boot_apic_id() noexcept;

void acknowledge_interrupt() noexcept;
// Interrupts are off.
void send_interrupt(const Cpu& to, std::uint8_t vector) noexcept;
void send_init(std::uint32_t apic_id) noexcept;
void send_start(std::uint32_t apic_id, std::uint64_t page) noexcept;

// --- The timer of the calling CPU, one shot: Vector::kTimer. Interrupts are off. ---

// Counts down from as far as it goes, for calibration; then how far it has come.
void run_timer_freely() noexcept;
[[nodiscard]] std::uint64_t timer_ticks_run() noexcept;
// So many ticks in so many nanoseconds.
void set_timer_rate(std::uint64_t ticks, std::uint64_t ns) noexcept;

// On the clock of now_ns(); kForever: stops it. May come early where it cannot count so far.
void set_timer(std::uint64_t at_ns) noexcept;

}  // namespace janus::bare
