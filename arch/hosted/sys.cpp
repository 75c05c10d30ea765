// SPDX-License-Identifier: Apache-2.0
// sys.cpp — output, entropy, system calls and the ways to end the process. exit() is the C library's, because coverage
// and leak reports need an orderly exit.
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "arch/hosted/hosted.h"

namespace janus::hosted {

bool entropy(void* bytes, std::size_t count) noexcept {
  auto* at = static_cast<unsigned char*>(bytes);
  while (count != 0) {
    const ssize_t got = getrandom(at, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace janus::hosted

namespace janus::platform {

// With a deadline, writes at most a page: that much fits whenever poll() reports room, so the write does not block.
long write(int fd, const void* bytes, std::size_t count, std::uint64_t until_ns) noexcept {
  if (until_ns != kForever && fd >= 0) {
    const std::uint64_t now = until_ns != 0 ? now_ns() : 0;
    const std::uint64_t left = until_ns > now ? until_ns - now : 0;
    pollfd asked = {fd, POLLOUT, 0};
    // By a direct system call: ThreadSanitizer would attribute the function's write to `asked` to the running task. In
    // a fault handler `asked` is on a stack that all tasks of a worker use in turn.
    if (::syscall(SYS_poll, &asked, 1, static_cast<int>((left + 999'999) / 1'000'000)) == 0) return kNoRoom;
    if (count > 4096) count = 4096;
  }
  const ssize_t written = ::write(fd, bytes, count);
  return written < 0 ? -errno : written;
}

int open_bell() noexcept {
  return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}
void ring_bell(int bell) noexcept {
  (void)eventfd_write(bell, 1);
}
void close_bell(int bell) noexcept {
  close(bell);
}
bool wait_for_room(Descriptor* bell, unsigned count) noexcept {
  static_assert(sizeof(Descriptor) == sizeof(pollfd) && kIsRung == POLLIN && kHasRoom == POLLOUT);
  const long ready = ::syscall(SYS_poll, bell, count, -1);
  const bool has_waited = ready >= 0 || errno == EINTR;
  eventfd_t rung;
  if (bell->found != 0) (void)eventfd_read(bell->fd, &rung);
  return has_waited;
}

long syscall(long nr, const long (&args)[6]) noexcept {
  const long result = ::syscall(nr, args[0], args[1], args[2], args[3], args[4], args[5]);
  return result == -1 ? -errno : result;
}

void exit(int status) noexcept {
  std::exit(status);
}
void abort() noexcept {
  std::abort();
}
bool allow_core() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_max == 0) return false;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_CORE, &limit) == 0;
}
void end_by_closed_pipe() noexcept {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
  std::abort();
}

}  // namespace janus::platform
