// SPDX-License-Identifier: Apache-2.0
// freestanding_main.cpp — runs the tests on the initial thread, as shipped: no libc, no runtime, the machine alone.
#include "rt/platform.h"
#include "tests/harness/test.h"

namespace janus::test {

void emit(const char* text, std::size_t count) {
  while (count != 0) {
    const long written = platform::write(1, text, count);
    if (written == -4 /* EINTR */) continue;
    if (written <= 0) platform::exit(3);  // output fails, so the run must not pass
    text += written;
    count -= static_cast<std::size_t>(written);
  }
}

}  // namespace janus::test

// Called from _start by the layer below.
extern "C" [[noreturn]] void janus_boot(int argc, char** argv, char** envp) {
  janus::platform::exit(janus::test::run_all(argc, argv, envp));
}
