// SPDX-License-Identifier: Apache-2.0
// qtjir_strings.h — the texts in quotes of a .qtjir file: their bytes, and the places for values in those of print.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace janus::lower::qtjir {

// The bytes of a text in quotes: \n, \t, \\ and \XX stand for one each.
std::string unescaped(std::string_view quoted);
// The bytes between the places {} of a text in quotes: one part more than there are places. An escaped brace is a brace, and
// no part of a place.
std::vector<std::string> split_at_places(std::string_view quoted);

}  // namespace janus::lower::qtjir
