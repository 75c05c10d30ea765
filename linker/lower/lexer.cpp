// SPDX-License-Identifier: Apache-2.0
#include "lexer.h"

#include <algorithm>

namespace janus::lower {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Characters of LLVM's names and labels.
bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '$' || c == '.' || c == '_' ||
         c == '-';
}

bool is_above_ascii(char c) {
  return static_cast<unsigned char>(c) >= 0x80;
}

// Whether the byte continues a character of UTF-8.
bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

class Lexer {
 public:
  Lexer(Source& source, std::vector<Token>& tokens) : source_(source), text_(source.text()), tokens_(tokens) {}

  void run() {
    tokens_.reserve(text_.size() / 4 + 16);
    while (skip_blanks()) {
      const std::size_t start = at_;
      const TokenKind kind = next();
      tokens_.push_back({kind, static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(at_ - start)});
    }
    tokens_.push_back({TokenKind::kEnd, static_cast<std::uint32_t>(text_.size()), 0});
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  bool skip_blanks() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == ';') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        if (at_ == text_.size()) return false;
      } else if (c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\0') {
        return true;
      }
    }
    return false;
  }

  void skip_name() {
    while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
  }

  // From an opening quote to behind the closing one. LLVM has no escaped quote: "\22" stands for it.
  void skip_string() {
    const std::size_t end = text_.find('"', at_ + 1);
    if (end == std::string_view::npos) source_.error(at_, "a string without its closing quote");
    at_ = std::min(end, text_.size() - 1) + 1;
  }

  TokenKind next() {
    const char c = peek();
    switch (c) {
      case '%':
        return named(TokenKind::kLocal);
      case '@':
        return named(TokenKind::kGlobal);
      case '!':
        return named(TokenKind::kMetadata);
      case '#':
        return named(TokenKind::kAttribute);
      case '"':
        skip_string();
        return label_or(TokenKind::kString);
      default:
        break;
    }
    if (!is_name_char(c)) {
      // A character of several bytes, in UTF-8, is one token, so that a message shows it whole.
      do {
        ++at_;
      } while (is_above_ascii(c) && is_continuation(peek()));
      return TokenKind::kPunctuation;
    }
    const std::size_t start = at_;
    skip_name();
    const bool is_number = is_digit(c) || (c == '-' && is_digit(text_[std::min(start + 1, text_.size() - 1)]));
    // 1.5e+00
    if (is_number && peek() == '+' && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E')) {
      ++at_;
      skip_name();
    }
    return label_or(is_number ? TokenKind::kInteger : TokenKind::kWord);
  }

  TokenKind named(TokenKind kind) {
    ++at_;
    if (peek() == '"' && kind != TokenKind::kMetadata)
      skip_string();
    else
      skip_name();
    return kind;
  }

  // The colon of a label belongs to its token.
  TokenKind label_or(TokenKind kind) {
    if (peek() != ':') return kind;
    ++at_;
    return TokenKind::kLabel;
  }

  Source& source_;
  std::string_view text_;
  std::vector<Token>& tokens_;
  std::size_t at_ = 0;
};

}  // namespace

Tokens::Tokens(Source& source) : source_(source) {
  Lexer(source, tokens_).run();
}

std::string_view Tokens::name(std::size_t i) const {
  std::string_view name = text(i);
  if (kind(i) == TokenKind::kLabel)
    name.remove_suffix(1);
  else if (!name.empty())
    name.remove_prefix(1);
  if (name.size() < 2 || name.front() != '"' || name.back() != '"') return name;
  const std::string_view inner = name.substr(1, name.size() - 2);
  return !inner.empty() && std::all_of(inner.begin(), inner.end(), is_digit) ? name : inner;
}

std::string Tokens::joined(std::size_t first, std::size_t last) const {
  std::string result;
  for (std::size_t i = first; i < last; ++i) {
    if (!result.empty()) result += ' ';
    result += text(i);
  }
  return result;
}

std::size_t Tokens::behind_group(std::size_t i) const {
  int depth = 0;
  for (; !is_end(i); ++i) {
    if (kind(i) != TokenKind::kPunctuation) continue;
    switch (text(i)[0]) {
      case '(':
      case '[':
      case '{':
      case '<':
        ++depth;
        break;
      case ')':
      case ']':
      case '}':
      case '>':
        if (--depth <= 0) return i + 1;
        break;
      default:
        break;
    }
  }
  return i;
}

}  // namespace janus::lower
