// SPDX-License-Identifier: Apache-2.0
// arch/linux/process/init.cpp — see init.h.
#include "arch/linux/process/init.h"

#include <atomic>
#include <initializer_list>
#include <new>

#include "arch/linux/files/text.h"
#include "arch/linux/kernel_call.h"
#include "rt/platform.h"

namespace janus::kernel {
namespace {

// g_mark and g_terminal are written before there is a second thread. g_mark's page is wiped on fork (MADV_WIPEONFORK), so
// a forked child is never init, not even as the first process of a namespace.
struct Mark {
  bool is_init;
};
Mark* g_mark;
long g_terminal;

std::atomic<bool> g_ending{false};

bool is_init() {
  return g_mark != nullptr && g_mark->is_init;
}

const char* value_of(const char* name, char** envp) {
  const Text prefix = text_of(name);
  for (; *envp != nullptr; ++envp)
    if (begins_with(text_of(*envp), prefix)) return *envp + prefix.bytes;
  return nullptr;
}

// Makes the terminal pass output unchanged: it adds no carriage returns, and echoes nothing.
void make_plain(long terminal) {
  TerminalModes modes{};
  if (failed(call(kIoctl, terminal, kTerminalGetModes, &modes))) return;
  modes.output &= ~kTerminalPostProcess;
  modes.local &= ~kTerminalEcho;
  call(kIoctl, terminal, kTerminalSetModes, &modes);
}

void say(Text line) {
  call_again(kWrite, g_terminal, line.start, line.bytes);
}

void say_exit(unsigned status) {
  char line[] = "exit 000\n";
  for (int digit = 7; digit >= 5; --digit, status /= 10) line[digit] = static_cast<char>('0' + status % 10);
  say(text_of(line));
}

}  // namespace

void begin_as_init(char** envp) noexcept {
  const char* const path = value_of("JANUS_INIT=", envp);
  if (path == nullptr || call(kGetpid) != 1) return;
  std::byte* const page = platform::map(kPage);
  if (page == nullptr || failed(call(kMadvise, page, kPage, kAdviseWipeOnFork))) return;
  g_mark = new (page) Mark{true};
  g_terminal = call(kOpenat, kAtCwd, path, kOpenReadWrite | kOpenNoControl | kOpenCloexec);
  for (const long terminal : {g_terminal, kStandardOutput}) make_plain(terminal);
}

// Requests the terminal's signal last, once the output has been sent: new room for output raises it, too.
void take_orders() noexcept {
  if (!is_init()) return;
  call(kSetsid);  // only the leader of a session can have a terminal that sends it ^C
  call(kIoctl, g_terminal, kTerminalBecomeOurs, 0);
  say(text_of("ready\n"));
  call(kIoctl, g_terminal, kTerminalDrain, 1);
  call(kFcntl, g_terminal, kFileSetOwner, 1);
  call(kFcntl, g_terminal, kFileSetSignal, kSigTerm);
  call(kFcntl, g_terminal, kFileSetFlags, kOpenReadWrite | kOpenSignals);
}

// A second caller, in a handler or another thread, waits here for the end; no handler may interrupt the first one.
void end_as_init(int status) noexcept {
  if (!is_init()) return;
  const std::uint64_t all = ~std::uint64_t{0};
  call(kSigprocmask, kSigSetmask, &all, nullptr, sizeof all);
  if (g_ending.exchange(true, std::memory_order_relaxed))  // relaxed: orders no other data
    for (;;) call(kPause);
  call(kIoctl, kStandardOutput, kTerminalDrain, 1);
  say_exit(static_cast<unsigned>(status) & 255);
  call(kIoctl, g_terminal, kTerminalDrain, 1);
  call(kSync);
  call(kReboot, kRebootMagic, kRebootMagic2, kRebootPowerOff, nullptr);
}

}  // namespace janus::kernel
