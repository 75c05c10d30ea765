// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "options.h"
#include "qtjir_ast.h"
#include "types.h"
#include "words.h"

namespace janus::lower::qtjir {
namespace {

constexpr std::array<std::string_view, 13> kArithmetic = {"add", "sub", "mul", "sdiv", "udiv", "srem", "urem",
                                                          "and", "or",  "xor", "shl",  "lshr", "ashr"};
constexpr std::array<std::string_view, 10> kComparisons = {"eq",  "ne",  "slt", "sle", "sgt",
                                                           "sge", "ult", "ule", "ugt", "uge"};
constexpr unsigned kMaxWidth = 128;

class QtjirParser {
 public:
  explicit QtjirParser(const Tokens& tokens) : tokens_(tokens) {}

  File heads() {
    while (!tokens_.is_end(at_)) {
      if (begins_profile()) {
        profile();
      } else if (is("extern") || is("func")) {
        function();
      } else {
        complain("expected `func`, `extern func` or `profile`, not " + shown());
        while (!tokens_.is_end(at_) && !is("func") && !is("extern") && !begins_profile()) ++at_;
      }
    }
    return std::move(file_);
  }

  bool body_of(Function& function) {
    at_ = function.body;
    body(function);
    return expect('}') && is_right_;
  }

 private:
  bool is(std::string_view word) const { return tokens_.is_word(at_, word); }
  bool is(char c) const { return tokens_.is_punctuation(at_, c); }
  bool skip(char c) {
    if (!is(c)) return false;
    ++at_;
    return true;
  }
  // The current token, for a message.
  std::string shown() const {
    return tokens_.is_end(at_) ? "the end of the file"
           : is_behind_line()  ? "the end of the line"
                               : "'" + std::string(tokens_.text(at_)) + "'";
  }
  bool complain(const std::string& message) {
    is_right_ = false;
    tokens_.source().error(is_behind_line() ? tokens_.end_of(at_ - 1) : tokens_.begin_of(at_), message);
    return false;
  }
  // Whether the current token begins a new line, after the token `start_`.
  bool is_behind_line() const {
    if (at_ <= start_ || tokens_.is_end(at_)) return false;
    const std::size_t end = tokens_.end_of(at_ - 1);
    return tokens_.source().text().substr(end, tokens_.begin_of(at_) - end).find('\n') != std::string_view::npos;
  }
  bool expect(char c) {
    if (skip(c)) return true;
    std::string message = "expected '";
    message += c;
    message.append("', not ").append(shown());
    return complain(message);
  }

  // The lexer reads the first word of `profile:name` as a label.
  bool begins_profile() const {
    return is("profile") || (tokens_.kind(at_) == TokenKind::kLabel && tokens_.text(at_) == "profile:");
  }
  void profile() {
    const bool has_colon = tokens_.kind(at_++) == TokenKind::kLabel;
    if (!has_colon && !expect(':')) return;
    const std::string name(tokens_.text(at_));
    if (!is_profile(name))
      complain("unknown profile '" + name + "': there are :core, :service, :cluster and :sovereign");
    file_.profile = name;
    ++at_;
  }

  // A value's type: iN or ptr; with `is_result` also void; with `is_parameter` also task and channel of one.
  bool type(std::string& type, bool is_result, bool is_parameter) {
    const std::string word(tokens_.text(at_));
    const unsigned width = integer_width(word);
    if (tokens_.kind(at_) == TokenKind::kWord && is_parameter && (word == "task" || word == "channel")) {
      ++at_;
      std::string element;
      if (!this->type(element, word == "task", false)) return false;
      type = word + " " + element;
      return true;
    }
    const bool is_known = (width != 0 && width <= kMaxWidth) || word == "ptr" || (is_result && word == "void");
    if (!is_known)
      return complain("expected a type (i1 to i128, ptr" + std::string(is_result ? ", void" : "") +
                      (is_parameter ? ", task or channel" : "") + "), not " + shown());
    type = word;
    ++at_;
    return true;
  }

  // ---- Functions ----------------------------------------------------------------------------------------------------------

