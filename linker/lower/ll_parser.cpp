// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "ll_module.h"
#include "opcodes.h"
#include "types.h"

namespace janus::lower {
namespace {

// Words that begin an instruction where no result's name does. They occur nowhere within an instruction.
constexpr std::array<std::string_view, 14> kStarters = {"ret",         "br",     "switch",  "indirectbr", "resume",
                                                        "unreachable", "store",  "fence",   "cleanupret", "catchret",
                                                        "invoke",      "callbr", "cmpxchg", "atomicrmw"};
constexpr std::array<std::string_view, 10> kTerminators = {
    "ret", "br", "switch", "indirectbr", "invoke", "resume", "unreachable", "cleanupret", "catchret", "callbr"};
// Words that begin an instruction with a value, which need not have a name. Most also stand in constant expressions.
constexpr std::array<std::string_view, 48> kUnnamedValues = {"add",
                                                             "alloca",
                                                             "and",
                                                             "ashr",
                                                             "atomicrmw",
                                                             "bitcast",
                                                             "addrspacecast",
                                                             "catchpad",
                                                             "cleanuppad",
                                                             "cmpxchg",
                                                             "extractelement",
                                                             "extractvalue",
                                                             "fadd",
                                                             "fcmp",
                                                             "fdiv",
                                                             "fmul",
                                                             "fneg",
                                                             "fpext",
                                                             "fptosi",
                                                             "fptoui",
                                                             "fptrunc",
                                                             "freeze",
                                                             "frem",
                                                             "fsub",
                                                             "getelementptr",
                                                             "icmp",
                                                             "insertelement",
                                                             "insertvalue",
                                                             "inttoptr",
                                                             "landingpad",
                                                             "load",
                                                             "lshr",
                                                             "mul",
                                                             "or",
                                                             "phi",
                                                             "ptrtoint",
                                                             "sdiv",
                                                             "select",
                                                             "sext",
                                                             "shl",
                                                             "shufflevector",
                                                             "sitofp",
                                                             "srem",
                                                             "sub",
                                                             "trunc",
                                                             "udiv",
                                                             "uitofp",
                                                             "urem"};
constexpr std::array<std::string_view, 4> kMoreUnnamedValues = {"va_arg", "xor", "zext", "catchswitch"};
// Attributes by which an argument is more than a value.
constexpr std::array<std::string_view, 8> kRefused = {"byval", "sret",      "inalloca",   "preallocated",
                                                      "byref", "swiftself", "swifterror", "swiftasync"};

template <std::size_t kCount>
bool contains(const std::array<std::string_view, kCount>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr std::array<std::string_view, 4> kPassedOn = {"zeroext", "signext", "inreg", "nest"};
// Attributes of a function by which LLVM chooses how values are passed to it.
constexpr std::array<std::string_view, 5> kTargetAttributes = {"\"target-cpu\"", "\"target-features\"",
                                                               "\"use-soft-float\"", "\"prefer-vector-width\"",
                                                               "\"min-legal-vector-width\""};
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
    for (const Alias& alias : aliases_) name_alias(alias);
    return std::move(module_);
  }

 private:
  struct Alias {
    std::uint32_t name, type;
    bool is_alias;  // not an ifunc
  };

  // `profile :name`, or `profile:name`, whose first word the lexer reads as a label.
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
    if (!head(function)) {
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
    Body(*this, function).run();
    for (const std::string_view group : own.groups)
      users_.push_back({group, {}, static_cast<std::uint32_t>(module_.functions.size())});
    module_.functions.push_back(std::move(function));
  }

  // ---- Aliases ------------------------------------------------------------------------------------------------------------

  // @a = ... alias i64 (i64), ptr @f; also ifunc. Other globals are skipped.
  void global() {
    const auto name = static_cast<std::uint32_t>(at_);
    at_ += 2;
    while (tokens_.kind(at_) == TokenKind::kWord && !tokens_.is_word(at_, "alias") && !tokens_.is_word(at_, "ifunc")) {
      if (tokens_.is_word(at_, "global") || tokens_.is_word(at_, "constant") || tokens_.is_word(at_, "define") ||
          tokens_.is_word(at_, "declare"))
        return;
      at_ = behind_attribute(at_);
    }
    const bool is_alias = tokens_.is_word(at_, "alias");
    if (!is_alias && !tokens_.is_word(at_, "ifunc")) return;
    const auto type = static_cast<std::uint32_t>(++at_);
    const auto parsed = parse_type(tokens_, at_);
    if (!parsed || !parsed->result) return;
    at_ = parsed->end;
    aliases_.push_back({name, type, is_alias});
    if (const auto target = is_alias ? behind_casts(at_ + 1) : std::nullopt)
      alias_of_[tokens_.name(name)] = tokens_.name(*target);
    module_.definitions.insert(tokens_.name(name));
  }

