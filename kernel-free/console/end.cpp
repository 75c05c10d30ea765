// SPDX-License-Identifier: Apache-2.0
// end.cpp — ends the machine. The status is printed as a line on the second serial port, for the process that started
// QEMU, since QEMU's own exit status cannot tell every value from its failures; then the machine stops: by QEMU's exit
// device or, without one, by a reset, on which QEMU is configured to end.
#include <atomic>

#include "kernel-free/console/line.h"
#include "kernel-free/cpu/instructions.h"
#include "kernel-free/smp/per_cpu.h"
#include "rt/platform.h"

namespace janus::bare {
namespace {

std::atomic<const Cpu*> g_ends_it{nullptr};

}  // namespace

void end_alone() noexcept {
  interrupts_off();
  const Cpu* const here = &this_cpu();
  const Cpu* first = nullptr;
  if (g_ends_it.compare_exchange_strong(first, here, std::memory_order_relaxed) || first == here) return;
  for (;;) asm volatile("hlt");
}

}  // namespace janus::bare

namespace janus::platform {

using namespace janus::bare;

void exit(int status) noexcept {
  constexpr std::uint16_t kExitPort = 0xf4, kKeyboardPort = 0x64;
  constexpr std::uint32_t kOrderly = 0x10;  // QEMU's exit status is then 2 * 16 + 1
  constexpr std::uint8_t kResetLine = 0xfe;
  end_alone();
  Line{}.text("exit ").number(static_cast<unsigned>(status) & 255).print_at_last(kStatusPort);
  drain(kConsolePort);
  drain(kStatusPort);
  out32(kExitPort, kOrderly);
  out8(kKeyboardPort, kResetLine);
  // The machine still runs: a fault without a handler resets every machine.
  const struct [[gnu::packed]] {
    std::uint16_t limit;
    std::uint64_t base;
  } none{0, 0};
  asm volatile("lidt %0; ud2" : : "m"(none));
  __builtin_unreachable();
}

void abort() noexcept {
  constexpr int kAborted = 128 + 6;
  exit(kAborted);
}

// There are no core dumps.
bool allow_core() noexcept {
  return false;
}

// There are no pipes.
void end_by_closed_pipe() noexcept {
  abort();
}

}  // namespace janus::platform
