// SPDX-License-Identifier: Apache-2.0
// arch/linux/process/terminate.cpp — requests to end, for a program that is ours from its first instruction: SIGTERM
// and SIGINT reach the runtime, a closed pipe is an error and does not end the program, and the orphans of the first
// process of a container are reaped. docs/decisions/0013
#include "arch/linux/kernel_call.h"

#include <initializer_list>

#include "arch/linux/process/init.h"
#include "arch/linux/signals/sample_thread.h"
#include "arch/linux/signals/signal_action.h"
#include "rt/platform.h"

namespace janus::kernel {
namespace {

std::atomic<platform::TerminateHandler> g_handler{nullptr};

void handle(int signal, SignalInfo*, SignalFrame*) {
  if (const auto handler = g_handler.load(std::memory_order_acquire); handler != nullptr)  // pairs with on_terminate
    handler(signal);
}

// An action with handle(), which is not interrupted by requests of sample_thread().
SignalAction request(std::uint64_t flags) {
  SignalAction action = action_for(handle, flags);
  action.mask = signal_bit(kInterrogation);
  return action;
}

// Relaxed: exit_later() stores them before its system call that sets the timer.
std::atomic<int> g_late_status{0};
std::atomic<platform::LastWords> g_last_words{nullptr};

void end_late(int, SignalInfo*, SignalFrame*) {
  if (const auto last_words = g_last_words.load(std::memory_order_relaxed); last_words != nullptr) last_words();
  platform::exit(g_late_status.load(std::memory_order_relaxed));
}

void ignore(int signal, std::uint64_t flags) {
  SignalAction action{};
  action.handler = kSigIgn;
  action.flags = flags;
  set_action(signal, action);
}

}  // namespace
}  // namespace janus::kernel

namespace janus::platform {

using namespace janus::kernel;

// A blocked system call is interrupted rather than restarted, so that a program that waits in a read sees the request.
// SIGINT is handled even if the shell that started the program in the background ignores it: the guarantee is the same
// for both signals. The kernel reaps children of PID 1; waiting for them then gives no status.
void on_terminate(TerminateHandler handler) noexcept {
  g_handler.store(handler, std::memory_order_release);  // pairs with handle()
  if (handler == nullptr) {
    for (const int signal : {kSigTerm, kSigInt, kSigQuit, kSigPipe, kSigChld}) set_action(signal, SignalAction{});
    return;
  }
  for (const int signal : {kSigTerm, kSigInt}) set_action(signal, request(0));
  set_action(kSigQuit, request(kSaRestart));
  ignore(kSigPipe, 0);
  if (call(kGetpid) == 1) ignore(kSigChld, kSaNocldwait);
  // The parent may have blocked signals when it executed this program: they would never reach the handlers.
  const std::uint64_t none = 0;
  call(kSigprocmask, kSigSetmask, &none, nullptr, sizeof none);
  take_orders();
}

// Uses the kernel's timer, which also ends a program whose workers never check.
void exit_later(std::uint64_t after_ns, int status, LastWords last_words) noexcept {
  g_late_status.store(status, std::memory_order_relaxed);
  g_last_words.store(last_words, std::memory_order_relaxed);
  set_action(kSigAlrm, action_for(end_late, 0));
  const std::uint64_t us = after_ns / 1000 + 1;  // not 0, which would disarm the timer
  const IntervalTimer timer{0, 0, static_cast<std::int64_t>(us / 1'000'000), static_cast<std::int64_t>(us % 1'000'000)};
  call(kSetitimer, kTimerReal, &timer, nullptr);
}

}  // namespace janus::platform