  // The global that stands here behind its type, also in bitcast (...) and addrspacecast (...).
  std::optional<std::size_t> behind_casts(std::size_t i) const {
    while (true) {
      if (const auto type = parse_type(tokens_, i)) i = type->end;
      if (tokens_.kind(i) == TokenKind::kGlobal) return i;
      const bool is_cast = tokens_.is_word(i, "bitcast") || tokens_.is_word(i, "addrspacecast");
      if (!is_cast || !tokens_.is_punctuation(i + 1, '(')) return std::nullopt;
      i += 2;
    }
  }

  // An alias has its function's signature. The type that is written tells no convention, and is not enough for an alias whose
  // function is not known; it is for an ifunc, and for an alias of what is no function.
  void name_alias(const Alias& alias) {
    const std::string_view name = tokens_.name(alias.name);
    const auto target = module_.callables.find(function_of(name));
    Callable callable{std::string(tokens_.text(alias.name)), nullptr, false};
    auto written = std::make_shared<Signature>(signature_of_type(alias.type));
    if (target != module_.callables.end() && have_same_types(*written, *target->second.signature)) {
      callable.signature = target->second.signature;
    } else {
      callable.signature = std::move(written);
      callable.is_unknown_alias = alias.is_alias;
    }
    module_.callables.insert_or_assign(name, std::move(callable));
  }

  // What an alias leads to in the end. Each step is made once: aliases on the way then lead there directly.
  std::string_view function_of(std::string_view name) {
    std::vector<std::string_view> path;
    while (true) {
      const auto next = alias_of_.find(name);
      if (next == alias_of_.end() || next->second == name || path.size() > aliases_.size()) break;
      path.push_back(name);
      name = next->second;
    }
    for (const std::string_view alias : path) alias_of_[alias] = name;
    return name;
  }

  static bool have_same_types(const Signature& a, const Signature& b) {
    return a.result == b.result && a.is_variadic == b.is_variadic &&
           std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(), b.parameters.end(),
                      [](const Parameter& x, const Parameter& y) { return x.type == y.type; });
  }

  Signature signature_of_type(std::size_t i) const {
    const auto type = parse_type(tokens_, i);
    Signature signature;
    signature.result = *type->result;
    const std::size_t end = tokens_.behind_group(type->parameters) - 1;
    for (i = type->parameters + 1; i < end;) {
      const auto parameter = parse_type(tokens_, i);
      if (parameter) signature.parameters.push_back({parameter->text, "", ""});
      if (tokens_.is_word(i, "...")) signature.is_variadic = true;
      i = parameter ? parameter->end : i + 1;
    }
    return signature;
  }

  // ---- Attributes of functions --------------------------------------------------------------------------------------------

  struct Attributes {
    bool is_naked = false;
    std::string target;                    // as Signature has it
    std::vector<std::string_view> groups;  // #0
  };

  // Reads the attribute at hand, if it is one that counts, and goes behind it.
  void attribute(Attributes& attributes) {
    if (tokens_.is_word(at_, "naked")) attributes.is_naked = true;
    if (tokens_.kind(at_) == TokenKind::kAttribute) attributes.groups.push_back(tokens_.text(at_));
    if (tokens_.kind(at_) == TokenKind::kString && contains(kTargetAttributes, tokens_.text(at_)) &&
        tokens_.is_punctuation(at_ + 1, '=') && tokens_.kind(at_ + 2) == TokenKind::kString)
      attributes.target.append(" ").append(tokens_.text(at_)).append("=").append(tokens_.text(at_ + 2));
    at_ = behind_attribute(at_);
  }

  // attributes #0 = { ... }
  void attribute_group() {
    Attributes& group = groups_[tokens_.text(at_ + 1)];
    for (at_ += 2; !tokens_.is_end(at_) && !tokens_.is_punctuation(at_, '}');) attribute(group);
  }

  // Goes behind a declaration, whose attributes end where something else begins.
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

