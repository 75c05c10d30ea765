// SPDX-License-Identifier: Apache-2.0
#include "ll_opcodes.h"

#include "ll_signature.h"
#include "types.h"

namespace janus::lower {
namespace {

class OpcodeParser {
 public:
  OpcodeParser(const Tokens& tokens, const Instruction& instruction)
      : tokens_(tokens),
        at_(instruction.mnemonic + 1),
        end_(instruction.end),
        use_{*opcode_of(tokens.text(instruction.mnemonic)), kNoIndex, "", {}, {}, {}, ""} {}

  std::optional<OpcodeUse> run() {
    const bool is_right = operands() && trailer();
    if (!is_right) return std::nullopt;
    return std::move(use_);
  }

 private:
  bool complain(const std::string& message) {
    tokens_.source().error(at_ < end_ ? tokens_.begin_of(at_) : tokens_.end_of(end_ - 1), message);
    return false;
  }
  bool is_at_end() const {
    return at_ >= end_ || (tokens_.is_punctuation(at_, ',') && tokens_.kind(at_ + 1) == TokenKind::kMetadata);
  }
  bool skip(char c) {
    if (at_ >= end_ || !tokens_.is_punctuation(at_, c)) return false;
    ++at_;
    return true;
  }

  // The operands of an opcode other than a task's may stand in parentheses.
  bool operands() {
    if (makes_task(use_.opcode)) return task();
    if (use_.opcode == Opcode::kNurseryBegin) return options(false);
    const bool is_enclosed = skip('(');
    if (!simple_operands()) return false;
    if (is_enclosed && !skip(')')) return complain("a closing parenthesis is missing");
    return true;
  }
  bool simple_operands() {
    switch (use_.opcode) {
      case Opcode::kBudgetCheck:
      case Opcode::kYield:
        return true;
      case Opcode::kBudgetDecrement:
      case Opcode::kSleep:
        return value();
      case Opcode::kTaskJoin:
      case Opcode::kAwait:
        return joined();
      case Opcode::kNurseryEnd:
      case Opcode::kNurseryCancel:
        return is_at_end() || tokens_.is_punctuation(at_, ')') || value();
      default:
        return false;
    }
  }

  // [type] value; an argument may have attributes before its value.
  bool value(bool is_argument = false) {
    if (is_at_end() || tokens_.is_punctuation(at_, ',') || tokens_.is_punctuation(at_, ')'))
      return complain("an operand is missing");
    Operand operand;
    const bool is_name_alone = tokens_.kind(at_) == TokenKind::kLocal && ends_operand(at_ + 1);
    if (!is_name_alone)
      if (const auto type = parse_type(tokens_, at_); type && !is_group_alone(type->end)) {
        operand.type = type->text;
        at_ = type->end;
        while (is_argument && at_ < end_ && is_parameter_attribute(tokens_, at_)) skip_attribute(operand);
      }
    if (is_unknown_type()) return complain("unknown type " + std::string(tokens_.text(at_)));
    const std::size_t first = at_;
    if (is_whole_value(at_) && !ends_operand(at_ + 1)) {
      ++at_;
      return complain("unexpected '" + std::string(tokens_.text(at_)) + "' behind the operands");
    }
    while (!ends_operand(at_)) at_ = tokens_.opens_group(at_) ? std::min(tokens_.behind_group(at_), end_) : at_ + 1;
    if (first == at_) return complain("a value is missing");
    operand.value = tokens_.joined(first, at_);
    operand.token = static_cast<std::uint32_t>(first);
    use_.operands.push_back(std::move(operand));
    return true;
  }
  // Whether brackets that end there are the operand: a structure, vector or array without its type.
  bool is_group_alone(std::size_t end) const { return tokens_.opens_group(at_) && ends_operand(end); }
  void skip_attribute(Operand& argument) {
    if (is_refused_attribute(tokens_.text(at_))) argument.refused = tokens_.text(at_);
    at_ = behind_attribute(tokens_, at_);
  }
  // Whether an unknown word stands where a type may stand: directly before a value. (In a constant expression, a
  // parenthesis follows the word.)
  bool is_unknown_type() const {
    const bool is_word = at_ + 1 < end_ && tokens_.kind(at_) == TokenKind::kWord && !begins_type(tokens_, at_);
    const TokenKind next = tokens_.kind(at_ + 1);
    return is_word && (next == TokenKind::kLocal || next == TokenKind::kInteger ||
                       (next == TokenKind::kGlobal && !is_reference(tokens_.text(at_))));
  }
  static bool is_reference(std::string_view word) { return word == "dso_local_equivalent" || word == "no_cfi"; }
  bool is_whole_value(std::size_t i) const {
    const TokenKind kind = tokens_.kind(i);
    return kind == TokenKind::kLocal || kind == TokenKind::kGlobal || kind == TokenKind::kInteger;
  }
  bool ends_operand(std::size_t i) const {
    return i >= end_ || tokens_.is_punctuation(i, ',') || tokens_.is_punctuation(i, ')');
  }

