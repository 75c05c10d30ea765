// SPDX-License-Identifier: Apache-2.0
// qtjir.h — the small language of .qtjir files (docs/lowering.md) to LLVM IR.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "options.h"
#include "source.h"

namespace janus::lower {

// Takes a piece of the lowered module, in their order.
using TakePiece = std::function<void(std::string_view)>;

// The lowered module. Nothing if there were errors, which are reported. With `take`, only what it has not been given: a
// large module is not held in memory. It may have been given pieces before the first error.
std::optional<std::string> lower_qtjir(Source& source, const Options& options, const TakePiece& take = nullptr);

}  // namespace janus::lower
