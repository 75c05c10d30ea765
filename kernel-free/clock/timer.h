// SPDX-License-Identifier: Apache-2.0
// timer.h — the timer of the calling CPU's APIC, by now_ns()'s clock. It fires once. Interrupts must be off.
#pragma once

#include <cstdint>

namespace janus::bare {

// Sets the rate of all timers to `ticks` in `ns` nanoseconds. Called before there is a second CPU.
void set_timer_rate(std::uint64_t ticks, std::uint64_t ns) noexcept;

// Makes the timer fire at `at_ns`; kForever: stops it. It may fire early if it cannot count that far.
void set_timer(std::uint64_t at_ns) noexcept;

}  // namespace janus::bare
