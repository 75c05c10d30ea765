// SPDX-License-Identifier: Apache-2.0
// clock.h — the time is the processor's time stamp counter at a rate that is found out once, at boot.
#pragma once

#include <cstdint>

namespace janus::bare {

// From here on now_ns() counts, from 0. False: the machine has nothing to measure by. With an APIC, its timer's rate is
// found, too.
[[nodiscard]] bool start_clock() noexcept;

// The counter's value at a time on now_ns()'s clock; the largest for what lies too far.
[[nodiscard]] std::uint64_t tsc_at(std::uint64_t at_ns) noexcept;

}  // namespace janus::bare
