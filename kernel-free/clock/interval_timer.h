// SPDX-License-Identifier: Apache-2.0
// interval_timer.h — the PC's interval timer (8254), used only to measure another clock.
#pragma once

#include <cstdint>

namespace janus::bare {

struct IntervalSample {
  std::uint64_t ns, tsc_ticks;  // 0 ticks: there is no such timer, or no measurement succeeded
};

// Measures how far the time stamp counter advances in at least `ns`, which must be below 50 ms.
[[nodiscard]] IntervalSample measure_interval(std::uint64_t ns) noexcept;

}  // namespace janus::bare
