// SPDX-License-Identifier: Apache-2.0
#include "types.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "words.h"

namespace janus::lower {
namespace {

constexpr std::array<std::string_view, 14> kSimple = {"void",  "half",     "bfloat",    "float",   "double",
                                                      "fp128", "x86_fp80", "ppc_fp128", "x86_mmx", "x86_amx",
                                                      "label", "metadata", "token",     "ptr"};

bool is_simple(std::string_view word) {
  return integer_width(word) != 0 || contains(kSimple, word);
}

}  // namespace

unsigned integer_width(std::string_view type) {
  if (type.size() < 2 || type.size() > 9 || type[0] != 'i') return 0;
  unsigned width = 0;
  const auto [end, error] = std::from_chars(type.data() + 1, type.data() + type.size(), width);
  return error == std::errc() && end == type.data() + type.size() ? width : 0;
}

bool is_pointer(std::string_view type) {
  return type.substr(0, 3) == "ptr" || (!type.empty() && type.back() == '*');
}

bool fits(std::string_view digits, unsigned width) {
  const bool is_negative = !digits.empty() && digits[0] == '-';
  if (is_negative) digits.remove_prefix(1);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) return false;
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  __extension__ typedef unsigned __int128 Wide;
  Wide value = 0;
  for (const char c : digits) {
    const auto digit = static_cast<unsigned>(c - '0');
    if (value > (~Wide{0} - digit) / 10) return false;
    value = value * 10 + digit;
  }
  const Wide limit = width == kMaxFitWidth ? ~Wide{0} : (Wide{1} << width) - 1;
  return is_negative ? value <= limit / 2 + 1 : value <= limit;
}

bool is_storable(std::string_view type) {
  return type != "void" && type != "label" && type != "metadata" && type != "token" && type != "x86_amx" &&
         !type.empty() && type.find("vscale") == std::string_view::npos &&
         type.find("x86_mmx") == std::string_view::npos && (type.back() != ')' || is_pointer(type));
}

bool may_be_overaligned(std::string_view type) {
  return !is_pointer(type) && (type.find('<') != std::string_view::npos || type.find('%') != std::string_view::npos);
}

bool depends_on_features(std::string_view type) {
  return may_be_overaligned(type);
}

bool begins_type(const Tokens& tokens, std::size_t i) {
  switch (tokens.kind(i)) {
    case TokenKind::kWord:
      return is_simple(tokens.text(i)) || tokens.text(i) == "target";
    case TokenKind::kLocal:
      return true;
    case TokenKind::kPunctuation: {
      const char c = tokens.text(i)[0];
      return c == '{' || c == '[' || c == '<';
    }
    default:
      return false;
  }
}

namespace {

// The address space that a pointer is in without these words.
bool is_default_space(const Tokens& tokens, std::size_t i) {
  return tokens.is_word(i, "addrspace") && tokens.is_punctuation(i + 1, '(') && tokens.text(i + 2) == "0" &&
         tokens.is_punctuation(i + 3, ')');
}

// The tokens of a type, joined by single spaces, with aliases replaced by the types that they stand for.
std::string text_of_type(const Tokens& tokens, std::size_t first, std::size_t end) {
  std::string text;
  for (std::size_t i = first; i < end; ++i) {
    if (is_default_space(tokens, i)) {
      i += 3;
      continue;
    }
    if (!text.empty()) text += ' ';
    const auto alias =
        tokens.kind(i) == TokenKind::kLocal ? tokens.type_aliases.find(tokens.name(i)) : tokens.type_aliases.end();
    if (alias != tokens.type_aliases.end())
      text += alias->second;
    else
      text += tokens.text(i);
  }
  return text;
}

}  // namespace

// An alias may name another one twice, which doubles the length of its text. One that is longer than this stays a
// type of its own.
constexpr std::size_t kMaxAliasBytes = 1024;

void read_type_aliases(Tokens& tokens) {
  for (std::size_t i = 0; !tokens.is_end(i); ++i) {
    if (!tokens.is_word(i, "type") || i < 2 || !tokens.is_punctuation(i - 1, '=')) continue;
    if (tokens.kind(i - 2) != TokenKind::kLocal || tokens.is_word(i + 1, "opaque")) continue;
    const bool is_structure =
        tokens.is_punctuation(i + 1, '{') || (tokens.is_punctuation(i + 1, '<') && tokens.is_punctuation(i + 2, '{'));
    if (is_structure) continue;
    const auto type = parse_type(tokens, i + 1);
    if (type && type->text.size() <= kMaxAliasBytes) tokens.type_aliases.emplace(tokens.name(i - 2), type->text);
  }
}

std::optional<ParsedType> parse_type(const Tokens& tokens, std::size_t i) {
  if (!begins_type(tokens, i)) return std::nullopt;
  const std::size_t first = i;
  if (tokens.kind(i) == TokenKind::kPunctuation) {
    i = tokens.behind_group(i);
  } else {
    i += 1;
    if (tokens.is_word(first, "target") && tokens.is_punctuation(i, '(')) i = tokens.behind_group(i);
  }
  ParsedType type;
  while (true) {
    if (tokens.is_word(i, "addrspace") && tokens.is_punctuation(i + 1, '(')) {
      i = tokens.behind_group(i + 1);
    } else if (tokens.is_punctuation(i, '*')) {
      i += 1;
      type.result.reset();
    } else if (tokens.is_punctuation(i, '(')) {
      type.result = text_of_type(tokens, first, i);
      type.parameters = i;
      i = tokens.behind_group(i);
    } else {
      break;
    }
  }
  type.text = text_of_type(tokens, first, i);
  type.end = i;
  return type;
}

}  // namespace janus::lower
