// SPDX-License-Identifier: Apache-2.0
// traps.cpp — every vector comes through here. INVARIANT nothing-lost-to-a-trap: whoever was interrupted finds all its
// registers as they were; ours are compiled to use general ones only, and those are in the frame.
#include "kernel-free/traps/traps.h"

#include "kernel-free/cpu/instructions.h"
#include "kernel-free/memory/page_tables.h"

namespace janus::bare {
namespace {

// Where the linker has put the runtime's own text; without its script nowhere (linker/runtime-text.ld).
extern "C" [[gnu::weak, gnu::visibility("hidden")]] const char janus_text[], janus_text_end[];

// What a task touches may be refused: it panics. The runtime ends everybody when it finds nothing where it works.
bool is_runtimes(std::uint64_t ip) {
  const auto first = reinterpret_cast<std::uint64_t>(janus_text);
  return ip - first < reinterpret_cast<std::uint64_t>(janus_text_end) - first;
}

TrapFrame* on_page_fault(TrapFrame& frame) {
  constexpr std::uint64_t kWasPresent = 1, kFetched = 1 << 4;
  const std::uint64_t address = read_cr2();
  if ((frame.error & (kWasPresent | kFetched)) == 0) {
    const Filled filled = fill(address, is_runtimes(frame.rip));
    if (filled == Filled::kYes) return &frame;
    if (filled == Filled::kNoMemory) say_memory_is_gone();
  }
  return begin_fault(frame, address);
}

}  // namespace
}  // namespace janus::bare

// From traps.S: gives the frame to leave by.
extern "C" janus::bare::TrapFrame* janus_trap(janus::bare::TrapFrame* frame) {
  using namespace janus::bare;
  switch (frame->vector) {
    case kPageFault:
      return on_page_fault(*frame);
    case kTimer:
      on_timer(*frame);
      return frame;
    case kRequest:
      on_request(*frame);
      return frame;
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
      // Beyond the exceptions only what was on its way when it was masked: nothing waits for it, nothing acknowledges
      // it.
      return frame->vector > kLastException ? frame : begin_fault(*frame, 0);
  }
}
