// SPDX-License-Identifier: Apache-2.0
#include "rt/mem/stack_canary.h"

namespace janus {

bool canary_words_intact(const Stack* stack) noexcept {
  const std::uint64_t* words = canary_of(stack->limit);
  std::uint64_t changed = 0;
  for (std::size_t n = 0; n < kCanaryWords; n++) changed |= words[n] ^ stack->canary;
  return changed == 0;
}

void renew_canary(Stack* stack) noexcept {
  write_canary(stack->limit, stack->canary);
}

}  // namespace janus
