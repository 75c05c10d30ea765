// SPDX-License-Identifier: Apache-2.0
// clock.h — the time is the processor's time stamp counter, scaled by a rate that is determined once, at boot.
#pragma once

#include <cstdint>

namespace janus::bare {

// Starts now_ns(), which counts from 0 at this call. False: no source gives the counter's rate. With an APIC, also
// determines its timer's rate.
[[nodiscard]] bool start_clock() noexcept;

// The counter's value at a time of now_ns()'s clock; the largest value if the time is too far away.
[[nodiscard]] std::uint64_t tsc_at(std::uint64_t at_ns) noexcept;

}  // namespace janus::bare