  // An entry of the summary for ThinLTO, ^0 = module: (...). It tells of the module as it was before its lowering.
  void summary() {
    const std::size_t first = at_;
    while (!tokens_.is_end(at_) && tokens_.kind(at_) != TokenKind::kLabel && at_ < first + 3) ++at_;
    ++at_;
    at_ = tokens_.is_punctuation(at_, '(') ? tokens_.behind_group(at_) : at_ + 1;
    module_.summaries.emplace_back(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(at_));
  }

  // ---- Heads of functions -------------------------------------------------------------------------------------------------

  // Skips an attribute with its argument, if any.
  std::size_t behind_attribute(std::size_t i) const {
    const bool takes_number =
        tokens_.is_word(i, "align") || tokens_.is_word(i, "alignstack") || tokens_.is_word(i, "cc");
    ++i;
    if (tokens_.is_punctuation(i, '(')) return tokens_.behind_group(i);
    return takes_number && tokens_.kind(i) == TokenKind::kInteger ? i + 1 : i;
  }

  // Behind !dbg !5, !dbg !DIKind(...) or !name !{...}.
  std::size_t behind_attachment(std::size_t i) const {
    ++i;
    if (tokens_.is_word(i, "distinct")) ++i;
    if (tokens_.kind(i) != TokenKind::kMetadata) return i;
    const bool is_tuple = tokens_.text(i) == "!";
    ++i;
    return tokens_.is_punctuation(i, is_tuple ? '{' : '(') ? tokens_.behind_group(i) : i;
  }

