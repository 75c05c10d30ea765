// SPDX-License-Identifier: Apache-2.0
#include "qtjir_strings.h"

#include "escapes.h"

namespace janus::lower::qtjir {
namespace {

// Reads a text byte by byte.
class Reader {
 public:
  explicit Reader(std::string_view quoted)
      : text_(quoted.size() >= 2 ? quoted.substr(1, quoted.size() - 2) : std::string_view()) {}

  bool is_at_end() const { return at_ == text_.size(); }
  bool skip_place() {
    if (text_.compare(at_, 2, "{}") != 0) return false;
    at_ += 2;
    return true;
  }
  char next() {
    const char c = text_[at_++];
    if (c != '\\' || is_at_end()) return c;
    if (const auto byte = byte_of_hex(text_.substr(at_))) {
      at_ += 2;
      return *byte;
    }
    const char escaped = text_[at_++];
    return escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string unescaped(std::string_view quoted) {
  std::string result;
  for (Reader reader(quoted); !reader.is_at_end();) result += reader.next();
  return result;
}

std::vector<std::string> split_at_places(std::string_view quoted) {
  std::vector<std::string> parts(1);
  for (Reader reader(quoted); !reader.is_at_end();) {
    if (reader.skip_place())
      parts.emplace_back();
    else
      parts.back() += reader.next();
  }
  return parts;
}

}  // namespace janus::lower::qtjir