  // [type] @function(arguments) or [type] @function, arguments; then options
  bool task() {
    while (at_ < end_ && is_parameter_attribute(tokens_, at_)) at_ = behind_attribute(tokens_, at_);  // of the result
    const std::size_t first = at_;
    if (tokens_.kind(at_) != TokenKind::kGlobal || at_ >= end_)
      if (const auto type = parse_type(tokens_, at_); type && at_ < end_) {
        use_.type = type->text;
        at_ = type->end;
      }
    if (at_ + 1 < end_ && tokens_.kind(at_) == TokenKind::kWord && tokens_.kind(at_ + 1) == TokenKind::kGlobal)
      return complain("unknown type " + std::string(tokens_.text(at_)));
    const bool has_name = at_ < end_ && tokens_.kind(at_) == TokenKind::kGlobal;
    if (!has_name && first < end_ && tokens_.kind(first) == TokenKind::kLocal) {
      at_ = first;
      return complain("a task begins in a function that is named, as @f: call a pointer in a function");
    }
    if (!has_name) return complain("the name of a function, as @f, is missing");
    use_.function = static_cast<std::uint32_t>(at_++);
    if (skip('(')) {
      if (skip(')')) return options(true);
      do {
        if (!value(true)) return false;
      } while (skip(','));
      if (!skip(')')) return complain("a closing parenthesis is missing");
      return options(true);
    }
    while (!is_at_end() && tokens_.is_punctuation(at_, ',') && !begins_option(at_ + 1)) {
      ++at_;
      if (!value(true)) return false;
    }
    return options(true);
  }

  // [type ,] handle
  bool joined() {
    const bool is_name_alone =
        tokens_.kind(at_) == TokenKind::kLocal &&
        (at_ + 1 >= end_ || (tokens_.is_punctuation(at_ + 1, ',') && tokens_.kind(at_ + 2) == TokenKind::kMetadata));
    if (!is_name_alone && at_ < end_)
      if (const auto type = parse_type(tokens_, at_);
          type && type->end < end_ && tokens_.is_punctuation(type->end, ',')) {
        if (!is_storable(type->text)) return complain("a task's result cannot be of type " + type->text);
        use_.type = type->text;
        at_ = type->end + 1;
      }
    const bool is_unknown =
        tokens_.kind(at_) == TokenKind::kWord && at_ + 1 < end_ && tokens_.is_punctuation(at_ + 1, ',');
    if (is_unknown) return complain("unknown type " + std::string(tokens_.text(at_)));
    return value();
  }

  bool begins_option(std::size_t i) const {
    return tokens_.is_word(i, "budget") || tokens_.is_word(i, "tenancy") || tokens_.is_word(i, "on_error") ||
           tokens_.is_word(i, "on_exhaustion");
  }

  bool options(bool is_task) {
    bool has_on_error = false, has_on_exhaustion = false;
    while (!is_at_end()) {
      skip(',');
      const std::string_view word = at_ < end_ ? tokens_.text(at_) : std::string_view();
      ++at_;
      if (word == "budget") {
        if (!budget()) return false;
      } else if (word == "tenancy" && is_task) {
        if (at_ >= end_ || !tokens_.is_word(at_, "CPU_Parallel"))
          return complain("unknown tenancy: tasks have CPU_Parallel");
        ++at_;
      } else if ((word == "on_error" && has_on_error) || (word == "on_exhaustion" && has_on_exhaustion)) {
        --at_;
        return complain("a second " + std::string(word));
      } else if (word == "on_error" && !is_task) {
        has_on_error = true;
        if (!choice(use_.nursery.on_error, {"cancel", "collect"})) return false;
      } else if (word == "on_exhaustion" && !is_task) {
        has_on_exhaustion = true;
        if (!choice(use_.nursery.on_exhaustion, {"suspend", "fail", "deny"})) return false;
      } else {
        --at_;
        return complain("unexpected '" + std::string(word) + "' behind the operands");
      }
    }
    return true;
  }

