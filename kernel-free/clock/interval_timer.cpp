// SPDX-License-Identifier: Apache-2.0
// interval_timer.cpp — channel 2, which can be started without an interrupt and without a sound.
#include "kernel-free/clock/interval_timer.h"

#include <arch/cpu.h>

#include "kernel-free/cpu/instructions.h"

namespace janus::bare {
namespace {

constexpr std::uint16_t kChannel = 0x42, kCommand = 0x43, kGate = 0x61;
constexpr std::uint8_t kCountDownOnce = 0xb0, kLatch = 0x80;
constexpr std::uint64_t kHz = 1'193'182, kSecond = 1'000'000'000;
constexpr unsigned kTries = 4, kMostReads = 100'000;

struct Reading {
  std::uint16_t left;
  std::uint64_t tsc, doubt;  // the counter's value was latched within so many ticks
};

Reading read_once() {
  const std::uint64_t before = arch::rdtsc();
  out8(kCommand, kLatch);
  const std::uint64_t after = arch::rdtsc();
  const std::uint8_t low = in8(kChannel), high = in8(kChannel);
  return {static_cast<std::uint16_t>(high << 8 | low), before + (after - before) / 2, after - before};
}

// A virtual machine may be held up between any two instructions.
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

}  // namespace

IntervalSample measure_interval(std::uint64_t ns) noexcept {
  start();
  const Reading first = read_closely();
  const std::uint64_t wanted = ns * kHz / kSecond;
  Reading last = first;
  for (unsigned n = 0; n < kMostReads; ++n) {
    last = read_once();
    if (static_cast<std::uint16_t>(first.left - last.left) >= wanted) break;
  }
  last = read_closely();
  const std::uint16_t gone = static_cast<std::uint16_t>(first.left - last.left);
  if (gone < wanted) return {0, 0};
  return {gone * kSecond / kHz, last.tsc - first.tsc};
}

}  // namespace janus::bare
