// SPDX-License-Identifier: Apache-2.0
// program_main.cpp — runs the tests inside the root task of a program, through the interface of every user: main and
// rt.h.
#include <janus/rt.h>

#include "tests/harness/test.h"

namespace janus::test {

void emit(const char* text, std::size_t count) {
  if (janus_write(1, text, count) != 0) janus_exit(3);  // output fails, so the run must not pass
}

}  // namespace janus::test

int main(int argc, char** argv, char** envp) {
  return janus::test::run_all(argc, argv, envp);
}
