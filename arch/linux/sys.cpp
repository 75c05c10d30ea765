// SPDX-License-Identifier: Apache-2.0
// arch/linux/sys.cpp — output, randomness, other system calls, and the ends of a process.
#include "arch/linux/kernel_call.h"
#include "arch/linux/limits/files.h"
#include "arch/linux/signals/signal_action.h"
#include "arch/linux/start/init.h"
#include "rt/platform.h"

namespace janus::platform {

using namespace janus::kernel;

long write(int fd, const void* bytes, std::size_t count) noexcept {
  return call_again(kWrite, fd, bytes, count);
}

long syscall(long nr, const long (&args)[6]) noexcept {
  return call(nr, args[0], args[1], args[2], args[3], args[4], args[5]);
}

// Where getrandom is unknown (Linux < 3.17) or filtered out, the device is asked.
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

void exit(int status) noexcept {
  end_as_init(status);
  for (;;) call(kExitGroup, status);
}

// The first process of a container ignores its own signals: the status then says what the signal would have.
void abort() noexcept {
  set_action(kSigAbrt, SignalAction{});
  const std::uint64_t only = signal_bit(kSigAbrt);
  raise_here(kSigAbrt);
  call(kSigprocmask, kSigUnblock, &only, nullptr, sizeof only);
  exit(128 + kSigAbrt);
}

}  // namespace janus::platform
