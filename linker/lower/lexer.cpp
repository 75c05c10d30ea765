// SPDX-License-Identifier: Apache-2.0
#include "lexer.h"

#include <algorithm>

#include "escapes.h"

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

  // Skips a string with its quotes. LLVM has no escaped quote: "\22" stands for it.
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
    if (c == '+' && is_digit(peek(1))) {
      ++at_;
      skip_number();
      return TokenKind::kInteger;
    }
    if (!is_name_char(c)) {
      // A character of several bytes, in UTF-8, is one token, so that a message shows it whole.
      do {
        ++at_;
      } while (is_above_ascii(c) && is_continuation(peek()));
      return TokenKind::kPunctuation;
    }
    const bool is_number = is_digit(c) || (c == '-' && is_digit(peek(1)));
    is_number ? skip_number() : skip_name();
    return label_or(is_number ? TokenKind::kInteger : TokenKind::kWord);
  }

  // Skips a number, of which 1.5e+00 is one.
  void skip_number() {
    skip_name();
    if (peek() != '+' || (text_[at_ - 1] != 'e' && text_[at_ - 1] != 'E')) return;
    ++at_;
    skip_name();
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

// The text with the bytes that \XX and \\ stand for, as LLVM reads names.
std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool may_escape = text[i] == '\\' && i + 1 < text.size();
    if (may_escape && text[i + 1] == '\\') {
      result += text[i++];
    } else if (const auto byte = may_escape ? byte_of_hex(text.substr(i + 1)) : std::nullopt) {
      result += *byte;
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

// Removes the quotes of a name that is without sigil and colon. A number keeps them: for LLVM, %"5" is not %5.
std::string_view without_quotes(std::string_view name) {
  if (name.size() < 2 || name.front() != '"' || name.back() != '"') return name;
  const std::string_view inner = name.substr(1, name.size() - 2);
  return !inner.empty() && std::all_of(inner.begin(), inner.end(), is_digit) ? name : inner;
}

}  // namespace

std::string name_of_quoted(std::string_view quoted) {
  return std::string(without_quotes(unescaped(quoted)));
}

Tokens::Tokens(Source& source) : source_(source) {
  Lexer(source, tokens_).run();
  match_brackets();
  for (std::size_t at = source.text().find('\\'); at != std::string_view::npos; at = source.text().find('\\', at + 1)) {
    const auto behind = std::upper_bound(tokens_.begin(), tokens_.end(), at,
                                         [](std::size_t place, const Token& token) { return place < token.offset; });
    if (behind == tokens_.begin()) continue;
    const auto i = static_cast<std::size_t>(behind - tokens_.begin() - 1);
    const bool is_named = kind(i) == TokenKind::kLocal || kind(i) == TokenKind::kGlobal || kind(i) == TokenKind::kLabel;
    if (!is_named || at >= end_of(i)) continue;
    std::string_view quoted = text(i);
    kind(i) == TokenKind::kLabel ? quoted.remove_suffix(1) : quoted.remove_prefix(1);
    escaped_names_.try_emplace(i, name_of_quoted(quoted));
  }
}

std::string name_of_local(std::string_view written) {
  if (!written.empty() && written[0] == '%') written.remove_prefix(1);
  return name_of_quoted(written);
}

std::string_view Tokens::name(std::size_t i) const {
  std::string_view name = text(i);
  if (kind(i) == TokenKind::kLabel)
    name.remove_suffix(1);
  else if (!name.empty())
    name.remove_prefix(1);
  if (!escaped_names_.empty())
    if (const auto escaped = escaped_names_.find(i); escaped != escaped_names_.end()) return escaped->second;
  return without_quotes(name);
}

std::string Tokens::joined(std::size_t first, std::size_t last) const {
  std::string result;
  for (std::size_t i = first; i < last; ++i) {
    if (!result.empty()) result += ' ';
    result += text(i);
  }
  return result;
}

namespace {

bool opens(char c) {
  return c == '(' || c == '[' || c == '{' || c == '<';
}
bool closes(char c) {
  return c == ')' || c == ']' || c == '}' || c == '>';
}

}  // namespace

bool Tokens::opens_group(std::size_t i) const {
  return kind(i) == TokenKind::kPunctuation && opens(text(i)[0]);
}

// Any closing bracket closes the last one that is open.
void Tokens::match_brackets() {
  const auto end = static_cast<std::uint32_t>(tokens_.size() - 1);
  std::vector<std::size_t> open;  // indexes of groups
  for (std::uint32_t i = 0; i < end; ++i) {
    if (kind(i) != TokenKind::kPunctuation) continue;
    const char c = text(i)[0];
    if (opens(c)) {
      open.push_back(groups_.size());
      groups_.push_back({i, end});
    } else if (closes(c) && !open.empty()) {
      groups_[open.back()].behind = i + 1;
      open.pop_back();
    }
  }
}

std::size_t Tokens::behind_group(std::size_t i) const {
  for (; !is_end(i); ++i) {
    if (kind(i) != TokenKind::kPunctuation) continue;
    const char c = text(i)[0];
    if (closes(c)) return i + 1;
    if (!opens(c)) continue;
    return std::lower_bound(groups_.begin(), groups_.end(), i,
                            [](const Group& group, std::size_t place) { return group.open < place; })
        ->behind;
  }
  return i;
}

}  // namespace janus::lower
