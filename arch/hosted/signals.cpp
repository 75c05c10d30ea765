// SPDX-License-Identifier: Apache-2.0
// signals.cpp — faults and requests to end, by sigaction. A fault that the runtime does not handle is passed to the
// handler that was installed before; in a sanitizer's build that handler reports the fault.
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstring>
#include <initializer_list>

#include "rt/platform.h"

namespace janus::platform {
namespace {

constexpr int kFaultSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
constexpr unsigned kDirectionFlag = 0x400;
constexpr std::uint32_t kXstateMagic = 0x46505853;  // in the signal frame: extended state follows the 512 bytes

FaultHandler fault_handler = nullptr;
TerminateHandler terminate_handler = nullptr;
struct sigaction before[64];

FaultKind kind_of(const siginfo_t& info) {
  switch (info.si_signo) {
    case SIGILL:
      return FaultKind::kIllegalInstruction;
    case SIGBUS:
      return FaultKind::kBus;
    case SIGTRAP:
      return FaultKind::kBreakpoint;
    case SIGFPE:
      return info.si_code == FPE_INTDIV ? FaultKind::kDivision : FaultKind::kFloatingPoint;
    default:
      return FaultKind::kAccess;
  }
}

std::uint64_t register_of(const ucontext_t& context, int index) {
  return static_cast<std::uint64_t>(context.uc_mcontext.gregs[index]);
}

Registers registers_of(const ucontext_t& c) noexcept {
  return {register_of(c, REG_RAX), register_of(c, REG_RBX), register_of(c, REG_RCX), register_of(c, REG_RDX),
          register_of(c, REG_RSI), register_of(c, REG_RDI), register_of(c, REG_RBP), register_of(c, REG_RSP),
          register_of(c, REG_R8),  register_of(c, REG_R9),  register_of(c, REG_R10), register_of(c, REG_R11),
          register_of(c, REG_R12), register_of(c, REG_R13), register_of(c, REG_R14), register_of(c, REG_R15)};
}

// Gives mxcsr and the x87 control word their defaults, and everything else its initial state.
void clean_vector_state(ucontext_t& context) {
  auto* state = reinterpret_cast<unsigned char*>(context.uc_mcontext.fpregs);
  if (state == nullptr) return;
  context.uc_mcontext.fpregs->mxcsr = 0x1f80;
  context.uc_mcontext.fpregs->cwd = 0x37f;
  std::uint32_t magic;
  std::memcpy(&magic, state + 464, sizeof magic);
  if (magic == kXstateMagic) std::memset(state + 512, 0, 8);  // no component is present: each gets its initial state
}

void resume(ucontext_t& context, const Fault& fault) {
  auto& registers = context.uc_mcontext.gregs;
  registers[REG_RIP] = static_cast<greg_t>(fault.resume_ip);
  if (fault.keeps_registers) return;
  registers[REG_RSP] = static_cast<greg_t>(fault.resume_sp);
  registers[REG_RDI] = static_cast<greg_t>(fault.resume_arg);
  registers[REG_EFL] &= ~static_cast<greg_t>(kDirectionFlag);
  clean_vector_state(context);
}

// Passes the signal to the handler that was installed before. If there was none, restores the default action, which is
// taken when the faulting instruction runs again.
void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& old = before[signal];
  if ((old.sa_flags & SA_SIGINFO) != 0 && old.sa_sigaction != nullptr) return old.sa_sigaction(signal, info, context);
  if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) return old.sa_handler(signal);
  sigaction(signal, &old, nullptr);
}

void on_fault_signal(int signal, siginfo_t* info, void* raw_context) {
  auto& context = *static_cast<ucontext_t*>(raw_context);
  Fault fault{};
  fault.kind = kind_of(*info);
  fault.has_address = (signal == SIGSEGV || signal == SIGBUS) && info->si_code > 0 && info->si_code != SI_KERNEL;
  if (fault.has_address) fault.address = reinterpret_cast<std::uint64_t>(info->si_addr);
  fault.ip = register_of(context, REG_RIP);
  fault.sp = register_of(context, REG_RSP);
  fault.fp = register_of(context, REG_RBP);
  const Registers registers = registers_of(context);
  fault.registers = &registers;
  const bool was_sent = info->si_code <= 0;
  if (fault_handler != nullptr && !was_sent && fault_handler(fault)) return resume(context, fault);
  pass_on(signal, info, raw_context);
}

volatile sig_atomic_t late_status = 0;
LastWords volatile late_words = nullptr;

void on_terminate_signal(int signal) {
  if (terminate_handler != nullptr) terminate_handler(signal);
}

void end_late(int) {
  if (late_words != nullptr) late_words();
  _exit(late_status);
}

// The kernel's own struct sigaction.
struct KernelAction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  unsigned long mask;
};
constexpr unsigned long kHasRestorer = 0x04000000;
static_assert(SYS_rt_sigreturn == 15);
asm(".pushsection .text; .type janus_hosted_return, @function; janus_hosted_return: mov $15, %eax; syscall;"
    ".size janus_hosted_return, . - janus_hosted_return; .popsection");
extern "C" void janus_hosted_return();

// Installs a handler for a signal that is sent, bypassing the C library: ThreadSanitizer would delay the signal until
// the thread next calls a function that it intercepts, and a sleeping worker calls none.
void handle(int signal, void (*handler)(int), unsigned long flags) noexcept {
  const KernelAction action{handler, flags | SA_ONSTACK | kHasRestorer, janus_hosted_return, 0};
  ::syscall(SYS_rt_sigaction, signal, &action, nullptr, sizeof action.mask);
}

}  // namespace

bool on_fault(FaultHandler handler) noexcept {
  const bool first = fault_handler == nullptr;
  fault_handler = handler;
  if (!first) return true;
  struct sigaction action {};
  action.sa_sigaction = on_fault_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  bool are_installed = true;
  for (const int signal : kFaultSignals) are_installed &= sigaction(signal, &action, &before[signal]) == 0;
  if (!are_installed) remove_fault_handler();
  return are_installed;
}

void remove_fault_handler() noexcept {
  if (fault_handler == nullptr) return;
  fault_handler = nullptr;
  for (const int signal : kFaultSignals) sigaction(signal, &before[signal], nullptr);
}

void on_terminate(TerminateHandler handler) noexcept {
  terminate_handler = handler;
  for (const int signal : {SIGTERM, SIGINT, SIGQUIT}) handle(signal, on_terminate_signal, SA_RESTART);
  handle(SIGPIPE, SIG_IGN, 0);
}

void exit_later(std::uint64_t after_ns, int status, LastWords last_words) noexcept {
  late_status = status;
  late_words = last_words;
  handle(SIGALRM, end_late, 0);
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(after_ns / 1'000'000'000);
  timer.it_value.tv_usec = static_cast<suseconds_t>(after_ns % 1'000'000'000 / 1000) + 1;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace janus::platform
