// SPDX-License-Identifier: Apache-2.0
// ll_lower.h — LLVM IR with opcodes to LLVM IR without.
#pragma once

#include <optional>
#include <string>

#include "options.h"
#include "source.h"

namespace janus::lower {

// The lowered module. Nothing if there were errors, which are reported.
std::optional<std::string> lower_ll(Source& source, const Options& options);

}  // namespace janus::lower
