// SPDX-License-Identifier: Apache-2.0
// lexer.h — the tokens of textual LLVM IR, of any version; .qtjir files have the same ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "source.h"

namespace janus::lower {

enum class TokenKind : std::uint8_t {
  kEnd,
  kWord,       // define, i64, x, ...
  kInteger,    // 12, -3
  kLabel,      // entry:  5:  "a b":
  kLocal,      // %x  %5  %"a b"
  kGlobal,     // @f  @"a b"
  kString,     // "text"
  kMetadata,   // !dbg  !5  !
  kAttribute,  // #0  #dbg_value
  kPunctuation,
};

struct Token {
  TokenKind kind;
  std::uint32_t offset;
  std::uint32_t length;
};

// A token sequence, ended by a kEnd token.
class Tokens {
 public:
  explicit Tokens(Source& source);

  std::size_t size() const { return tokens_.size(); }
  // Beyond the last token there are only kEnd tokens.
  const Token& operator[](std::size_t i) const { return tokens_[i < tokens_.size() ? i : tokens_.size() - 1]; }
  std::string_view text(std::size_t i) const {
    const Token& token = (*this)[i];
    return source_.text().substr(token.offset, token.length);
  }
  TokenKind kind(std::size_t i) const { return (*this)[i].kind; }
  bool is_end(std::size_t i) const { return kind(i) == TokenKind::kEnd; }
  bool is_word(std::size_t i, std::string_view word) const { return kind(i) == TokenKind::kWord && text(i) == word; }
  bool is_punctuation(std::size_t i, char c) const {
    return kind(i) == TokenKind::kPunctuation && source_.text()[(*this)[i].offset] == c;
  }
  // The name of a kLocal, kGlobal or kLabel token, without its sigil. Quotes are removed, except around a number: for
  // LLVM, %"5" is not %5. Escapes (\20) are replaced by the bytes that they stand for.
  std::string_view name(std::size_t i) const;
  // The names that are written with escapes, by token.
  const std::unordered_map<std::size_t, std::string>& escaped_names() const { return escaped_names_; }
  std::size_t begin_of(std::size_t i) const { return (*this)[i].offset; }
  std::size_t end_of(std::size_t i) const { return (*this)[i].offset + (*this)[i].length; }
  // Names of types that are no structures: `%size = type i64` makes %size the same type as i64. By name.
  std::unordered_map<std::string_view, std::string> type_aliases;
  // The tokens of [first, last), joined by single spaces.
  std::string joined(std::size_t first, std::size_t last) const;
  // The source text of the tokens [first, last).
  std::string_view range(std::size_t first, std::size_t last) const {
    return first >= last ? std::string_view()
                         : source_.text().substr(begin_of(first), end_of(last - 1) - begin_of(first));
  }
  // The first token from `i` on that is this word; the end where there is none.
  std::size_t first_word(std::size_t i, std::string_view word) const {
    while (!is_end(i) && !is_word(i, word)) ++i;
    return i;
  }
  bool opens_group(std::size_t i) const;
  // The index behind the bracket that closes the one at or behind `i`; the end where there is none.
  std::size_t behind_group(std::size_t i) const;

  Source& source() const { return source_; }

 private:
  void match_brackets();

  Source& source_;
  std::vector<Token> tokens_;
  std::unordered_map<std::size_t, std::string> escaped_names_;
  struct Group {
    std::uint32_t open, behind;  // tokens
  };
  std::vector<Group> groups_;  // of all brackets, in the order of their beginnings
};

// The name that is written `"a name"`, as Tokens::name gives it.
std::string name_of_quoted(std::string_view quoted);
// The name that is written `%name` or `%"a name"`, as Tokens::name gives it.
std::string name_of_local(std::string_view written);

}  // namespace janus::lower
