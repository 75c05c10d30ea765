// SPDX-License-Identifier: Apache-2.0
// qtjir_strings.h — quoted texts of a .qtjir file: their bytes, and the places {} for values in the texts of print.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace janus::lower::qtjir {

// The bytes of a quoted text: \n, \t, \\ and \XX stand for one byte each.
std::string unescaped(std::string_view quoted);
// The bytes between the places {} of a quoted text. The result has one part more than there are places. An escaped
// brace is an ordinary character.
std::vector<std::string> split_at_places(std::string_view quoted);

}  // namespace janus::lower::qtjir
