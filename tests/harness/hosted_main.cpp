// SPDX-License-Identifier: Apache-2.0
// hosted_main.cpp — runs the tests in an ordinary program with a libc, where sanitizers can watch.
#include <unistd.h>
#include <cerrno>
#include <cstdlib>

#include "tests/harness/test.h"

namespace janus::test {

void emit(const char* text, std::size_t count) {
  while (count != 0) {
    const ssize_t written = ::write(STDOUT_FILENO, text, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ::_exit(3);  // output fails, so the run must not pass
    text += written;
    count -= static_cast<std::size_t>(written);
  }
}

}  // namespace janus::test

int main(int argc, char** argv) {
  return janus::test::run_all(argc, argv, environ);
}
