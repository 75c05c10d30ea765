// SPDX-License-Identifier: Apache-2.0
// outside_sample.cpp — bad frees by a thread outside tasks. There is no task to panic, so the process prints one line
// and dies. aborts_test.py runs each test.
#include <janus/rt.h>

#include <cstdint>

#include "tests/harness/test.h"

namespace {

// Hides the value from the compiler, which would otherwise warn of the bad free.
void* hidden(void* value) {
  __asm__("" : "+r"(value));
  return value;
}

// Leaks a block on purpose: a size class without blocks in use gives its pages back.
bool has_runtime() {
  janus_rt_config config = {};
  config.worker_count = 2;
  config.flags = JANUS_RT_NO_PIN | JANUS_RT_NO_SIGNALS;
  return janus_rt_try_init(&config) == 0 && janus_alloc(64) != nullptr;
}

}  // namespace

TEST(outside, double_free) {
  REQUIRE(has_runtime());
  void* const block = janus_alloc(64);
  janus_free(block);
  janus_free(hidden(block));
}

TEST(outside, free_of_nothing) {
  REQUIRE(has_runtime());
  janus_free(hidden(reinterpret_cast<void*>(std::uintptr_t{8})));
}

TEST(outside, realloc_of_freed) {
  REQUIRE(has_runtime());
  void* const block = janus_alloc(64);
  janus_free(block);
  (void)!janus_realloc(hidden(block), 100);
}
