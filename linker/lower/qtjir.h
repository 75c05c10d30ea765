// SPDX-License-Identifier: Apache-2.0
// qtjir.h — lowers the small language of .qtjir files (docs/lowering.md) to LLVM IR.
#pragma once

#include "options.h"
#include "pieces.h"
#include "source.h"

namespace janus::lower {

// Hands on the lowered module. False if there were errors, which are reported; pieces may have been taken before.
[[nodiscard]] bool lower_qtjir(Source& source, const Options& options, const TakePiece& take);

}  // namespace janus::lower