  bool choice(unsigned& chosen, const std::vector<std::string_view>& names) {
    for (unsigned i = 0; i < names.size(); ++i)
      if (at_ < end_ && tokens_.is_word(at_, names[i])) {
        chosen = i;
        ++at_;
        return true;
      }
    return complain("one of these is missing: " + [&] {
      std::string all;
      for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
      return all;
    }());
  }

  // ( component value, ... )
  bool budget() {
    if (!skip('(')) return complain("the components of the budget, as (ops 1000, memory all), are missing");
    if (use_.budget) return complain("a second budget");
    use_.budget = std::make_unique<BudgetOperands>();
    while (!skip(')')) {
      std::size_t i = 0;
      while (i < kBudgetComponents.size() && !tokens_.is_word(at_, kBudgetComponents[i].first)) ++i;
      if (at_ >= end_ || i == kBudgetComponents.size())
        return complain("a component of a budget is missing: ops, memory, spawn_count, channel_ops or syscalls");
      Operand& amount = (*use_.budget)[i];
      if (!amount.value.empty()) return complain("a second amount of " + std::string(kBudgetComponents[i].first));
      ++at_;
      const bool is_typed = tokens_.kind(at_) != TokenKind::kLocal || !ends_operand(at_ + 1);
      if (const auto type = is_typed ? parse_type(tokens_, at_) : std::nullopt; type && type->end < end_) {
        amount.type = type->text;
        at_ = type->end;
      }
      const bool is_value =
          at_ < end_ && (tokens_.kind(at_) == TokenKind::kInteger || tokens_.kind(at_) == TokenKind::kLocal);
      amount.token = static_cast<std::uint32_t>(at_);
      if (is_value && tokens_.kind(at_) == TokenKind::kInteger && tokens_.text(at_)[0] == '-')
        return complain("an amount of a budget cannot be negative");
      if (at_ < end_ && tokens_.is_word(at_, "all"))
        amount.value = "-1";
      else if (is_value)
        amount.value = tokens_.text(at_);
      else
        return complain("the amount is missing: a number, a value or `all`");
      ++at_;
      if (skip(',')) {
        if (tokens_.is_punctuation(at_, ')')) return complain("a component of a budget is missing behind the comma");
      } else if (!tokens_.is_punctuation(at_, ')')) {
        return complain("a closing parenthesis is missing");
      }
    }
    use_.nursery.has_budget = true;
    return true;
  }

  // Metadata attachments; the call that replaces the opcode gets them.
  bool trailer() {
    if (at_ >= end_) return true;
    if (!is_at_end()) return complain("unexpected '" + std::string(tokens_.text(at_)) + "' behind the operands");
    use_.attachments = tokens_.range(at_, end_);
    return true;
  }

  const Tokens& tokens_;
  std::size_t at_;
  std::size_t end_;
  OpcodeUse use_;
};

}  // namespace

std::optional<OpcodeUse> parse_opcode(const Tokens& tokens, const Instruction& instruction) {
  return OpcodeParser(tokens, instruction).run();
}

std::string debug_location(const Tokens& tokens, const Instruction& instruction) {
  for (std::size_t i = instruction.end; i > instruction.mnemonic + 1; --i)
    if (tokens.kind(i - 1) == TokenKind::kMetadata && tokens.text(i - 1) == "!dbg" &&
        tokens.kind(i) == TokenKind::kMetadata && tokens.text(i).size() > 1)
      return ", !dbg " +
             std::string(tokens.range(i, tokens.is_punctuation(i + 1, '(') ? tokens.behind_group(i + 1) : i + 1));
  return "";
}

}  // namespace janus::lower
