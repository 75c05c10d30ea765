// SPDX-License-Identifier: Apache-2.0
// ll_body.h — the body of a function: its instructions, its blocks, and which block may follow which.
#pragma once

#include <cstddef>

#include "ll_module.h"

namespace janus::lower {

// Cuts the body that begins at `function.body` into instructions and blocks. Returns the token behind it.
std::size_t parse_body(const Tokens& tokens, Function& function);

}  // namespace janus::lower
