// SPDX-License-Identifier: Apache-2.0
// interval_timer.h — the PC's interval timer (8254), only to measure another clock by.
#pragma once

#include <cstdint>

namespace janus::bare {

struct IntervalSample {
  std::uint64_t ns, tsc_ticks;  // 0 ticks: there is no such timer
};

// How far the time stamp counter comes in at least so much time; below 50 ms.
[[nodiscard]] IntervalSample measure_interval(std::uint64_t ns) noexcept;

}  // namespace janus::bare
