// SPDX-License-Identifier: Apache-2.0
// dump.cpp — prints why the machine fails, and ends it. Prints without the console's lock, whose holder may be the code
// that failed.
#include "kernel-free/console/dump.h"

#include <utility>

#include "kernel-free/console/line.h"
#include "kernel-free/cpu/assert.h"
#include "kernel-free/smp/per_cpu.h"
#include "rt/platform.h"

namespace janus::bare {
namespace {

constexpr int kAborted = 128 + 6;
bool g_is_dying = false;  // used only by the CPU that ends the machine

constexpr struct {
  char name[6];
  std::uint64_t TrapFrame::*in_frame;  // nullptr: cr2
} kRows[][4] = {
    {{"rip", &TrapFrame::rip}, {"rsp", &TrapFrame::rsp}, {"rbp", &TrapFrame::rbp}, {"flags", &TrapFrame::rflags}},
    {{"rax", &TrapFrame::rax}, {"rbx", &TrapFrame::rbx}, {"rcx", &TrapFrame::rcx}, {"rdx", &TrapFrame::rdx}},
    {{"rsi", &TrapFrame::rsi}, {"rdi", &TrapFrame::rdi}, {"r8", &TrapFrame::r8}, {"r9", &TrapFrame::r9}},
    {{"r10", &TrapFrame::r10}, {"r11", &TrapFrame::r11}, {"r12", &TrapFrame::r12}, {"r13", &TrapFrame::r13}},
    {{"r14", &TrapFrame::r14}, {"r15", &TrapFrame::r15}, {"cr2", nullptr}, {"error", &TrapFrame::error}},
};

void print_registers(const TrapFrame& frame) {
  for (const auto& row : kRows) {
    Line line;
    line.text("janus:  ");
    for (const auto& cell : row)
      line.text(" ").text(cell.name).text(" ").hex(cell.in_frame != nullptr ? frame.*cell.in_frame : read_cr2());
    line.print_at_last(kConsolePort);
  }
}

}  // namespace

void die(const char* why, const TrapFrame* frame) noexcept {
  end_alone();
  // A second call, because printing failed, only ends the machine.
  if (!std::exchange(g_is_dying, true)) {
    print_due_report();
    const Thread& thread = this_thread();
    Line line;
    line.text("janus: the machine panicked: ").text(why);
    line.text("; CPU ").number(thread.cpu->index).text(", thread ").text(thread.name);
    line.print_at_last(kConsolePort);
    if (frame != nullptr) print_registers(*frame);
  }
  platform::exit(kAborted);
}

void assertion_failed(const char* claim, const char* file, unsigned line) noexcept {
  end_alone();
  // A second call, because printing failed, only ends the machine.
  if (!std::exchange(g_is_dying, true)) {
    Line text;
    text.text("janus: assertion failed: ").text(claim).text(" (").text(file).text(":").number(line).text(")");
    text.print_at_last(kConsolePort);
  }
  platform::exit(kAborted);
}

void refuse(const char* why) noexcept {
  end_alone();
  Line{}.text("janus: ").text(why).print_at_last(kConsolePort);
  platform::exit(kAborted);
}

}  // namespace janus::bare
