// SPDX-License-Identifier: Apache-2.0
// arch/linux/threads/alternate_stack.cpp — sizes and installs alternate signal stacks.
#include "arch/linux/threads/alternate_stack.h"

#include "arch/linux/auxv/auxv.h"
#include "arch/linux/kernel_call.h"
#include "rt/platform.h"

namespace janus::kernel {

std::size_t alternate_stack_bytes() noexcept {
  constexpr std::size_t kMin = 64 * 1024;
  const std::size_t frames = 4 * aux_value(kAuxMinSigStack, 2048);
  const std::size_t bytes = frames > kMin ? frames : kMin;
  return (bytes + kPage - 1) & ~(kPage - 1);
}

void use_alternate_stack(std::byte* base) noexcept {
  const SignalStack stack{base, 0, alternate_stack_bytes()};
  call(kSigaltstack, &stack, nullptr);
}

bool ensure_alternate_stack() noexcept {
  SignalStack old{};
  const bool known = !failed(call(kSigaltstack, nullptr, &old));
  if (known && (old.flags & kStackDisabled) == 0 && old.bytes >= alternate_stack_bytes()) return true;
  std::byte* const base = platform::map(alternate_stack_bytes());
  if (base != nullptr) use_alternate_stack(base);
  return base != nullptr;
}

}  // namespace janus::kernel
