// SPDX-License-Identifier: Apache-2.0
// ll_lower.h — lowers LLVM IR with opcodes to LLVM IR without opcodes.
#pragma once

#include "options.h"
#include "pieces.h"
#include "source.h"

namespace janus::lower {

// Hands on the lowered module. False if there were errors, which are reported; pieces may have been taken before.
[[nodiscard]] bool lower_ll(Source& source, const Options& options, const TakePiece& take);

}  // namespace janus::lower
