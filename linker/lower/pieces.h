// SPDX-License-Identifier: Apache-2.0
// pieces.h — the lowered module is handed on in pieces, so that a large module is never in memory as a whole.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace janus::lower {

// Takes the next piece of the lowered module.
using TakePiece = std::function<void(std::string_view)>;

constexpr std::size_t kPieceBytes = 1 << 18;  // how much is collected before it is handed on

}  // namespace janus::lower
