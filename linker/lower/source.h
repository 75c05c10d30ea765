// SPDX-License-Identifier: Apache-2.0
// source.h — the text of an input file, and messages about places in it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace janus::lower {

class Source {
 public:
  Source(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {}

  std::string_view text() const { return text_; }

  // Reports `file:line:column: error: message` on stderr. After kMaxErrors the rest is counted only.
  void error(std::size_t offset, const std::string& message);
  bool has_errors() const { return errors_ != 0; }
  std::size_t line_of(std::size_t offset);  // from 1

 private:
  static constexpr std::size_t kMaxErrors = 20;
  static constexpr std::size_t kMaxMessage = 400;  // bytes of it that are shown

  std::string name_;
  std::string text_;
  std::vector<std::size_t> line_starts_;  // filled by the first question for a line
  std::size_t errors_ = 0;
};

}  // namespace janus::lower
