// SPDX-License-Identifier: Apache-2.0
// pipe.h — pipes for tests, and a redirection of standard error into one.
#pragma once

#include "rt/platform.h"
#include "tests/harness/test.h"

namespace janus::test {

inline long kernel_call(long number, long first = 0, long second = 0, long third = 0) {
  const long arguments[6] = {first, second, third, 0, 0, 0};
  return platform::syscall(number, arguments);
}

// False where there is no kernel.
inline bool has_pipes() {
  constexpr long kPipe2 = 293, kNoSuchCall = -38;
  return kernel_call(kPipe2) != kNoSuchCall;
}

// Both ends of a pipe in this process. read() does not block: it returns 0 if the pipe is empty.
class Pipe {
 public:
  Pipe() {
    constexpr long kPipe2 = 293, kFcntl = 72, kSetFlags = 4, kNonBlock = 04000;
    CHECK_EQ(kernel_call(kPipe2, reinterpret_cast<long>(ends_), 0), 0);
    CHECK_EQ(kernel_call(kFcntl, ends_[0], kSetFlags, kNonBlock), 0);
  }
  ~Pipe() {
    constexpr long kClose = 3;
    for (const int end : ends_) kernel_call(kClose, end);
  }
  int in() const { return ends_[1]; }
  // Writes until the pipe is full.
  void fill() const {
    constexpr char kBytes[4096] = {};
    while (platform::write(ends_[1], kBytes, sizeof kBytes, 0) > 0) continue;
  }
  std::size_t read(char* bytes, std::size_t count) const {
    constexpr long kRead = 0;
    const long got = kernel_call(kRead, ends_[0], reinterpret_cast<long>(bytes), static_cast<long>(count));
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }

 private:
  int ends_[2];
};

// Redirects the process's standard error into `pipe` while this object lives.
class StandardErrorInto {
 public:
  explicit StandardErrorInto(const Pipe& pipe) : before_(kernel_call(kDup, kStandardError)) {
    CHECK_EQ(kernel_call(kDup2, pipe.in(), kStandardError), kStandardError);
  }
  StandardErrorInto(const StandardErrorInto&) = delete;
  StandardErrorInto& operator=(const StandardErrorInto&) = delete;
  ~StandardErrorInto() {
    constexpr long kClose = 3;
    kernel_call(kDup2, before_, kStandardError);
    kernel_call(kClose, before_);
  }

 private:
  static constexpr long kDup = 32, kDup2 = 33, kStandardError = 2;
  long before_;
};

}  // namespace janus::test
