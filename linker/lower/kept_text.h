// SPDX-License-Identifier: Apache-2.0
// kept_text.h — copies of short texts that are all freed together. A million copies need few allocations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace janus::lower {

class KeptText {
 public:
  // Returns a copy that stays valid until this object is destroyed, even if this object is moved.
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
  static constexpr std::size_t kChunkBytes = 1 << 16;  // far more than std::string stores without an allocation

  std::vector<std::string> chunks_;  // none grows beyond what was reserved for it
};

}  // namespace janus::lower
