// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ll_aliases.h"
#include "ll_body.h"
#include "ll_module.h"
#include "ll_signature.h"
#include "types.h"
#include "words.h"

namespace janus::lower {
namespace {

// Attributes of a function by which LLVM chooses how values are passed to it.
constexpr std::array<std::string_view, 5> kTargetAttributes = {"\"target-cpu\"", "\"target-features\"",
                                                               "\"use-soft-float\"", "\"prefer-vector-width\"",
                                                               "\"min-legal-vector-width\""};

// Constants of one word, behind which nothing follows that belongs to them.
constexpr std::array<std::string_view, 7> kConstantWords = {"null", "undef", "poison", "zeroinitializer",
                                                            "none", "true",  "false"};

class Parser {
 public:
  explicit Parser(const Tokens& tokens) : tokens_(tokens) {}

  Module run() {
    for (at_ = 0; !tokens_.is_end(at_);) {
      if (tokens_.is_word(at_, "define") || tokens_.is_word(at_, "declare"))
        function();
      else if (tokens_.is_word(at_, "attributes") && tokens_.kind(at_ + 1) == TokenKind::kAttribute)
        attribute_group();
      else if (tokens_.kind(at_) == TokenKind::kGlobal && tokens_.is_punctuation(at_ + 1, '='))
        global();
      else if (tokens_.is_punctuation(at_, '^'))
        summary();
      else if (!skip_profile_line())
        ++at_;
    }
    apply_groups();
    aliases_.resolve(module_);
    return std::move(module_);
  }

 private:
  // Skips `profile :name` or `profile:name`. The lexer reads the first word of the latter as a label.
  bool skip_profile_line() {
    const bool is_label = tokens_.kind(at_) == TokenKind::kLabel && tokens_.text(at_) == "profile:";
    if (!is_label && !(tokens_.is_word(at_, "profile") && tokens_.is_punctuation(at_ + 1, ':'))) return false;
    const auto name = static_cast<std::uint32_t>(at_ + (is_label ? 1 : 2));
    module_.profiles.push_back({static_cast<std::uint32_t>(at_), name});
    at_ = name;
    return true;
  }

  void function() {
    const bool is_definition = tokens_.is_word(at_, "define");
    const std::size_t start = at_++;
    Function function;
    if (!parse_head(tokens_, at_, function)) {
      if (is_definition)
        tokens_.source().error(tokens_.begin_of(start), "a function without result type, name or parameters");
      return;
    }
    const std::string_view name = tokens_.name(function.name);
    Attributes own;
    const bool has_body = is_definition && find_body(function, own);
    if (!is_definition) behind_declaration(own);
    function.is_naked = own.is_naked;
    function.signature.target = own.target;
    for (const std::string_view group : own.groups) users_.push_back({group, name, kNoIndex});
    module_.callables.insert_or_assign(name, Callable{std::string(tokens_.text(function.name)),
                                                      std::make_shared<Signature>(function.signature), false});
    if (!is_definition) return;
    module_.definitions.insert(name);
    if (!has_body) {
      tokens_.source().error(tokens_.begin_of(start), "a function without a body");
      return;
    }
    at_ = parse_body(tokens_, function);
    for (const std::string_view group : own.groups)
      users_.push_back({group, {}, static_cast<std::uint32_t>(module_.functions.size())});
    module_.functions.push_back(std::move(function));
  }

  // @a = ... alias ..., or ifunc. Other globals are skipped.
  void global() {
    const std::size_t name = at_;
    at_ += 2;
    while (tokens_.kind(at_) == TokenKind::kWord && !tokens_.is_word(at_, "alias") && !tokens_.is_word(at_, "ifunc")) {
      if (tokens_.is_word(at_, "global") || tokens_.is_word(at_, "constant") || tokens_.is_word(at_, "define") ||
          tokens_.is_word(at_, "declare"))
        return;
      at_ = behind_attribute(tokens_, at_);
    }
    if (tokens_.is_word(at_, "alias") || tokens_.is_word(at_, "ifunc")) at_ = aliases_.add(name, at_);
  }

  // ---- Attributes of functions --------------------------------------------------------------------------------------------

  struct Attributes {
    bool is_naked = false;
    std::string target;                    // see Signature::target
    std::vector<std::string_view> groups;  // #0
  };

