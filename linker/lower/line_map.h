// SPDX-License-Identifier: Apache-2.0
// line_map.h — maps lines of the output to lines of the input, for LLVM's messages about the output.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace janus::lower {

class LineMap {
 public:
  explicit LineMap(std::string_view source) : source_(source) {}

  // The next part of the output is a copy of [begin, end) of the source. Calls are in the order of the source.
  void copied(std::size_t begin, std::size_t end) {
    line_ += lines_in(source_.substr(at_, begin - at_));
    at_ = begin;
    add(line_);
    output_line_ += lines_in(source_.substr(begin, end - begin));
  }
  // The next part of the output replaces a part of the source, or was inserted between two parts.
  void inserted(std::string_view text) { output_line_ += lines_in(text); }
  // The next part of the output corresponds to no part of the source.
  void added(std::string_view text) {
    add(0);
    output_line_ += lines_in(text);
  }

  // The map, one pair `OUTPUT INPUT` a line: output line OUTPUT comes from input line INPUT, the next output line from
  // the next input line, and so on, but not beyond the INPUT of the next pair. INPUT 0: the output lines come from no
  // input line.
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
