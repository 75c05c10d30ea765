// SPDX-License-Identifier: Apache-2.0
// rt/mem/stack_canary.h — the canary of a stack without a guard page: words just below its limit, where the guard would
// be. A change means that the stack was overrun. Async-signal-safe. docs/decisions/0022
#pragma once

#include <cstddef>
#include <cstdint>

#include "rt/mem/stack.h"

namespace janus {

inline constexpr std::size_t kCanaryWords = 8;

[[nodiscard]] inline std::uint64_t* canary_of(std::byte* limit) noexcept {
  return reinterpret_cast<std::uint64_t*>(limit) - kCanaryWords;
}

inline void write_canary(std::byte* limit, std::uint64_t canary) noexcept {
  for (std::size_t n = 0; n < kCanaryWords; n++) canary_of(limit)[n] = canary;
}

[[nodiscard]] bool canary_words_intact(const Stack* stack) noexcept;

// Always true of a stack with a guard page; of others false once a task has overrun its end.
[[nodiscard]] inline bool canary_intact(const Stack* stack) noexcept {
  return stack->guard != platform::Guard::kNone || canary_words_intact(stack);
}

// Writes the canary anew after an overrun has been reported, so that the next task on the stack is not blamed for it.
void renew_canary(Stack* stack) noexcept;

}  // namespace janus