  // Reads the next token if it is an attribute that this program needs, and skips it.
  void attribute(Attributes& attributes) {
    if (tokens_.is_word(at_, "naked")) attributes.is_naked = true;
    if (tokens_.kind(at_) == TokenKind::kAttribute) attributes.groups.push_back(tokens_.text(at_));
    if (tokens_.kind(at_) == TokenKind::kString && contains(kTargetAttributes, tokens_.text(at_)) &&
        tokens_.is_punctuation(at_ + 1, '=') && tokens_.kind(at_ + 2) == TokenKind::kString)
      attributes.target.append(" ").append(tokens_.text(at_)).append("=").append(tokens_.text(at_ + 2));
    at_ = behind_attribute(tokens_, at_);
  }

  // attributes #0 = { ... }
  void attribute_group() {
    Attributes& group = groups_[tokens_.text(at_ + 1)];
    for (at_ += 2; !tokens_.is_end(at_) && !tokens_.is_punctuation(at_, '}');) attribute(group);
  }

  // Skips the rest of a declaration: attributes, up to the first token that cannot belong to them.
  void behind_declaration(Attributes& attributes) {
    while (true) {
      const TokenKind kind = tokens_.kind(at_);
      const bool begins_line = tokens_.is_word(at_, "define") || tokens_.is_word(at_, "declare") ||
                               tokens_.is_word(at_, "attributes") || tokens_.is_word(at_, "profile");
      const bool may_follow = kind == TokenKind::kWord || kind == TokenKind::kString || kind == TokenKind::kAttribute ||
                              kind == TokenKind::kInteger || tokens_.is_punctuation(at_, '=');
      if (begins_line || !may_follow) return;
      attribute(attributes);
    }
  }

  void apply_groups() {
    for (const User& user : users_) {
      const auto group = groups_.find(user.group);
      if (group == groups_.end()) continue;
      if (user.function != kNoIndex)
        module_.functions[user.function].is_naked |= group->second.is_naked;
      else
        module_.callables.at(user.name).signature->target += group->second.target;
    }
  }

  // An entry of the module's summary for ThinLTO: ^0 = module: (...). It is removed, because it describes the module
  // before its lowering.
  void summary() {
    const std::size_t first = at_;
    while (!tokens_.is_end(at_) && tokens_.kind(at_) != TokenKind::kLabel && at_ < first + 3) ++at_;
    ++at_;
    at_ = tokens_.is_punctuation(at_, '(') ? tokens_.behind_group(at_) : at_ + 1;
    module_.summaries.emplace_back(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(at_));
  }

  // Finds the `{` of the body. A brace before it can only belong to the types and constants that follow these words.
  bool find_body(Function& function, Attributes& attributes) {
    while (tokens_.is_word(at_, "unnamed_addr") || tokens_.is_word(at_, "local_unnamed_addr") ||
           tokens_.is_word(at_, "addrspace"))
      at_ = behind_attribute(tokens_, at_);
    function.behind_parameters = static_cast<std::uint32_t>(at_);
    while (!tokens_.is_punctuation(at_, '{')) {
      if (tokens_.is_end(at_) || tokens_.is_word(at_, "define") || tokens_.is_word(at_, "declare")) return false;
      if (tokens_.is_word(at_, "prefix") || tokens_.is_word(at_, "prologue") || tokens_.is_word(at_, "personality"))
        skip_constant();
      else if (tokens_.is_punctuation(at_, '('))
        at_ = tokens_.behind_group(at_);
      else if (tokens_.kind(at_) == TokenKind::kMetadata)
        at_ = behind_attachment(tokens_, at_);
      else
        attribute(attributes);
    }
    function.body = static_cast<std::uint32_t>(at_);
    return true;
  }

  // Skips a type and a constant of that type.
  void skip_constant() {
    if (const auto type = parse_type(tokens_, ++at_)) at_ = type->end;
    if (tokens_.kind(at_) == TokenKind::kWord && contains(kConstantWords, tokens_.text(at_))) {
      ++at_;
      return;
    }
    while (tokens_.kind(at_) == TokenKind::kWord) ++at_;  // those of an expression, as `getelementptr inbounds (...)`
    if (tokens_.is_end(at_)) return;
    at_ = tokens_.kind(at_) == TokenKind::kPunctuation ? tokens_.behind_group(at_) : at_ + 1;
  }

  // A function that has a group of attributes: `name` is its key in the callables, or `function` its index in the
  // functions.
  struct User {
    std::string_view group, name;
    std::uint32_t function;
  };

  const Tokens& tokens_;
  std::size_t at_ = 0;
  Module module_;
  Aliases aliases_{tokens_};
  std::unordered_map<std::string_view, Attributes> groups_;
  std::vector<User> users_;
};

}  // namespace

Module parse_module(const Tokens& tokens) {
  return Parser(tokens).run();
}

}  // namespace janus::lower
