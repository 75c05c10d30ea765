// SPDX-License-Identifier: Apache-2.0
// arch/linux/symbols/valgrind.cpp — announces stacks to valgrind, by instructions that it takes for a client's request
// and that do nothing on a processor: four rotations that cancel each other, and an exchange of rbx with itself. A
// member of the archive that janus-cc asks for, unless it strips the program.
#include "rt/platform.h"

extern "C" {
extern const char janus_valgrind;
[[gnu::used]] const char janus_valgrind = 0;
}

namespace janus::platform {

void announce_stack(const std::byte* low, const std::byte* high) noexcept {
  constexpr std::uint64_t kRegisterStack = 0x1501;
  const std::uint64_t request[6] = {kRegisterStack, reinterpret_cast<std::uint64_t>(low),
                                    reinterpret_cast<std::uint64_t>(high)};
  std::uint64_t answer = 0;
  asm volatile(
      "rolq $3, %%rdi\n\t"
      "rolq $13, %%rdi\n\t"
      "rolq $61, %%rdi\n\t"
      "rolq $51, %%rdi\n\t"
      "xchgq %%rbx, %%rbx"
      : "+d"(answer)
      : "a"(request)
      : "cc", "memory");
}

}  // namespace janus::platform
