// SPDX-License-Identifier: Apache-2.0
// interval_timer.cpp — uses the timer's channel 2, which can run without raising interrupts and without a sound.
#include "kernel-free/clock/interval_timer.h"

#include <arch/cpu.h>

#include "kernel-free/cpu/instructions.h"

namespace janus::bare {
namespace {

constexpr std::uint16_t kChannel = 0x42, kCommand = 0x43, kGate = 0x61;
constexpr std::uint8_t kCountDownOnce = 0xb0, kLatchAll = 0xc8;
constexpr std::uint8_t kIsOver = 0x80;  // a bit of the latched status: the output is high, which it becomes at 0
constexpr std::uint64_t kHz = 1'193'182, kSecond = 1'000'000'000;
constexpr unsigned kTries = 4, kMaxReads = 100'000, kMaxMeasurings = 32;

struct Reading {
  std::uint16_t left;
  bool is_over;              // the count has reached 0 and continues from the top
  std::uint64_t tsc, doubt;  // the count was latched within `doubt` ticks around `tsc`
};

Reading read_once() {
  const std::uint64_t before = arch::rdtsc();
  out8(kCommand, kLatchAll);
  const std::uint64_t after = arch::rdtsc();
  const std::uint8_t status = in8(kChannel), low = in8(kChannel), high = in8(kChannel);
  return {static_cast<std::uint16_t>(high << 8 | low), (status & kIsOver) != 0, before + (after - before) / 2,
          after - before};
}

// The reading with the least doubt of kTries: a virtual machine may be stopped between any two instructions.
Reading read_closely() {
  Reading best = read_once();
  for (unsigned n = 1; n < kTries; ++n) {
    const Reading next = read_once();
    if (next.doubt < best.doubt) best = next;
  }
  return best;
}

void start() {
  constexpr std::uint8_t kOpen = 1, kSpeaker = 2;
  out8(kGate, static_cast<std::uint8_t>((in8(kGate) & ~kSpeaker) | kOpen));
  out8(kCommand, kCountDownOnce);
  out8(kChannel, 0xff);
  out8(kChannel, 0xff);
}

// False: the count reached 0 meanwhile, an unknown number of times. `sample` is unchanged if the timer does not count.
bool measure(std::uint64_t wanted, IntervalSample& sample) {
  start();
  const Reading first = read_closely();
  Reading last = first;
  for (unsigned n = 0; n < kMaxReads; ++n) {
    last = read_once();
    if (last.is_over || static_cast<std::uint16_t>(first.left - last.left) >= wanted) break;
  }
  last = read_closely();
  if (last.is_over) return false;
  const std::uint16_t gone = static_cast<std::uint16_t>(first.left - last.left);
  if (gone >= wanted) sample = {gone * kSecond / kHz, last.tsc - first.tsc};
  return true;
}

}  // namespace

// Measures repeatedly, because a virtual machine may be stopped for longer than the timer counts.
IntervalSample measure_interval(std::uint64_t ns) noexcept {
  IntervalSample sample{0, 0};
  for (unsigned n = 0; n < kMaxMeasurings && !measure(ns * kHz / kSecond, sample); ++n) continue;
  return sample;
}

}  // namespace janus::bare
