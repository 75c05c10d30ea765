// SPDX-License-Identifier: Apache-2.0
// edits.h — collects replacements in a text and hands on the edited text in pieces. Text without an edit is copied.
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

  // An edit may not begin before text that was handed on.
  void insert(std::size_t at, std::string_view text) { replace(at, at, text); }
  void replace(std::size_t begin, std::size_t end, std::string_view text) {
    const Edit edit{begin, end, new_text_.keep(text)};
    const bool is_in_order = edits_.empty() || !comes_first(edit, edits_.back());
    (is_in_order ? edits_ : late_).push_back(edit);
  }

  // Whether enough edits have been collected that hand_on() should be called.
  bool is_piece() const { return edits_.size() + late_.size() >= left_ + kEditsOfPiece; }

  // Hands on the text before `limit`, with its edits applied. Insertions at the same place keep the order of the calls,
  // and come before a replacement of the text at that place. If `lines` is not nullptr, it gets a record of all that
  // was handed on.
  void hand_on(std::size_t limit, const TakePiece& take, LineMap* lines = nullptr) {
    std::stable_sort(late_.begin(), late_.end(), comes_first);
    std::string piece;
    auto next = edits_.begin(), late = late_.begin();
    for (;;) {
      // For two edits at the same place, the one in edits_ was requested first.
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
  // Deletes all edits before these positions, and their texts.
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
  std::size_t at_ = 0;       // everything before it is handed on
  std::vector<Edit> edits_;  // sorted by comes_first()
  std::vector<Edit> late_;   // those that were requested out of order
  KeptText new_text_;        // of all edits
  std::size_t left_ = 0;     // edits behind the limit when the last piece was handed on
};

}  // namespace janus::lower