  bool head(Function& function) {
    Signature& signature = function.signature;
    while (!begins_type(tokens_, at_)) {
      if (tokens_.kind(at_) == TokenKind::kMetadata) {
        at_ = behind_attachment(at_);
        continue;
      }
      const std::size_t first = at_;
      const std::string_view word = tokens_.text(at_);
      if (tokens_.kind(at_) != TokenKind::kWord && tokens_.kind(at_) != TokenKind::kString && word != "=") return false;
      at_ = behind_attribute(at_);
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
    function.name = static_cast<std::uint32_t>(at_);
    at_ += 2;
    return parameters(function);
  }

  bool parameters(Function& function) {
    while (!tokens_.is_punctuation(at_, ')')) {
      if (tokens_.is_end(at_)) return false;
      if (tokens_.is_punctuation(at_, ',')) {
        ++at_;
        continue;
      }
      if (tokens_.is_word(at_, "...")) {
        function.signature.is_variadic = true;
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
        if (contains(kRefused, word)) parameter.refused = word;
        at_ = behind_attribute(at_);
      }
      function.signature.parameters.push_back(std::move(parameter));
      function.parameter_names.push_back(name);
    }
    ++at_;
    return true;
  }

  // Goes to the `{` of the body. A brace before it can only belong to the types and constants behind these words.
  bool find_body(Function& function, Attributes& attributes) {
    while (tokens_.is_word(at_, "unnamed_addr") || tokens_.is_word(at_, "local_unnamed_addr") ||
           tokens_.is_word(at_, "addrspace"))
      at_ = behind_attribute(at_);
    function.behind_parameters = static_cast<std::uint32_t>(at_);
    while (!tokens_.is_punctuation(at_, '{')) {
      if (tokens_.is_end(at_) || tokens_.is_word(at_, "define") || tokens_.is_word(at_, "declare")) return false;
      if (tokens_.is_word(at_, "prefix") || tokens_.is_word(at_, "prologue") || tokens_.is_word(at_, "personality"))
        skip_constant();
      else if (tokens_.is_punctuation(at_, '('))
        at_ = tokens_.behind_group(at_);
      else if (tokens_.kind(at_) == TokenKind::kMetadata)
        at_ = behind_attachment(at_);
      else
        attribute(attributes);
    }
    function.body = static_cast<std::uint32_t>(at_);
    return true;
  }

  // A type and a constant of it.
  void skip_constant() {
    if (const auto type = parse_type(tokens_, ++at_)) at_ = type->end;
    while (tokens_.kind(at_) == TokenKind::kWord && !tokens_.is_punctuation(at_ + 1, '{') &&
           !tokens_.is_punctuation(at_ + 1, '('))
      ++at_;
    if (tokens_.is_end(at_)) return;
    if (tokens_.kind(at_) == TokenKind::kWord) ++at_;
    at_ = tokens_.kind(at_) == TokenKind::kPunctuation ? tokens_.behind_group(at_) : at_ + 1;
  }

  // Cuts a body into instructions and blocks.
  class Body {
   public:
    Body(Parser& parser, Function& function) : tokens_(parser.tokens_), at_(parser.at_), function_(function) {}

    void run() {
      ++at_;
      for (const std::uint32_t name : function_.parameter_names) take_number(name);
      begin_block(kNoIndex);
      std::vector<std::size_t> open;  // tokens of brackets
      for (; !tokens_.is_end(at_); ++at_) {
        const TokenKind kind = tokens_.kind(at_);
        if (kind == TokenKind::kPunctuation) {
          const char c = tokens_.text(at_)[0];
          if (c == '(' || c == '[' || c == '{' || c == '<') open.push_back(at_);
          if (c == ')' || c == ']' || c == '}' || c == '>') {
            if (c == '}' && (open.empty() || tokens_.text(open.back()) != "{")) break;
            if (!open.empty()) open.pop_back();
          }
          continue;
        }
        if (!open.empty()) continue;
        if (kind == TokenKind::kLabel) {
          end_instruction();
          label();
        } else if (begins_instruction()) {
          end_instruction();
          begin_instruction();
        }
      }
      end_instruction();
      end_block();
      if (!open.empty())
        tokens_.source().error(tokens_.begin_of(open.back()),
                               "'" + std::string(tokens_.text(open.back())) + "' is not closed");
      else if (tokens_.is_end(at_))
        tokens_.source().error(tokens_.begin_of(function_.body), "a function body without its closing brace");
      if (!tokens_.is_end(at_)) ++at_;
      connect();
    }

   private:
    bool begins_instruction() const {
      switch (tokens_.kind(at_)) {
        case TokenKind::kLocal:
          return tokens_.is_punctuation(at_ + 1, '=');
        case TokenKind::kAttribute:
          return tokens_.text(at_).substr(0, 5) == "#dbg_";
        case TokenKind::kWord:
          break;
        default:
          return false;
      }
      const std::string_view word = tokens_.text(at_);
      if (word == "call") return !is_behind_call_marker() && !follows_name();
      if (word == "tail" || word == "musttail" || word == "notail") return !follows_name();
      if (word == "uselistorder") return true;
      if (follows_name()) return false;
      return contains(kStarters, word) || is_opcode(word) || begins_unnamed_value(word);
    }
    // Such a word begins a line, and no constant expression.
    bool begins_unnamed_value(std::string_view word) const {
      return (contains(kUnnamedValues, word) || contains(kMoreUnnamedValues, word)) &&
             !tokens_.is_punctuation(at_ + 1, '(') && !tokens_.is_punctuation(at_ + 2, '(') && begins_line();
    }
    bool begins_line() const {
      const std::size_t end = tokens_.end_of(at_ - 1);
      return tokens_.source().text().substr(end, tokens_.begin_of(at_) - end).find('\n') != std::string_view::npos;
    }
    // Whether `%x =` stands before this token.
    bool follows_name() const {
      return at_ >= 2 && tokens_.is_punctuation(at_ - 1, '=') && tokens_.kind(at_ - 2) == TokenKind::kLocal;
    }
    bool is_behind_call_marker() const {
      return tokens_.is_word(at_ - 1, "tail") || tokens_.is_word(at_ - 1, "musttail") ||
             tokens_.is_word(at_ - 1, "notail");
    }

    void begin_instruction() {
      Instruction instruction{static_cast<std::uint32_t>(at_), static_cast<std::uint32_t>(at_), 0, false};
      if (tokens_.kind(at_) == TokenKind::kLocal) {
        instruction.has_result = true;
        instruction.mnemonic += 2;
        at_ += 1;
      }
      const std::string_view word = tokens_.text(instruction.mnemonic);
      if (word == "tail" || word == "musttail" || word == "notail") instruction.mnemonic += 1;
      const std::string_view previous =
          function_.instructions.empty() ? std::string_view() : tokens_.text(function_.instructions.back().mnemonic);
      if (function_.instructions.size() > function_.blocks.back().first && is_terminator(previous)) {
        end_block();
        begin_block(kNoIndex);  // with an implicit label
      }
      function_.instructions.push_back(instruction);
    }

    void end_instruction() {
      if (function_.instructions.empty() || function_.instructions.back().end != 0) return;
      Instruction& instruction = function_.instructions.back();
      instruction.end = static_cast<std::uint32_t>(at_);
      if (instruction.has_result)
        take_number(instruction.first);
      else if (has_unnamed_value(instruction))
        ++next_number_;
    }

    // ---- Numbers: what has no name has the next one, also where it is not written ----------------------------------------

    // Of a name's token; kNoIndex where there is none.
    void take_number(std::uint32_t token) {
      if (token == kNoIndex)
        ++next_number_;
      else if (const auto number = number_of(tokens_.name(token)))
        next_number_ = *number + 1;
    }
    static std::optional<std::uint32_t> number_of(std::string_view name) {
      std::uint32_t number = 0;
      const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
      const bool is_number = error == std::errc() && end == name.data() + name.size();
      return is_number ? std::optional(number) : std::nullopt;
    }
    bool has_unnamed_value(const Instruction& one) const {
      const std::string_view word = tokens_.text(one.mnemonic);
      if (contains(kUnnamedValues, word) || contains(kMoreUnnamedValues, word)) return true;
      if (word != "call" && word != "invoke" && word != "callbr") return false;
      std::size_t i = one.mnemonic + 1;
      while (i < one.end && !begins_type(tokens_, i)) {
        ++i;
        if (tokens_.is_punctuation(i, '(')) i = tokens_.behind_group(i);
      }
      const auto type = parse_type(tokens_, i);
      return type && (type->result ? *type->result : type->text) != "void";
    }

    void label() {
      const bool is_first =
          function_.instructions.empty() && function_.blocks.size() == 1 && function_.blocks[0].label == kNoIndex;
      if (is_first) {
        function_.blocks[0].label = static_cast<std::uint32_t>(at_);
        by_number_.clear();
        next_number_ = number_of_entry_;
        take_number(function_.blocks[0].label);
        return;
      }
      end_block();
      begin_block(static_cast<std::uint32_t>(at_));
    }

    void begin_block(std::uint32_t label) {
      if (label == kNoIndex) by_number_.emplace(next_number_, static_cast<std::uint32_t>(function_.blocks.size()));
      if (function_.blocks.empty()) number_of_entry_ = next_number_;
      take_number(label);
      function_.blocks.push_back({label, static_cast<std::uint32_t>(function_.instructions.size()), 0, {}});
    }
    void end_block() { function_.blocks.back().end = static_cast<std::uint32_t>(function_.instructions.size()); }

    // Fills in each block's successors: whatever its terminator names as `label %x`.
    void connect() {
      std::unordered_map<std::string_view, std::uint32_t> by_name;
      for (std::uint32_t i = 0; i < function_.blocks.size(); ++i)
        if (function_.blocks[i].label != kNoIndex) by_name.emplace(tokens_.name(function_.blocks[i].label), i);
      for (Block& block : function_.blocks) {
        if (block.first == block.end) continue;
        const Instruction& last = function_.instructions[block.end - 1];
        if (!is_terminator(tokens_.text(last.mnemonic))) continue;
        for (std::size_t i = last.mnemonic; i + 1 < last.end; ++i) {
          if (!tokens_.is_word(i, "label") || tokens_.kind(i + 1) != TokenKind::kLocal) continue;
          block.successors.push_back(block_of(by_name, tokens_.name(i + 1)));
        }
      }
    }
    std::uint32_t block_of(const std::unordered_map<std::string_view, std::uint32_t>& by_name,
                           std::string_view name) const {
      if (const auto found = by_name.find(name); found != by_name.end()) return found->second;
      const auto number = number_of(name);
      const auto found = number ? by_number_.find(*number) : by_number_.end();
      return found == by_number_.end() ? kNoIndex : found->second;
    }

    const Tokens& tokens_;
    std::size_t& at_;
    Function& function_;
    std::unordered_map<std::uint32_t, std::uint32_t> by_number_;  // the blocks with implicit labels
    std::uint32_t next_number_ = 0, number_of_entry_ = 0;
  };

  // A function that has a group of attributes: `name` in the callables, or `function` in the functions.
  struct User {
    std::string_view group, name;
    std::uint32_t function;
  };

  const Tokens& tokens_;
  std::size_t at_ = 0;
  Module module_;
  std::vector<Alias> aliases_;
  std::unordered_map<std::string_view, std::string_view> alias_of_;
  std::unordered_map<std::string_view, Attributes> groups_;
  std::vector<User> users_;
};

}  // namespace

bool is_terminator(std::string_view mnemonic) {
  return contains(kTerminators, mnemonic) || mnemonic == "catchswitch";
}

Module parse_module(const Tokens& tokens) {
  return Parser(tokens).run();
}

}  // namespace janus::lower
