// SPDX-License-Identifier: Apache-2.0
// arch/linux/signals/faults.cpp — the processor's faults, which are passed to the runtime first, then to the handlers
// that were installed before. The handler never jumps: it edits the frame and returns, so the kernel restores signal
// mask, alternate stack and vector state.
#include "arch/linux/kernel_call.h"
#include "arch/linux/lock.h"
#include "arch/linux/signals/fault_frame.h"
#include "arch/linux/signals/sample_thread.h"
#include "arch/linux/signals/signal_action.h"
#include "rt/platform.h"

namespace janus::kernel {
namespace {

constexpr int kSignals[] = {kSigSegv, kSigBus, kSigFpe, kSigIll, kSigTrap};

Lock g_lock;  // held to install and remove handlers
std::atomic<platform::FaultHandler> g_handler{nullptr};
SignalAction g_previous[32];  // by signal; written before the handler is installed

// Ends the process by the signal's default action. A bad access recurs when the frame is restored; a breakpoint or a
// sent signal does not, so it is sent again. If pass_on() has blocked it, it arrives with the frame's registers.
void act_by_default(const SignalInfo& info) {
  set_action(info.signal, SignalAction{});
  if (info.code <= 0 || info.signal == kSigTrap) raise_here(info.signal);
}

void call_previous(const SignalAction& action, SignalInfo* info, SignalFrame* frame) {
  if ((action.flags & kSaResethand) != 0) g_previous[info->signal].handler = kSigDfl;
  std::uint64_t mask = action.mask;
  call(kSigprocmask, kSigBlock, &mask, nullptr, sizeof mask);
  mask = signal_bit(info->signal);
  if ((action.flags & kSaNodefer) != 0) call(kSigprocmask, kSigUnblock, &mask, nullptr, sizeof mask);
  if ((action.flags & kSaSiginfo) != 0)
    reinterpret_cast<SignalHandler>(action.handler)(info->signal, info, frame);
  else
    reinterpret_cast<void (*)(int)>(action.handler)(info->signal);
}

void pass_on(SignalInfo* info, SignalFrame* frame) {
  const SignalAction action = g_previous[info->signal];
  const std::uint64_t own = signal_bit(info->signal);
  call(kSigprocmask, kSigBlock, &own, nullptr, sizeof own);
  const bool was_sent = info->code <= 0;
  if (action.handler == kSigIgn && was_sent) return;
  if (action.handler == kSigDfl || action.handler == kSigIgn)  // faults cannot be ignored
    act_by_default(*info);
  else
    call_previous(action, info, frame);
}

constexpr std::uint64_t kAlignmentCheck = 1 << 18;

// The kernel enters a handler with the flag unchanged, but compiled code must not run with it.
[[gnu::always_inline]] inline void clear_alignment_check() {
  asm volatile("pushfq; andq %0, (%%rsp); popfq" : : "i"(~kAlignmentCheck) : "memory", "cc");
}

// A task has set the alignment check flag, which no compiler does, and the next unaligned access faults, maybe in the
// runtime: the handler clears the flag and resumes the access. If the task has also changed the gs base, the thread is
// not recognised as a worker.
bool is_alignment_check_of_a_worker(const SignalInfo& info, const SignalFrame& frame) {
  return info.signal == kSigBus && info.code == kBusAlignment && (frame.machine.eflags & kAlignmentCheck) != 0 &&
         platform::worker_slot() != nullptr;
}

// A fault of the handler itself is handled as any other, further down on the same stack. A quarter of the stack is kept
// free for functions that the handler calls: if the stack overflowed, the kernel would start at its top again, in an
// endless loop.
bool is_used_up(const SignalFrame& frame) {
  const SignalStack& stack = frame.stack;
  const auto base = reinterpret_cast<std::uint64_t>(stack.base);
  const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  return frame.machine.rsp - base < stack.bytes && here - base < stack.bytes / 4;
}

void handle(int, SignalInfo* info, SignalFrame* frame) {
  clear_alignment_check();
  if (is_used_up(*frame)) return act_by_default(*info);
  const auto handler = g_handler.load(std::memory_order_acquire);  // pairs with on_fault
  const bool was_sent = info->code <= 0;
  if (was_sent && info->signal == kInterrogation && answer != nullptr && answer(*info, *frame)) return;
  if (handler != nullptr && is_alignment_check_of_a_worker(*info, *frame)) {
    frame->machine.eflags &= ~kAlignmentCheck;
    return;
  }
  if (handler != nullptr && !was_sent) {
    platform::Fault fault = describe_fault(*info, frame->machine);
    const platform::Registers registers = registers_of(frame->machine);
    fault.registers = &registers;
    if (handler(fault)) {
      edit_frame(*frame, fault);
      return;
    }
  }
  pass_on(info, frame);
}

bool install(int signal) {
  const SignalAction present = get_action(signal);
  if (calls(present, handle)) return true;
  g_previous[signal] = present;
  // Restarts the system call of a sampled thread; lets a fault of the handler itself be handled as any other.
  return set_action(signal, action_for(handle, kSaRestart | kSaNodefer));
}

// Without an alternate stack the handler would begin on the stack that has overflowed. Checked here for all threads,
// since a thread that failed at its start could not report it.
bool allows_alternate_stacks() {
  SignalStack present{};
  return !failed(call(kSigaltstack, nullptr, &present));
}

// If a handler was installed after ours, it may call ours: then it stays, and ours passes everything on.
void remove(int signal) {
  if (calls(get_action(signal), handle)) set_action(signal, g_previous[signal]);
}

// Under the lock.
void remove_all() {
  for (const int signal : kSignals) remove(signal);
  g_handler.store(nullptr, std::memory_order_release);  // pairs with handle()
}

}  // namespace
}  // namespace janus::kernel

namespace janus::platform {

bool on_fault(FaultHandler handler) noexcept {
  kernel::Hold hold(kernel::g_lock);
  if (!kernel::allows_alternate_stacks()) return false;
  kernel::g_handler.store(handler, std::memory_order_release);  // pairs with handle()
  for (const int signal : kernel::kSignals) {
    if (kernel::install(signal)) continue;
    kernel::remove_all();
    return false;
  }
  return true;
}

void remove_fault_handler() noexcept {
  kernel::Hold hold(kernel::g_lock);
  kernel::remove_all();
}

}  // namespace janus::platform
