// SPDX-License-Identifier: Apache-2.0
// trap_frame.h — the registers of the interrupted code, as traps.S pushes them on top of what the processor pushed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace janus::bare {

struct TrapFrame {
  std::uint64_t r15, r14, r13, r12, r11, r10, r9, r8, rbp, rdi, rsi, rdx, rcx, rbx, rax;
  std::uint64_t vector, error;
  std::uint64_t rip, cs, rflags, rsp, ss;  // the processor's part
};
static_assert(sizeof(TrapFrame) == 176 && sizeof(TrapFrame) % 16 == 0 && offsetof(TrapFrame, vector) == 120);

// The processor's own vectors.
enum Vector : std::uint8_t {
  kDivideError = 0,
  kDebug = 1,
  kNonMaskable = 2,
  kBreakpoint = 3,
  kInvalidOpcode = 6,
  kDoubleFault = 8,
  kStackFault = 12,
  kGeneralProtection = 13,
  kPageFault = 14,
  kX87Error = 16,
  kAlignmentCheck = 17,
  kMachineCheck = 18,
  kSimdError = 19,
  kLastException = 31,
  // Our own vectors. The old interrupt controllers are told to use 32 to 47, and masked.
  kFirstOldInterrupt = 32,
  kTimer = 48,    // of the local APIC
  kRequest = 49,  // from another CPU: answer its requests, and look at the threads' states
  kSwitch = 50,   // by an int instruction: switch to another thread of this CPU
  kSpurious = 63,
  kVectors = 64,
};

}  // namespace janus::bare
