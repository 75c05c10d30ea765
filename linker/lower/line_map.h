// SPDX-License-Identifier: Apache-2.0
// line_map.h — which line of the input a line of the output comes from: for messages of LLVM's about the output.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace janus::lower {

class LineMap {
 public:
  explicit LineMap(std::string_view source) : source_(source) {}

  // What comes next in the output: the part [begin, end) of the source, which is behind all parts before.
  void copied(std::size_t begin, std::size_t end) {
    line_ += lines_in(source_.substr(at_, begin - at_));
    at_ = begin;
    add(line_);
    output_line_ += lines_in(source_.substr(begin, end - begin));
  }
  // Text that stands for a part of the source, or between two.
  void inserted(std::string_view text) { output_line_ += lines_in(text); }
  // Text that the source has nothing of.
  void added(std::string_view text) {
    add(0);
    output_line_ += lines_in(text);
  }

  // Lines `output input`: from that line of the output on, the lines are those from that line of the input on, but none behind
  // that of the next pair. An input line of 0: it has no such lines.
  const std::string& text() const { return text_; }

 private:
  static std::size_t lines_in(std::string_view text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  void add(std::size_t line) { text_ += std::to_string(output_line_) + " " + std::to_string(line) + "\n"; }

  std::string_view source_;
  std::size_t at_ = 0, line_ = 1, output_line_ = 1;
  std::string text_;
};

}  // namespace janus::lower
