// SPDX-License-Identifier: Apache-2.0
// faults.cpp — a fault of a thread is passed to the runtime's handler, on the thread's fault stack and with interrupts
// on, since the runtime takes locks that other threads may hold. The handler never jumps: it says where to resume, the
// code here changes the frame accordingly, and the trap returns. Every other fault is a fault of kernel-free itself and
// ends the machine. A thread's alarm calls its handler in the same way (docs/decisions/0345).
#include <atomic>

#include "kernel-free/console/dump.h"
#include "kernel-free/smp/apic.h"
#include "kernel-free/smp/per_cpu.h"
#include "kernel-free/traps/careful_copy.h"
#include "kernel-free/traps/traps.h"
#include "rt/platform.h"

namespace janus::bare {
namespace {

std::atomic<platform::FaultHandler> g_handler{nullptr};
std::atomic<platform::AlarmHandler> g_alarm_handler{nullptr};

// A bit in the second byte of a frame's vector, for traps.S: the frame has been moved to the fault stack, and
// janus_fault is to be called.
constexpr std::uint64_t kIsFault = 0x100;

// The kind of fault that Linux's signal for the same vector stands for.
platform::FaultKind kind_of(std::uint64_t vector) {
  using platform::FaultKind;
  switch (vector) {
    case kDivideError:
      return FaultKind::kDivision;
    case kDebug:
    case kBreakpoint:
      return FaultKind::kBreakpoint;
    case kInvalidOpcode:
      return FaultKind::kIllegalInstruction;
    case kX87Error:
    case kSimdError:
      return FaultKind::kFloatingPoint;
    case kStackFault:
    case kAlignmentCheck:
      return FaultKind::kBus;
    default:
      return FaultKind::kAccess;
  }
}

const char* name_of(std::uint64_t vector) {
  switch (vector) {
    case kDivideError:
      return "a division by zero";
    case kInvalidOpcode:
      return "an illegal instruction";
    case kGeneralProtection:
      return "a general protection fault";
    case kPageFault:
      return "an invalid memory access";
    default:
      return "a fault";
  }
}

platform::Registers registers_of(const TrapFrame& f) {
  return {f.rax, f.rbx, f.rcx, f.rdx, f.rsi, f.rdi, f.rbp, f.rsp, f.r8, f.r9, f.r10, f.r11, f.r12, f.r13, f.r14, f.r15};
}

// Resumes where the handler says, in the state that a called function expects: DF, TF and AC clear, default mxcsr and
// x87 word, no vector register in use.
void go_on_elsewhere(TrapFrame& frame, const platform::Fault& fault) {
  frame.rip = fault.resume_ip;
  frame.rsp = fault.resume_sp;
  frame.rdi = fault.resume_arg;
  frame.rbp = 0;  // ends the chain of frame pointers: the faulting code is never resumed
  frame.rflags &= ~(kFlagTrap | kFlagDirection | kFlagAlignment);
  clean_vectors();
}

TrapFrame* move_to_fault_stack(Thread& thread, const TrapFrame& frame) {
  thread.in_fault = true;
  auto* const moved = reinterpret_cast<TrapFrame*>(thread.fault_stack_top) - 1;
  copy_bytes(moved, &frame, sizeof frame);
  moved->vector |= kIsFault;
  return moved;
}

}  // namespace

TrapFrame* begin_fault(TrapFrame& frame, std::uint64_t address) noexcept {
  if (fix_up(frame)) return &frame;
  Thread& thread = this_thread();
  const bool is_ours = (frame.rflags & kFlagInterrupts) == 0 || thread.in_fault || thread.fault_stack_top == nullptr;
  if (is_ours) die(name_of(frame.vector), &frame);
  thread.fault_address = address;
  return move_to_fault_stack(thread, frame);
}

TrapFrame* begin_alarm(TrapFrame& frame) noexcept {
  Thread& thread = this_thread();
  if (!thread.alarm_rings) return &frame;
  thread.alarm_rings = false;
  if (thread.in_fault) return &frame;
  frame.vector = kTimer;  // the interrupt may have switched to this thread, which was left by another one
  return move_to_fault_stack(thread, frame);
}

}  // namespace janus::bare

// Called by traps.S, on the fault stack.
extern "C" void janus_fault(janus::bare::TrapFrame* frame) {
  using namespace janus;
  using namespace janus::bare;
  frame->vector &= ~kIsFault;
  Thread& thread = this_thread();
  BARE_ASSERT(thread.in_fault && interrupts_are_off());
  const bool is_alarm = frame->vector == kTimer;
  const auto handler = (is_alarm ? g_alarm_handler : g_handler).load(std::memory_order_acquire);  // pairs with on_fault
  if (handler == nullptr) die(name_of(frame->vector), frame);
  VectorState vectors{};  // of the interrupted code; the handler uses the same registers. What xsave leaves has to be 0
  save_vectors(vectors);
  platform::Fault fault{};
  fault.kind = kind_of(frame->vector);
  fault.has_address = frame->vector == kPageFault;
  fault.address = thread.fault_address;
  fault.ip = frame->rip;
  fault.sp = frame->rsp;
  fault.fp = frame->rbp;
  const platform::Registers registers = registers_of(*frame);
  fault.registers = &registers;
  interrupts_on();
  const bool handled = handler(fault);
  interrupts_off();
  if (!handled && !is_alarm) die(name_of(frame->vector), frame);
  if (!handled) {
    load_vectors(vectors);
  } else if (fault.keeps_registers) {
    frame->rip = fault.resume_ip;
    load_vectors(vectors);
  } else {
    go_on_elsewhere(*frame, fault);
  }
  thread.in_fault = false;
}

namespace janus::platform {

bool on_fault(FaultHandler handler) noexcept {
  bare::g_handler.store(handler, std::memory_order_release);  // pairs with janus_fault
  return true;
}

// The alarm is the thread's own (smp/thread.h), and so has no number.
int open_alarm(AlarmHandler handler) noexcept {
  if (!bare::has_apic() || bare::this_thread().fault_stack_top == nullptr) return -1;
  bare::g_alarm_handler.store(handler, std::memory_order_release);  // pairs with janus_fault
  return 0;
}

void remove_fault_handler() noexcept {
  bare::g_handler.store(nullptr, std::memory_order_release);
}

}  // namespace janus::platform
