// SPDX-License-Identifier: Apache-2.0
// jump_back_test.cpp — janus_jump_back passes on its arguments and the function's result.
#include <arch/jump_back.h>

#include <cstdint>

#include "tests/harness/test.h"

namespace {

struct Seen {
  void* arguments[4];
  std::uintptr_t frame;
};

[[gnu::noinline]] int look(void* a, void* b, void* c, void* d, void* seen) {
  auto* const out = static_cast<Seen*>(seen);
  out->arguments[0] = a, out->arguments[1] = b, out->arguments[2] = c, out->arguments[3] = d;
  out->frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  // makes the compiler use all callee-saved registers here
  asm volatile("" : : : "rbx", "r12", "r13", "r14", "r15", "memory");
  return -77;
}

void* number(std::uintptr_t value) {
  return reinterpret_cast<void*>(value);
}

TEST(jump_back, hands_on_five_arguments_and_gives_what_the_function_gives) {
  Seen seen = {};
  for (std::uintptr_t i = 1; i <= 100; ++i) {
    CHECK_EQ(janus_jump_back(number(i), number(i + 1), number(i + 2), number(i + 3), &seen, look), -77);
    for (std::uintptr_t k = 0; k < 4; ++k) CHECK(seen.arguments[k] == number(i + k));
  }
}

TEST(jump_back, the_function_finds_its_stack_aligned) {
  Seen seen = {};
  CHECK_EQ(janus_jump_back(nullptr, nullptr, nullptr, nullptr, &seen, look), -77);
  CHECK_EQ(seen.frame % 16, 0u);  // the address of the saved rbp, right below the return address
}

}  // namespace
