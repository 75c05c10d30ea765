// SPDX-License-Identifier: Apache-2.0
// interval_timer_test.cpp — measuring the rate of the time stamp counter with the interval timer (8254, channel 2,
// counting down once) in a virtual machine that its host may stop for any time. Timer and counter go on meanwhile.
#include "kernel-free/clock/interval_timer.h"

#include <arch/cpu.h>

#include "kernel-free/cpu/instructions.h"
#include "tests/harness/test.h"

namespace {

using namespace janus;
using namespace janus::bare;

// The counter is the test processor's, and is taken to tick once a nanosecond.
constexpr std::uint64_t kHz = 1'193'182, kSecond = 1'000'000'000, kMeasured = 2'000'000;
constexpr std::uint64_t kTop = 0x10000;

std::uint64_t g_began = 0, g_latched = 0;
unsigned g_bytes_read = 0, g_commands = 0;
bool g_is_there = true;

// When g_commands_to_go reaches 0, the next command takes g_held_up_ns longer; this happens g_hold_ups times.
unsigned g_commands_to_go = 0, g_hold_ups = 0;
std::uint64_t g_held_up_ns = 0;

void be_held_up() {
  if (g_hold_ups == 0 || g_commands_to_go-- != 0) return;
  --g_hold_ups;
  g_commands_to_go = 20;
  for (const std::uint64_t until = arch::rdtsc() + g_held_up_ns; arch::rdtsc() < until;) arch::pause();
}

void hold_up(unsigned after_commands, unsigned times, std::uint64_t ns) {
  g_commands_to_go = after_commands;
  g_hold_ups = times;
  g_held_up_ns = ns;
}

std::uint64_t gone() {
  return (arch::rdtsc() - g_began) * kHz / kSecond;
}

// Within one per cent, which is more than twenty ticks of the timer.
bool is_right(const IntervalSample& sample) {
  const std::uint64_t wrong =
      sample.ns > sample.tsc_ticks ? sample.ns - sample.tsc_ticks : sample.tsc_ticks - sample.ns;
  return sample.tsc_ticks >= kMeasured - kMeasured / 100 && wrong < sample.ns / 100;
}

}  // namespace

namespace janus::bare {

void out8(std::uint16_t port, std::uint8_t value) noexcept {
  if (port != 0x43) return;
  ++g_commands;
  be_held_up();
  if (value == 0xb0) g_began = arch::rdtsc();  // this command starts the count from the top
  if (value != 0xc8 && value != 0x80) return;  // latch status and count, or the count alone
  g_latched = gone();
  g_bytes_read = value == 0xc8 ? 0 : 1;
}

std::uint8_t in8(std::uint16_t port) noexcept {
  if (port != 0x42 || !g_is_there) return 0xff;
  const std::uint64_t left = (kTop - 1 - g_latched) % kTop;
  switch (g_bytes_read++) {
    case 0:
      return g_latched >= kTop - 1 ? 0xb0 : 0x30;  // the output has risen: the count is over
    case 1:
      return static_cast<std::uint8_t>(left);
    default:
      return static_cast<std::uint8_t>(left >> 8);
  }
}

}  // namespace janus::bare

TEST(interval_timer, tells_how_fast_the_counter_is) {
  hold_up(0, 0, 0);
  CHECK(is_right(measure_interval(kMeasured)));
}

// Stops that are longer than the measurement, so that the timer stands at any value afterwards: at the beginning, in
// the middle, at the end.
TEST(interval_timer, a_machine_that_stood_still_measures_again) {
  for (const unsigned commands : {1u, 3u, 6u, 40u})
    for (const std::uint64_t ms : {30, 56, 80, 170}) {
      hold_up(commands, 2, ms * 1'000'000);
      CHECK(is_right(measure_interval(kMeasured)));
    }
}

TEST(interval_timer, that_is_not_there_tells_nothing) {
  g_commands = 0;
  g_is_there = false;
  hold_up(0, 0, 0);
  CHECK_EQ(measure_interval(kMeasured).tsc_ticks, 0u);
  CHECK_LE(g_commands, 1000u);
  g_is_there = true;
}
