// SPDX-License-Identifier: Apache-2.0
// entropy.h — a word that is random if the processor has a source, else a guessable one: for the stack protector, which
// detects accidents even so. docs/decisions/0231, 0284
#pragma once

#include <cstdint>

namespace janus::bare {

[[nodiscard]] std::uint64_t any_random_word() noexcept;

}  // namespace janus::bare
