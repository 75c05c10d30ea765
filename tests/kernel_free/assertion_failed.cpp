// SPDX-License-Identifier: Apache-2.0
// assertion_failed.cpp — in a hosted test, a failed assertion of kernel-free aborts the test.
#include <cstdio>
#include <cstdlib>

#include "kernel-free/cpu/assert.h"

void janus::bare::assertion_failed(const char* claim, const char* file, unsigned line) noexcept {
  std::fprintf(stderr, "assertion failed: %s (%s:%u)\n", claim, file, line);
  std::abort();
}
