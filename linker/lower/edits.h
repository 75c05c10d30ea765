// SPDX-License-Identifier: Apache-2.0
// edits.h — changes to a text, made all at once: whatever no edit names is copied as it is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace janus::lower {

class Edits {
 public:
  void insert(std::size_t at, std::string text) { edits_.push_back({at, at, std::move(text)}); }
  void replace(std::size_t begin, std::size_t end, std::string text) {
    edits_.push_back({begin, end, std::move(text)});
  }

  // The text with the edits, behind `before`. Insertions at one place come in the order in which they were asked for, before what replaces the text there.
  std::string apply(std::string_view text, std::string before) {
    std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) {
      return a.begin != b.begin ? a.begin < b.begin : (a.begin == a.end) > (b.begin == b.end);
    });
    std::string result = std::move(before);
    result.reserve(text.size() * 4);
    std::size_t at = 0;
    for (const Edit& edit : edits_) {
      result.append(text, at, edit.begin - at);
      result += edit.text;
      at = edit.end;
    }
    result.append(text, at, text.size() - at);
    return result;
  }

 private:
  struct Edit {
    std::size_t begin, end;
    std::string text;
  };
  std::vector<Edit> edits_;
};

}  // namespace janus::lower
