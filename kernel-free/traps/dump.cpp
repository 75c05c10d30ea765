// SPDX-License-Identifier: Apache-2.0
// dump.cpp — the last words, and the end. What is printed here passes by the console's lock, whose holder may be the
// one that broke.
#include <atomic>

#include "kernel-free/console/line.h"
#include "kernel-free/cpu/cpu.h"
#include "kernel-free/traps/traps.h"
#include "rt/platform.h"

namespace janus::bare {
namespace {

constexpr int kAborted = 128 + 6;
std::atomic<bool> g_is_dying{false};

void print_registers(const TrapFrame& frame) {
  const struct {
    const char* name;
    std::uint64_t value;
  } rows[][4] = {
      {{"rip", frame.rip}, {"rsp", frame.rsp}, {"rbp", frame.rbp}, {"flags", frame.rflags}},
      {{"rax", frame.rax}, {"rbx", frame.rbx}, {"rcx", frame.rcx}, {"rdx", frame.rdx}},
      {{"rsi", frame.rsi}, {"rdi", frame.rdi}, {"r8", frame.r8}, {"r9", frame.r9}},
      {{"r10", frame.r10}, {"r11", frame.r11}, {"r12", frame.r12}, {"r13", frame.r13}},
      {{"r14", frame.r14}, {"r15", frame.r15}, {"cr2", read_cr2()}, {"error", frame.error}},
  };
  for (const auto& row : rows) {
    Line line;
    line.text("janus:  ");
    for (const auto& cell : row) line.text(" ").text(cell.name).text(" ").hex(cell.value);
    line.print_at_last(kConsolePort);
  }
}

}  // namespace

void die(const char* why, const TrapFrame* frame) noexcept {
  interrupts_off();
  // The first one speaks; whoever comes later, on another CPU or because printing failed, only ends.
  if (!g_is_dying.exchange(true)) {
    const Thread& thread = this_thread();
    Line line;
    line.text("janus: the machine panicked: ").text(why);
    line.text("; CPU ").number(thread.cpu->index).text(", thread ").text(thread.name);
    line.print_at_last(kConsolePort);
    if (frame != nullptr) print_registers(*frame);
  }
  platform::exit(kAborted);
}

void refuse(const char* why) noexcept {
  Line{}.text("janus: ").text(why).print_at_last(kConsolePort);
  platform::exit(kAborted);
}

}  // namespace janus::bare
