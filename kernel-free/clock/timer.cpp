// SPDX-License-Identifier: Apache-2.0
// timer.cpp — see timer.h.
#include "kernel-free/clock/timer.h"

#include "kernel-free/clock/clock.h"
#include "kernel-free/clock/fixed_point.h"
#include "kernel-free/cpu/assert.h"
#include "kernel-free/smp/apic.h"
#include "rt/platform.h"

namespace janus::bare {
namespace {

std::uint64_t g_ticks_per_ns = 0;  // fixed point, 32 fractional bits; written before there is a second CPU

}  // namespace

void set_timer_rate(std::uint64_t ticks, std::uint64_t ns) noexcept {
  BARE_ASSERT(ns != 0 && g_ticks_per_ns == 0);
  g_ticks_per_ns = (ticks << 32) / ns;
}

void set_timer(std::uint64_t at_ns) noexcept {
  const bool is_never = at_ns == platform::kForever;
  if (has_deadlines()) return set_timer_deadline(is_never ? 0 : tsc_at(at_ns));
  if (is_never) return set_timer_count(0);
  const std::uint64_t now = platform::now_ns();
  const std::uint64_t left = at_ns > now ? at_ns - now : 0;
  const Wide ticks = static_cast<Wide>(left) * g_ticks_per_ns >> 32;
  set_timer_count(ticks >= kMaxTimerTicks ? kMaxTimerTicks : static_cast<std::uint32_t>(ticks) + 1);
}

}  // namespace janus::bare
