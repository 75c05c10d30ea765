// SPDX-License-Identifier: Apache-2.0
// arch/linux/signals/alarm.cpp — alarms: a timer of the kernel for each thread, which sends a signal to that thread. The
// signal is SIGURG: programs that do not ask for it never get it, those that do have to expect it without a reason, and
// debuggers let it pass. SIGTRAP, which no thread of the runtime blocks anyway, would stop a debugger each time.
// Linked only into programs whose tasks may be limited. docs/decisions/0345
#include "arch/linux/kernel_call.h"
#include "arch/linux/lock.h"
#include "arch/linux/signals/fault_frame.h"
#include "arch/linux/signals/signal_action.h"
#include "rt/platform.h"

namespace janus::kernel {
namespace {

constexpr int kSignal = kSigUrg;

Lock g_lock;  // held to install and remove the handler
unsigned g_open = 0;
std::atomic<platform::AlarmHandler> g_handler{nullptr};
SignalAction g_previous;  // written before the handler is installed

// What our timers send along. A signal of anybody else is passed to the handler that was there before.
std::uint64_t mark() {
  return reinterpret_cast<std::uintptr_t>(&g_handler);
}

void handle(int signal, SignalInfo* info, SignalFrame* frame) {
  const auto handler = g_handler.load(std::memory_order_acquire);  // pairs with open_alarm()
  if (info->code == kFromTimer && info->value == mark()) {
    if (handler == nullptr) return;  // a late signal
    platform::Fault where = describe_fault(*info, frame->machine);
    const platform::Registers registers = registers_of(frame->machine);
    where.registers = &registers;
    if (handler(where)) edit_frame(*frame, where);
    return;
  }
  const SignalAction& previous = g_previous;
  if (previous.handler == kSigDfl || previous.handler == kSigIgn) return;  // by default it is ignored
  if ((previous.flags & kSaSiginfo) != 0)
    reinterpret_cast<SignalHandler>(previous.handler)(signal, info, frame);
  else
    reinterpret_cast<void (*)(int)>(previous.handler)(signal);
}

// Under the lock.
bool install() {
  const SignalAction present = get_action(kSignal);
  if (calls(present, handle)) return true;
  g_previous = present;
  return set_action(kSignal, action_for(handle, kSaRestart));
}

void unblock_here() {
  const std::uint64_t mask = signal_bit(kSignal);
  call(kSigprocmask, kSigUnblock, &mask, nullptr, sizeof mask);
}

Timespec timespec_of(std::uint64_t ns) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  return {static_cast<std::int64_t>(ns / kSecond), static_cast<std::int64_t>(ns % kSecond)};
}

// Under the lock. Whoever has installed a handler after ours may call ours, which then stays.
void leave() {
  if (--g_open != 0) return;
  if (calls(get_action(kSignal), handle)) set_action(kSignal, g_previous);
  g_handler.store(nullptr, std::memory_order_release);  // pairs with handle()
}

}  // namespace
}  // namespace janus::kernel

namespace janus::platform {

using namespace janus::kernel;

int open_alarm(AlarmHandler handler) noexcept {
  Hold hold(g_lock);
  ++g_open;
  g_handler.store(handler, std::memory_order_release);  // pairs with handle()
  TimerEvent event{};
  event.value = mark();
  event.signal = kSignal;
  event.notify = kNotifyThread;
  event.thread = static_cast<std::int32_t>(call(kGettid));
  std::int32_t timer = 0;
  if (!install() || failed(call(kTimerCreate, kClockMonotonic, &event, &timer))) {
    leave();
    return -1;
  }
  unblock_here();
  return timer;
}

void set_alarm(int alarm, std::uint64_t first_ns, std::uint64_t period_ns) noexcept {
  const TimerTimes times{timespec_of(period_ns), timespec_of(first_ns)};
  call(kTimerSettime, alarm, 0, &times, nullptr);
}

void close_alarm(int alarm) noexcept {
  call(kTimerDelete, alarm);
  Hold hold(g_lock);
  leave();
}

}  // namespace janus::platform
