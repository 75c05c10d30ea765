// SPDX-License-Identifier: Apache-2.0
// kept_text.h — copies of short texts, which all go at once: a million of them in few allocations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace janus::lower {

class KeptText {
 public:
  // A copy that is valid until this object is destroyed, also if it is moved.
  std::string_view keep(std::string_view text) {
    if (chunks_.empty() || chunks_.back().capacity() - chunks_.back().size() < text.size()) {
      chunks_.emplace_back();
      chunks_.back().reserve(std::max(text.size(), kChunkBytes));
    }
    std::string& chunk = chunks_.back();
    chunk += text;
    return std::string_view(chunk).substr(chunk.size() - text.size());
  }

 private:
  static constexpr std::size_t kChunkBytes = 1 << 16;  // far above what a string holds without an allocation

  std::vector<std::string> chunks_;  // none grows beyond what was reserved for it
};

}  // namespace janus::lower
