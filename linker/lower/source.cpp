// SPDX-License-Identifier: Apache-2.0
#include "source.h"

#include <algorithm>
#include <cstdio>

namespace janus::lower {

std::size_t Source::line_of(std::size_t offset) {
  if (line_starts_.empty()) {
    line_starts_.push_back(0);
    for (std::size_t i = 0; i < text_.size(); ++i)
      if (text_[i] == '\n') line_starts_.push_back(i + 1);
  }
  return static_cast<std::size_t>(std::upper_bound(line_starts_.begin(), line_starts_.end(), offset) -
                                  line_starts_.begin());
}

void Source::error(std::size_t offset, const std::string& message) {
  if (++errors_ > kMaxErrors) {
    if (errors_ == kMaxErrors + 1)
      std::fprintf(stderr, "%s: error: too many errors; the rest is not shown\n", name_.c_str());
    return;
  }
  const std::size_t line = line_of(offset);
  // Names in a message come from the input, so control characters are not sent to a terminal, and long messages are
  // cut.
  std::string shown = message.substr(0, kMaxMessage);
  if (shown.size() < message.size()) shown += "...";
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  std::fprintf(stderr, "%s:%zu:%zu: error: %s\n", name_.c_str(), line, offset - line_starts_[line - 1] + 1,
               shown.c_str());
}

}  // namespace janus::lower
