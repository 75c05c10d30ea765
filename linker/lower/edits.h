// SPDX-License-Identifier: Apache-2.0
// edits.h — changes to a text, made part by part: whatever no edit names is copied as it is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "line_map.h"
#include "pieces.h"

namespace janus::lower {

class Edits {
 public:
  explicit Edits(std::string_view text) : text_(text) {}

  // No edit may be before what was handed on.
  void insert(std::size_t at, std::string text) { edits_.push_back({at, at, std::move(text)}); }
  void replace(std::size_t begin, std::size_t end, std::string text) {
    edits_.push_back({begin, end, std::move(text)});
  }

  // Whether it is worth while to hand on what is complete.
  bool is_piece() const { return edits_.size() >= left_ + kEditsOfPiece; }

  // Hands on the text before `limit` with the edits there. Insertions at one place come in the order in which they were asked
  // for, before what replaces the text there. `lines`, which may be nullptr, is told of all.
  void hand_on(std::size_t limit, const TakePiece& take, LineMap* lines = nullptr) {
    std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) {
      return a.begin != b.begin ? a.begin < b.begin : (a.begin == a.end) > (b.begin == b.end);
    });
    std::string piece;
    auto edit = edits_.begin();
    for (; edit != edits_.end() && edit->begin < limit; ++edit) {
      if (lines != nullptr) lines->copied(at_, edit->begin);
      piece.append(text_, at_, edit->begin - at_);
      if (lines != nullptr) lines->inserted(edit->text);
      piece += edit->text;
      at_ = edit->end;
    }
    edits_.erase(edits_.begin(), edit);
    left_ = edits_.size();
    if (lines != nullptr) lines->copied(at_, std::clamp(limit, at_, text_.size()));
    if (at_ < limit) piece.append(text_, at_, limit - at_);
    at_ = std::max(at_, limit);
    take(piece);
  }

 private:
  static constexpr std::size_t kEditsOfPiece = 2048;

  struct Edit {
    std::size_t begin, end;
    std::string text;
  };
  std::string_view text_;
  std::size_t at_ = 0;  // all before it is handed on
  std::vector<Edit> edits_;
  std::size_t left_ = 0;  // edits behind the limit of the last piece
};

}  // namespace janus::lower