  void function() {
    FunctionHead function;
    const std::size_t start = start_ = at_;
    if (is("extern")) {
      function.is_external = true;
      ++at_;
    }
    if (!head(function)) {
      at_ = std::max(at_, start + 1);
      while (!tokens_.is_end(at_) && !is("func") && !is("extern") && !begins_profile()) ++at_;
      return;
    }
    const std::string name(tokens_.name(function.name));
    if (!file_.by_name.emplace(name, file_.functions.size()).second)
      tokens_.source().error(tokens_.begin_of(function.name), "a second function @" + name);
    file_.functions.push_back(std::move(function));
  }

  bool head(FunctionHead& function) {
    if (!is("func")) return complain("expected `func`");
    ++at_;
    if (tokens_.kind(at_) != TokenKind::kGlobal || tokens_.name(at_).empty())
      return complain("expected a function's name, as @f");
    function.name = static_cast<std::uint32_t>(at_++);
    if (!expect('(')) return false;
    while (!is(')')) {
      if (function.is_external && is("...")) {
        function.is_variadic = true;
        ++at_;
        break;
      }
      if (tokens_.kind(at_) == TokenKind::kLocal) {
        function.parameter_names.push_back(static_cast<std::uint32_t>(at_++));
        if (!expect(':')) return false;
      } else if (!function.is_external) {
        return complain("expected a parameter, as %x: i64");
      }
      function.parameters.emplace_back();
      if (!type(function.parameters.back(), false, !function.is_external)) return false;
      if (!skip(',')) break;
      if (is(')')) return complain("expected a parameter behind the comma");
    }
    if (!expect(')')) return false;
    if (is("-") && tokens_.is_punctuation(at_ + 1, '>')) {
      at_ += 2;
      if (!type(function.result, true, false)) return false;
    }
    if (is("cleanup")) {
      function.is_cleanup = true;
      ++at_;
    }
    if (function.is_external) return true;
    if (!expect('{')) return false;
    function.body = static_cast<std::uint32_t>(at_);
    while (!tokens_.is_end(at_) && !is('}')) ++at_;
    return expect('}');
  }

  void body(Function& function) {
    function.blocks.emplace_back();
    while (!tokens_.is_end(at_) && !is('}')) {
      if (tokens_.kind(at_) == TokenKind::kLabel) {
        if (!function.blocks.back().instructions.empty() || function.blocks.back().label != kNoIndex)
          function.blocks.emplace_back();
        function.blocks.back().label = static_cast<std::uint32_t>(at_++);
        continue;
      }
      const std::size_t start = at_;
      if (auto one = instruction())
        function.blocks.back().instructions.push_back(std::move(*one));
      else
        skip_line(start);
    }
  }

  // Skips the rest of the line in which the parser stopped in an instruction that begins at `start`.
  void skip_line(std::size_t start) {
    const std::string_view text = tokens_.source().text();
    at_ = std::max(at_, start);
    do {
      ++at_;
    } while (!tokens_.is_end(at_) &&
             text.substr(tokens_.end_of(at_ - 1), tokens_.begin_of(at_) - tokens_.end_of(at_ - 1)).find('\n') ==
                 std::string_view::npos);
  }

  // ---- Instructions -------------------------------------------------------------------------------------------------------

  std::optional<Instruction> instruction() {
    Instruction one;
    start_ = at_;
    if (tokens_.kind(at_) == TokenKind::kLocal) {
      one.result = static_cast<std::uint32_t>(at_++);
      if (!expect('=')) return std::nullopt;
    }
    one.token = static_cast<std::uint32_t>(at_);
    if (tokens_.kind(at_) != TokenKind::kWord) {
      complain("expected an instruction, not " + shown());
      return std::nullopt;
    }
    one.word = tokens_.text(at_++);
    if (!operands(one)) return std::nullopt;
    return one;
  }

