// SPDX-License-Identifier: Apache-2.0
// arch/linux/symbols/valgrind.cpp — detects valgrind, and announces stacks to it, by instructions that valgrind
// interprets as a client request and that do nothing on a processor: four rotations that cancel each other, and an
// exchange of rbx with itself. An archive member that janus-cc links unless it strips the program.
// docs/decisions/0262
#include "rt/optional.h"
#include "rt/platform.h"

JANUS_ANCHOR(janus_valgrind);

namespace janus::platform {

namespace {

// Returns 0 if valgrind does not run the program.
std::uint64_t ask(std::uint64_t what, const std::byte* first, const std::byte* second) noexcept {
  const std::uint64_t request[6] = {what, reinterpret_cast<std::uint64_t>(first),
                                    reinterpret_cast<std::uint64_t>(second)};
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
  return answer;
}

}  // namespace

bool is_emulated() noexcept {
  constexpr std::uint64_t kRunningOnValgrind = 0x1001;
  return ask(kRunningOnValgrind, nullptr, nullptr) != 0;
}

void announce_stack(const std::byte* low, const std::byte* high) noexcept {
  constexpr std::uint64_t kRegisterStack = 0x1501;
  (void)ask(kRegisterStack, low, high);
}

}  // namespace janus::platform
