// SPDX-License-Identifier: Apache-2.0
// arch/linux/process/sys.cpp — output, randomness, other system calls, and the ends of a process.
#include "arch/linux/files/files.h"
#include "arch/linux/kernel_call.h"
#include "arch/linux/process/init.h"
#include "arch/linux/signals/signal_action.h"
#include "rt/platform.h"

namespace janus::platform {

using namespace janus::kernel;

namespace {

// Waits until the descriptor has room or an error, which the following write reports; false: neither in time. Not for a
// negative descriptor, which poll ignores.
bool wait_for_room(int fd, std::uint64_t until_ns) noexcept {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  PollFd asked{fd, kPollOut, 0};
  for (;;) {
    const std::uint64_t now = until_ns != 0 ? now_ns() : 0;
    const std::uint64_t left = until_ns > now ? until_ns - now : 0;
    const Timespec patience{static_cast<std::int64_t>(left / kSecond), static_cast<std::int64_t>(left % kSecond)};
    const long ready = call(kPpoll, &asked, 1, &patience, nullptr, 0);
    if (ready != -kEINTR) return ready != 0;
  }
}

// Whether the kernel lacks the call, or lacks it for this descriptor, or a filter refuses it.
bool is_unknown(long result) noexcept {
  return result == -kEOPNOTSUPP || result == -kENOSYS || result == -kEINVAL || result == -kEPERM;
}

// Ends the process by the default action of `signal`. The first process of a container ignores its own signals, so it
// exits with the status that stands for the signal.
[[noreturn]] void end_by(int signal) noexcept {
  set_action(signal, SignalAction{});
  const std::uint64_t only = signal_bit(signal);
  raise_here(signal);
  call(kSigprocmask, kSigUnblock, &only, nullptr, sizeof only);
  platform::exit(128 + signal);
}

}  // namespace

// With kForever the kernel waits. Otherwise first tries to write without waiting, which is one system call for almost
// every descriptor. If the kernel cannot do that (pipes and terminals before Linux 6.4), writes to a file at once, since
// files have room, and to anything else once it has room: a page at most, since a pipe may have no more.
long write(int fd, const void* bytes, std::size_t count, std::uint64_t until_ns) noexcept {
  if (until_ns == kForever) return call_again(kWrite, fd, bytes, count);
  const Range piece{const_cast<void*>(bytes), count};
  const long tried = call_again(kPwritev2, fd, &piece, 1, -1, -1, kNoWait);
  if (tried != kNoRoom && !is_unknown(tried)) return tried;
  if (tried != kNoRoom && !failed(call(kLseek, fd, 0, kSeekCurrent))) return call_again(kWrite, fd, bytes, count);
  if (fd >= 0 && !wait_for_room(fd, until_ns)) return kNoRoom;
  return call_again(kWrite, fd, bytes, count < kPage ? count : kPage);
}

int open_bell() noexcept {
  return static_cast<int>(call(kEventFd, 0, kEventCloseOnExec | kEventNonBlocking));
}

void ring_bell(int bell) noexcept {
  const std::uint64_t one = 1;
  call(kWrite, bell, &one, sizeof one);
}

void close_bell(int bell) noexcept {
  call(kClose, bell);
}

bool wait_for_room(Descriptor* bell, unsigned count) noexcept {
  const long ready = call(kPpoll, bell, count, nullptr, nullptr, 0);
  std::uint64_t rung;
  if (bell->found != 0) call(kRead, bell->fd, &rung, sizeof rung);
  return !failed(ready) || ready == -kEINTR;
}

long syscall(long nr, const long (&args)[6]) noexcept {
  return call(nr, args[0], args[1], args[2], args[3], args[4], args[5]);
}

// If getrandom is unknown (Linux < 3.17) or filtered out, reads the device.
bool entropy(void* bytes, std::size_t count) noexcept {
  auto* next = static_cast<char*>(bytes);
  while (count > 0) {
    const long got = call_again(kGetrandom, next, count, 0);
    if (failed(got)) return read_file("/dev/urandom", next, count) == static_cast<long>(count);
    next += got;
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

bool entropy_at_once(void* bytes, std::size_t count) noexcept {
  return entropy(bytes, count);
}

void exit(int status) noexcept {
  end_as_init(status);
  for (;;) call(kExitGroup, status);
}

void abort() noexcept {
  end_by(kSigAbrt);
}

bool allow_core() noexcept {
  constexpr long kCoreSize = 4;
  struct {
    std::uint64_t now, most;
  } limit{};
  if (failed(call(kGetrlimit, kCoreSize, &limit))) return false;
  if (limit.now == limit.most) return limit.now != 0;
  limit.now = limit.most;
  return !failed(call(kSetrlimit, kCoreSize, &limit));
}

void end_by_closed_pipe() noexcept {
  end_by(kSigPipe);
}

}  // namespace janus::platform
