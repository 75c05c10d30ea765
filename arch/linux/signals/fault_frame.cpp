// SPDX-License-Identifier: Apache-2.0
// arch/linux/signals/fault_frame.cpp — see fault_frame.h. docs/decisions/0012
#include "arch/linux/signals/fault_frame.h"

namespace janus::kernel {
namespace {

using platform::FaultKind;

FaultKind kind_of(const SignalInfo& info) {
  switch (info.signal) {
    case kSigBus:
      return FaultKind::kBus;
    case kSigIll:
      return FaultKind::kIllegalInstruction;
    case kSigTrap:
      return FaultKind::kBreakpoint;
    case kSigFpe:
      return info.code == kFpeIntDivide || info.code == kFpeIntOverflow ? FaultKind::kDivision
                                                                        : FaultKind::kFloatingPoint;
    default:
      return FaultKind::kAccess;
  }
}

// A page fault names its address. A general protection fault (a non-canonical pointer, a privileged instruction)
// cannot.
bool has_address(const SignalInfo& info) {
  return (info.signal == kSigSegv || info.signal == kSigBus) && info.code != kFromKernel;
}

void clear(std::uint8_t* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) bytes[i] = 0;
}

void clean_fpu(FpuState& fpu) {
  constexpr std::uint64_t kProtectionKeys = std::uint64_t{1} << 9;  // access rights, which stay unchanged
  fpu.control = 0x37f;
  fpu.status = fpu.tag = fpu.opcode = 0;
  fpu.last_ip = fpu.last_operand = 0;
  fpu.mxcsr = 0x1f80;
  clear(fpu.st, sizeof fpu.st);
  clear(fpu.xmm, sizeof fpu.xmm);
  // A part of the extended state that is said to be absent is restored to its initial value.
  if (fpu.magic == kExtendedMagic) fpu.present &= kProtectionKeys;
}

}  // namespace

platform::Fault describe_fault(const SignalInfo& info, const MachineContext& machine) noexcept {
  platform::Fault fault{};
  fault.kind = kind_of(info);
  fault.has_address = has_address(info);
  fault.address = fault.has_address ? info.address : 0;
  fault.ip = machine.rip;
  fault.sp = machine.rsp;
  fault.fp = machine.rbp;
  return fault;
}

platform::Registers registers_of(const MachineContext& m) noexcept {
  return {m.rax, m.rbx, m.rcx, m.rdx, m.rsi, m.rdi, m.rbp, m.rsp, m.r8, m.r9, m.r10, m.r11, m.r12, m.r13, m.r14, m.r15};
}

void edit_frame(SignalFrame& frame, const platform::Fault& fault) noexcept {
  constexpr std::uint64_t kTrap = 1 << 8, kDirection = 1 << 10, kAlignmentCheck = 1 << 18;
  MachineContext& machine = frame.machine;
  machine.rip = fault.resume_ip;
  if (fault.keeps_registers) return;
  machine.rsp = fault.resume_sp;
  machine.rdi = fault.resume_arg;
  machine.rbp = 0;  // ends the chain of frame pointers of the left frames
  machine.eflags &= ~(kTrap | kDirection | kAlignmentCheck);
  if (machine.fpu != nullptr) clean_fpu(*machine.fpu);
}

}  // namespace janus::kernel
