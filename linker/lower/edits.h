// SPDX-License-Identifier: Apache-2.0
// edits.h — changes to a text, made part by part: whatever no edit names is copied as it is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kept_text.h"
#include "line_map.h"
#include "pieces.h"

namespace janus::lower {

class Edits {
 public:
  explicit Edits(std::string_view text) : text_(text) {}

  // No edit may be before what was handed on.
  void insert(std::size_t at, std::string_view text) { replace(at, at, text); }
  void replace(std::size_t begin, std::size_t end, std::string_view text) {
    const Edit edit{begin, end, new_text_.keep(text)};
    const bool is_in_order = edits_.empty() || !comes_first(edit, edits_.back());
    (is_in_order ? edits_ : late_).push_back(edit);
  }

  // Whether it is worth while to hand on what is complete.
  bool is_piece() const { return edits_.size() + late_.size() >= left_ + kEditsOfPiece; }

  // Hands on the text before `limit` with the edits there. Insertions at one place come in the order in which they were asked
  // for, before what replaces the text there. `lines`, which may be nullptr, is told of all.
  void hand_on(std::size_t limit, const TakePiece& take, LineMap* lines = nullptr) {
    std::stable_sort(late_.begin(), late_.end(), comes_first);
    std::string piece;
    auto next = edits_.begin(), late = late_.begin();
    for (;;) {
      // Of two at one place, the one in order was asked for first.
      const bool is_late = late != late_.end() && (next == edits_.end() || comes_first(*late, *next));
      if (!is_late && next == edits_.end()) break;
      const Edit& edit = is_late ? *late : *next;
      if (edit.begin >= limit) break;
      if (lines != nullptr) lines->copied(at_, edit.begin);
      piece.append(text_, at_, edit.begin - at_);
      if (lines != nullptr) lines->inserted(edit.text);
      piece += edit.text;
      at_ = edit.end;
      ++(is_late ? late : next);
      if (piece.size() < kPieceBytes) continue;
      take(piece);
      piece.clear();
    }
    if (lines != nullptr) lines->copied(at_, std::clamp(limit, at_, text_.size()));
    if (at_ < limit) piece.append(text_, at_, limit - at_);
    at_ = std::max(at_, limit);
    take(piece);
    keep_from(next, late);
  }

 private:
  static constexpr std::size_t kEditsOfPiece = 2048;

  struct Edit {
    std::size_t begin, end;
    std::string_view text;
  };
  using Place = std::vector<Edit>::iterator;

  static bool comes_first(const Edit& a, const Edit& b) {
    return a.begin != b.begin ? a.begin < b.begin : (a.begin == a.end) > (b.begin == b.end);
  }
  // Forgets the edits before these places, and their texts.
  void keep_from(Place next, Place late) {
    edits_.erase(edits_.begin(), next);
    const auto middle = edits_.insert(edits_.end(), late, late_.end());
    std::inplace_merge(edits_.begin(), middle, edits_.end(), comes_first);
    late_.clear();
    left_ = edits_.size();
    KeptText kept;
    for (Edit& edit : edits_) edit.text = kept.keep(edit.text);
    new_text_ = std::move(kept);
  }

  std::string_view text_;
  std::size_t at_ = 0;       // all before it is handed on
  std::vector<Edit> edits_;  // in order
  std::vector<Edit> late_;   // those that came after one behind them
  KeptText new_text_;        // of all edits
  std::size_t left_ = 0;     // edits behind the limit of the last piece
};

}  // namespace janus::lower
