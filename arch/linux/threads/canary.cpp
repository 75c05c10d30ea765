// SPDX-License-Identifier: Apache-2.0
// arch/linux/threads/canary.cpp — the stack protector's canary.
#include "arch/linux/auxv/auxv.h"
#include "arch/linux/kernel_call.h"
#include "arch/linux/threads/thread_block.h"

namespace janus::kernel {

std::uint64_t fresh_canary() noexcept {
  std::uint64_t value = 0x5bd1e9955bd1e995;
  if (const auto* random = reinterpret_cast<const std::uint64_t*>(aux_value(kAuxRandom, 0)); random != nullptr)
    value = random[0];
  return value & ~std::uint64_t{0xff};
}

std::uint64_t canary_here() noexcept {
  std::uint64_t base = 0;
  call(kArchPrctl, kArchGetFs, &base);
  if (base == 0) return fresh_canary();
  std::uint64_t canary;
  asm volatile("mov %%fs:0x28, %0" : "=r"(canary));
  return canary;
}

}  // namespace janus::kernel
