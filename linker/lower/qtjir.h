// SPDX-License-Identifier: Apache-2.0
// qtjir.h — the small language of .qtjir files (docs/lowering.md) to LLVM IR.
#pragma once

#include <optional>
#include <string>

#include "options.h"
#include "source.h"

namespace janus::lower {

// The lowered module. Nothing if there were errors, which are reported.
std::optional<std::string> lower_qtjir(Source& source, const Options& options);

}  // namespace janus::lower
