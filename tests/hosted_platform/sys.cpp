// SPDX-License-Identifier: Apache-2.0
// sys.cpp — output, entropy, system calls and the ways to end. Coverage and leak reports want an orderly exit.
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "tests/hosted_platform/hosted.h"

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

long write(int fd, const void* bytes, std::size_t count) noexcept {
  const ssize_t written = ::write(fd, bytes, count);
  return written < 0 ? -errno : written;
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

}  // namespace janus::platform
