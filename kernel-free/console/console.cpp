// SPDX-License-Identifier: Apache-2.0
// console.cpp — a 16550: no interrupts, eight bits, a queue of 16 bytes. Without such a chip its registers read as
// ones, and writes have no effect.
#include "kernel-free/console/console.h"

#include <atomic>

#include "kernel-free/cpu/instructions.h"

namespace janus::bare {

Lock g_console_lock;

namespace {

enum Register : std::uint16_t { kData = 0, kInterrupts = 1, kQueue = 2, kLine = 3, kModem = 4, kLineStatus = 5 };
constexpr std::uint8_t kEmptyQueue = 0x20, kAllSent = 0x40, kNoChip = 0xff;
constexpr unsigned kQueueBytes = 16;
// Bounds the wait for a chip that never becomes ready.
constexpr unsigned kPatience = 1'000'000;

enum class Report : std::uint8_t { kNone, kDue, kPrinted };
std::atomic<Report> g_out_of_memory{Report::kNone};

void wait_for(std::uint16_t port, std::uint8_t state) {
  for (unsigned n = 0; n < kPatience && (in8(port + kLineStatus) & state) == 0; ++n) wait_a_moment();
}

void init(std::uint16_t port) {
  out8(port + kInterrupts, 0);
  out8(port + kLine, 0x80);  // the next two set the speed: 115200
  out8(port + kData, 1);
  out8(port + kInterrupts, 0);
  out8(port + kLine, 3);
  out8(port + kQueue, 7);  // on, and emptied
  out8(port + kModem, 3);
}

}  // namespace

void init_console() noexcept {
  init(kConsolePort);
  init(kStatusPort);
}

void print_at_last(std::uint16_t port, const char* bytes, std::size_t count) noexcept {
  if (in8(port + kLineStatus) == kNoChip) return;
  for (std::size_t n = 0; n < count; ++n) {
    if (n % kQueueBytes == 0) wait_for(port, kEmptyQueue);
    out8(port + kData, static_cast<std::uint8_t>(bytes[n]));
  }
}

void print(const char* bytes, std::size_t count) noexcept {
  LockGuard guard(g_console_lock);
  print_due_report();
  print_at_last(kConsolePort, bytes, count);
}

void report_out_of_memory() noexcept {
  Report none = Report::kNone;
  g_out_of_memory.compare_exchange_strong(none, Report::kDue, std::memory_order_relaxed);
}

void print_due_report() noexcept {
  if (g_out_of_memory.load(std::memory_order_relaxed) != Report::kDue) return;
  g_out_of_memory.store(Report::kPrinted, std::memory_order_relaxed);
  constexpr char kLine[] = "janus: no memory is left\n";
  print_at_last(kConsolePort, kLine, sizeof kLine - 1);
}

void drain(std::uint16_t port) noexcept {
  if (in8(port + kLineStatus) != kNoChip) wait_for(port, kAllSent);
}

}  // namespace janus::bare