  bool operands(Instruction& one) {
    if (const auto opcode = opcode_of(one.word)) {
      one.kind = Kind::kOpcode;
      one.opcode = *opcode;
      return opcode_operands(one);
    }
    if (contains(kArithmetic, one.word)) return of_kind(one, Kind::kArithmetic) && typed(one) && separated(one, 2);
    if (contains(kComparisons, one.word)) return of_kind(one, Kind::kComparison) && typed(one) && separated(one, 2);
    if (one.word == "copy") return of_kind(one, Kind::kCopy) && typed(one) && separated(one, 1);
    if (one.word == "zext" || one.word == "sext" || one.word == "trunc") {
      if (!separated(of(one, Kind::kConversion), 1)) return false;
      if (!is("to")) return complain("expected `to` and a type");
      ++at_;
      return type(one.type, false, false);
    }
    if (one.word == "call") return of_kind(one, Kind::kCall) && call(one);
    if (one.word == "defer") return of_kind(one, Kind::kDefer) && call(one);
    if (one.word == "print") return print(of(one, Kind::kPrint));
    if (one.word == "branch")
      return separated(of(one, Kind::kBranch), 1) && expect(',') && label(one) && expect(',') && label(one);
    if (one.word == "jump") return label(of(one, Kind::kJump));
    if (one.word == "return") return of_kind(one, Kind::kReturn) && (!begins_operand() || separated(one, 1));
    if (one.word == "Channel_Create")
      return type(of(one, Kind::kChannelCreate).type, false, false) && expect(',') && separated(one, 1);
    if (one.word == "Send") return separated(of(one, Kind::kSend), 2) && (!skip(',') || label(one));
    if (one.word == "Recv") return separated(of(one, Kind::kRecv), 1) && (!skip(',') || label(one));
    if (one.word == "Close") return separated(of(one, Kind::kClose), 1);
    --at_;
    return complain("unknown instruction '" + one.word + "'");
  }
  static Instruction& of(Instruction& one, Kind kind) {
    one.kind = kind;
    return one;
  }
  static bool of_kind(Instruction& one, Kind kind) {
    one.kind = kind;
    return true;
  }

  bool begins_operand() const {
    // A register followed by = begins the next instruction.
    if (tokens_.kind(at_) == TokenKind::kLocal) return !tokens_.is_punctuation(at_ + 1, '=');
    return tokens_.kind(at_) == TokenKind::kInteger || tokens_.kind(at_) == TokenKind::kString;
  }
  // Reads the optional type before operands.
  bool typed(Instruction& one) {
    if (tokens_.kind(at_) != TokenKind::kWord) return true;
    return type(one.type, false, false);
  }
  bool operand(Instruction& one) {
    if (!begins_operand()) return complain("expected a register, a number or a text, not " + shown());
    Operand operand;
    operand.token = static_cast<std::uint32_t>(at_);
    operand.kind = tokens_.kind(at_) == TokenKind::kLocal     ? Operand::Kind::kRegister
                   : tokens_.kind(at_) == TokenKind::kInteger ? Operand::Kind::kInteger
                                                              : Operand::Kind::kString;
    one.operands.push_back(std::move(operand));
    ++at_;
    return true;
  }
  bool separated(Instruction& one, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      if ((i != 0 && !expect(',')) || !operand(one)) return false;
    return true;
  }
  bool label(Instruction& one) {
    const TokenKind kind = tokens_.kind(at_);
    if (is_behind_line() || (kind != TokenKind::kWord && kind != TokenKind::kInteger && kind != TokenKind::kString))
      return complain("expected a label, not " + shown());
    one.labels.push_back(static_cast<std::uint32_t>(at_++));
    return true;
  }

  // @f(arguments) or @f, arguments
  bool call(Instruction& one) {
    if (tokens_.kind(at_) != TokenKind::kGlobal) return complain("expected a function's name, as @f");
    one.callee = static_cast<std::uint32_t>(at_++);
    if (!skip('(')) {
      while (is(',') && !is_option(at_ + 1)) {
        ++at_;
        if (!operand(one)) return false;
      }
      return true;
    }
    if (skip(')')) return true;
    do {
      if (!operand(one)) return false;
    } while (skip(','));
    return expect(')');
  }

  bool print(Instruction& one) {
    if (tokens_.kind(at_) != TokenKind::kString) return complain("expected a text");
    if (!operand(one)) return false;
    while (skip(','))
      if (!operand(one)) return false;
    return true;
  }

