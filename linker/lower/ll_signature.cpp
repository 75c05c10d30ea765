// SPDX-License-Identifier: Apache-2.0
#include "ll_signature.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "types.h"
#include "words.h"

namespace janus::lower {
namespace {

// Attributes that make an argument more than a plain value.
constexpr std::array<std::string_view, 8> kRefused = {"byval", "sret",      "inalloca",   "preallocated",
                                                      "byref", "swiftself", "swifterror", "swiftasync"};
// Attributes of an argument that a caller must repeat.
constexpr std::array<std::string_view, 4> kPassedOn = {"zeroext", "signext", "inreg", "nest"};
// Attributes of an argument that do not change how it is passed.
constexpr std::array<std::string_view, 25> kHints = {"noundef",
                                                     "nonnull",
                                                     "noalias",
                                                     "nocapture",
                                                     "captures",
                                                     "dereferenceable",
                                                     "dereferenceable_or_null",
                                                     "align",
                                                     "returned",
                                                     "readonly",
                                                     "readnone",
                                                     "writeonly",
                                                     "immarg",
                                                     "nofree",
                                                     "allocalign",
                                                     "allocptr",
                                                     "range",
                                                     "nofpclass",
                                                     "initializes",
                                                     "writable",
                                                     "dead_on_unwind",
                                                     "dead_on_return",
                                                     "elementtype",
                                                     "alignstack",
                                                     "noext"};
// The families of calling conventions whose names do not end in cc.
constexpr std::array<std::string_view, 5> kConventionFamilies = {"aarch64_", "amdgpu_", "ptx_", "riscv_", "spir_"};

bool is_convention(std::string_view word) {
  if (word.size() > 2 && word.substr(word.size() - 2) == "cc") return word != "ccc";
  return std::any_of(kConventionFamilies.begin(), kConventionFamilies.end(),
                     [word](std::string_view family) { return word.substr(0, family.size()) == family; });
}

// The number of `cc10`, which LLVM reads as `cc 10`; nothing for other words.
std::string_view number_of_convention(std::string_view word) {
  const bool is_numbered =
      word.size() > 2 && word.substr(0, 2) == "cc" && word.find_first_not_of("0123456789", 2) == std::string_view::npos;
  return is_numbered ? word.substr(2) : std::string_view();
}

// Reads the head of a function, from the word behind `define` or `declare` to the ) of its parameters.
class Head {
 public:
  Head(const Tokens& tokens, std::size_t& at, Function& function) : tokens_(tokens), at_(at), function_(function) {}

  bool run() {
    Signature& signature = function_.signature;
    while (!begins_type(tokens_, at_)) {
      if (tokens_.kind(at_) == TokenKind::kMetadata) {
        at_ = behind_attachment(tokens_, at_);
        continue;
      }
      const std::size_t first = at_;
      const std::string_view word = tokens_.text(at_);
      if (tokens_.kind(at_) != TokenKind::kWord && tokens_.kind(at_) != TokenKind::kString && word != "=") return false;
      at_ = behind_attribute(tokens_, at_);
      if (word == "cc" && tokens_.kind(first + 1) == TokenKind::kInteger)
        signature.convention = "cc " + std::string(tokens_.text(first + 1));
      else if (const std::string_view number = number_of_convention(word); !number.empty())
        signature.convention = "cc " + std::string(number);
      else if (tokens_.kind(first) == TokenKind::kWord && is_convention(word))
        signature.convention = tokens_.range(first, at_);
    }
    const auto result = parse_type(tokens_, at_);
    at_ = result->end;
    if (tokens_.kind(at_) != TokenKind::kGlobal || !tokens_.is_punctuation(at_ + 1, '(')) return false;
    signature.result = result->text;
    function_.name = static_cast<std::uint32_t>(at_);
    at_ += 2;
    return parameters();
  }

 private:
  bool parameters() {
    while (!tokens_.is_punctuation(at_, ')')) {
      if (tokens_.is_end(at_)) return false;
      if (tokens_.is_punctuation(at_, ',')) {
        ++at_;
        continue;
      }
      if (tokens_.is_word(at_, "...")) {
        function_.signature.is_variadic = true;
        ++at_;
        continue;
      }
      const auto type = parse_type(tokens_, at_);
      if (!type) return false;
      Parameter parameter{type->text, "", ""};
      std::uint32_t name = kNoIndex;
      for (at_ = type->end; !tokens_.is_punctuation(at_, ',') && !tokens_.is_punctuation(at_, ')');) {
        if (tokens_.is_end(at_)) return false;
        const std::string_view word = tokens_.text(at_);
        if (tokens_.kind(at_) == TokenKind::kLocal) name = static_cast<std::uint32_t>(at_);
        if (contains(kPassedOn, word)) parameter.extension.append(parameter.extension.empty() ? "" : " ").append(word);
        if (is_refused_attribute(word)) parameter.refused = word;
        at_ = behind_attribute(tokens_, at_);
      }
      function_.signature.parameters.push_back(std::move(parameter));
      function_.parameter_names.push_back(name);
    }
    ++at_;
    return true;
  }

  const Tokens& tokens_;
  std::size_t& at_;
  Function& function_;
};

}  // namespace

bool parse_head(const Tokens& tokens, std::size_t& at, Function& function) {
  return Head(tokens, at, function).run();
}

Signature signature_of_type(const Tokens& tokens, std::size_t i) {
  const auto type = parse_type(tokens, i);
  Signature signature;
  signature.result = *type->result;
  const std::size_t end = tokens.behind_group(type->parameters) - 1;
  for (i = type->parameters + 1; i < end;) {
    const auto parameter = parse_type(tokens, i);
    if (parameter) signature.parameters.push_back({parameter->text, "", ""});
    if (tokens.is_word(i, "...")) signature.is_variadic = true;
    i = parameter ? parameter->end : i + 1;
  }
  return signature;
}

bool is_refused_attribute(std::string_view word) {
  return contains(kRefused, word);
}

bool is_parameter_attribute(const Tokens& tokens, std::size_t i) {
  if (tokens.kind(i) == TokenKind::kString || tokens.is_punctuation(i, '=')) return true;  // "name"="value"
  const std::string_view word = tokens.text(i);
  return tokens.kind(i) == TokenKind::kWord &&
         (contains(kHints, word) || contains(kPassedOn, word) || is_refused_attribute(word));
}

std::size_t behind_attribute(const Tokens& tokens, std::size_t i) {
  const bool takes_number = tokens.is_word(i, "align") || tokens.is_word(i, "alignstack") || tokens.is_word(i, "cc");
  ++i;
  if (tokens.is_punctuation(i, '(')) return tokens.behind_group(i);
  return takes_number && tokens.kind(i) == TokenKind::kInteger ? i + 1 : i;
}

std::size_t behind_attachment(const Tokens& tokens, std::size_t i) {
  ++i;
  if (tokens.is_word(i, "distinct")) ++i;
  if (tokens.kind(i) != TokenKind::kMetadata) return i;
  const bool is_tuple = tokens.text(i) == "!";
  ++i;
  return tokens.is_punctuation(i, is_tuple ? '{' : '(') ? tokens.behind_group(i) : i;
}

}  // namespace janus::lower
