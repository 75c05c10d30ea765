// SPDX-License-Identifier: Apache-2.0
// traps.cpp — handles every vector. INVARIANT nothing-lost-to-a-trap: interrupted code finds all its registers
// unchanged; kernel-free is compiled to use general registers only, and those are in the frame.
#include "kernel-free/traps/traps.h"

#include "kernel-free/console/console.h"
#include "kernel-free/console/dump.h"
#include "kernel-free/cpu/instructions.h"
#include "kernel-free/memory/page_tables.h"
#include "kernel-free/threads/threads.h"
#include "rt/optional.h"

namespace janus::bare {
namespace {

// The runtime's own text, as linker/runtime-text.ld places it; an empty range if that script was not used.
extern "C" [[JANUS_OF_LINKER]] const char janus_text[], janus_text_end[];

// Whether the fault is in the runtime's own text. A task that gets no memory panics; if the runtime itself got none,
// the machine would end.
bool is_runtimes(std::uint64_t ip) {
  const auto first = reinterpret_cast<std::uint64_t>(janus_text);
  return ip - first < reinterpret_cast<std::uint64_t>(janus_text_end) - first;
}

TrapFrame* on_page_fault(TrapFrame& frame) {
  constexpr std::uint64_t kWasPresent = 1, kFetched = 1 << 4;
  const std::uint64_t address = read_cr2();
  if ((frame.error & (kWasPresent | kFetched)) == 0) {
    const Filled filled = fill(address, is_runtimes(frame.rip) ? LastFrames::kTake : LastFrames::kLeave);
    if (filled == Filled::kYes) return &frame;
    if (filled == Filled::kNoMemory) report_out_of_memory();
  }
  return begin_fault(frame, address);
}

// The handler has nothing to do with a thread in the runtime's text, which may hold locks, and use the fault stack.
TrapFrame* begin_alarm_outside_runtime(TrapFrame& frame) {
  constexpr std::uint64_t kAgainNs = 250'000;
  Thread& thread = this_thread();
  if (!thread.alarm_rings || !is_runtimes(frame.rip)) return begin_alarm(frame);
  thread.alarm_rings = false;
  if (thread.alarm_period_ns > kAgainNs) ring_again(kAgainNs);
  return &frame;
}

}  // namespace
}  // namespace janus::bare

// Called by traps.S; returns the frame to return from.
extern "C" janus::bare::TrapFrame* janus_trap(janus::bare::TrapFrame* frame) {
  using namespace janus::bare;
  switch (frame->vector) {
    case kPageFault:
      return on_page_fault(*frame);
    case kTimer:
      on_timer(*frame);
      return begin_alarm_outside_runtime(*frame);
    case kRequest:
      on_request(*frame);
      return begin_alarm_outside_runtime(*frame);
    case kSwitch:
      on_switch(*frame);
      return frame;
    case kNonMaskable:
      die("a non-maskable interrupt", frame);
    case kDoubleFault:
      die("a double fault", frame);
    case kMachineCheck:
      die("a machine check", frame);
    default:
      // A vector beyond the exceptions is a spurious interrupt: it was pending when it was masked. No code waits for it,
      // and it is not acknowledged.
      return frame->vector > kLastException ? frame : begin_fault(*frame, 0);
  }
}