  bool opcode_operands(Instruction& one) {
    switch (one.opcode) {
      case Opcode::kBudgetCheck:
      case Opcode::kYield:
        return true;
      case Opcode::kBudgetDecrement:
      case Opcode::kSleep:
      case Opcode::kTaskJoin:
      case Opcode::kAwait:
        return operand(one);
      case Opcode::kNurseryEnd:
      case Opcode::kNurseryCancel:
        return !begins_operand() || operand(one);
      case Opcode::kNurseryBegin:
        return options(one);
      case Opcode::kTaskCreate:
      case Opcode::kSpawn:
      case Opcode::kFork:
      case Opcode::kAsyncCall:
        return call(one) && options(one);
    }
    return false;
  }

  bool is_option(std::size_t i) const {
    return tokens_.is_word(i, "budget") || tokens_.is_word(i, "tenancy") || tokens_.is_word(i, "on_error") ||
           tokens_.is_word(i, "on_exhaustion");
  }
  bool options(Instruction& one) {
    const bool is_task = makes_task(one.opcode);
    bool has_on_error = false, has_on_exhaustion = false;
    while (is_option(at_) || (is(',') && is_option(at_ + 1))) {
      skip(',');
      const std::string word(tokens_.text(at_));
      ++at_;
      if (word == "budget") {
        if (!budget(one)) return false;
      } else if (word == "tenancy" && is_task) {
        if (!is("CPU_Parallel"))
          return complain("unknown tenancy '" + std::string(tokens_.text(at_)) + "': tasks have CPU_Parallel");
        ++at_;
      } else if ((word == "on_error" && has_on_error) || (word == "on_exhaustion" && has_on_exhaustion)) {
        --at_;
        return complain("a second " + word);
      } else if (word == "on_error" && !is_task) {
        has_on_error = true;
        if (!choice(one.nursery.on_error, {"cancel", "collect"})) return false;
      } else if (word == "on_exhaustion" && !is_task) {
        has_on_exhaustion = true;
        if (!choice(one.nursery.on_exhaustion, {"suspend", "fail", "deny"})) return false;
      } else {
        --at_;
        return complain("'" + word + "' is not for " + one.word);
      }
    }
    return true;
  }
  bool choice(unsigned& chosen, const std::vector<std::string_view>& names) {
    for (unsigned i = 0; i < names.size(); ++i)
      if (is(names[i])) {
        chosen = i;
        ++at_;
        return true;
      }
    std::string all;
    for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
    return complain("expected one of: " + all);
  }
  bool budget(Instruction& one) {
    if (!expect('(')) return false;
    if (!one.budget.empty()) return complain("a second budget");
    one.budget.resize(kBudgetParts.size());
    one.nursery.has_budget = true;
    while (!is(')')) {
      std::size_t i = 0;
      while (i < kBudgetParts.size() && !is(kBudgetParts[i].first)) ++i;
      if (i == kBudgetParts.size()) return complain("expected ops, memory, spawn_count, channel_ops or syscalls");
      if (one.has_all[i] || one.budget[i]) return complain("a second amount of " + std::string(kBudgetParts[i].first));
      ++at_;
      if (is("all")) {
        one.has_all[i] = true;
        ++at_;
      } else {
        if (!operand(one)) return false;
        if (tokens_.kind(at_ - 1) == TokenKind::kInteger && tokens_.text(at_ - 1)[0] == '-') {
          --at_;
          return complain("an amount of a budget cannot be negative");
        }
        one.budget[i] = one.operands.back();
        one.operands.pop_back();
      }
      if (!skip(',')) break;
      if (is(')')) return complain("expected a component of the budget behind the comma");
    }
    return expect(')');
  }

  const Tokens& tokens_;
  std::size_t at_ = 0;
  std::size_t start_ = 0;  // the first token of the current function head or instruction
  bool is_right_ = true;
  File file_;
};

}  // namespace

File read_heads(const Tokens& tokens) {
  return QtjirParser(tokens).heads();
}

bool read_body(const Tokens& tokens, Function& function) {
  return QtjirParser(tokens).body_of(function);
}

}  // namespace janus::lower::qtjir
