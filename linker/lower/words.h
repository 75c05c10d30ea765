// SPDX-License-Identifier: Apache-2.0
// words.h — tests whether a word is in a short list.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace janus::lower {

template <std::size_t kCount>
bool contains(const std::array<std::string_view, kCount>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace janus::lower
