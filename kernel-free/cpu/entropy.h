// SPDX-License-Identifier: Apache-2.0
// entropy.h — a random word even where there is no entropy: for the stack protector, which finds accidents without.
#pragma once

#include <cstdint>

namespace janus::bare {

[[nodiscard]] std::uint64_t any_random_word() noexcept;

}  // namespace janus::bare
