// SPDX-License-Identifier: Apache-2.0
#include "ll_body.h"

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opcodes.h"
#include "types.h"
#include "words.h"

namespace janus::lower {
namespace {

// Words that begin an instruction without a result name. They never occur inside an instruction.
constexpr std::array<std::string_view, 14> kStarters = {"ret",         "br",     "switch",  "indirectbr", "resume",
                                                        "unreachable", "store",  "fence",   "cleanupret", "catchret",
                                                        "invoke",      "callbr", "cmpxchg", "atomicrmw"};
constexpr std::array<std::string_view, 10> kTerminators = {
    "ret", "br", "switch", "indirectbr", "invoke", "resume", "unreachable", "cleanupret", "catchret", "callbr"};
// Words that begin an instruction with a result whose name may be missing. Most of them also occur in constant
// expressions.
// clang-format off
constexpr std::array<std::string_view, 52> kUnnamedValues = {
    "add", "addrspacecast", "alloca", "and", "ashr", "atomicrmw", "bitcast", "catchpad", "catchswitch", "cleanuppad",
    "cmpxchg", "extractelement", "extractvalue", "fadd", "fcmp", "fdiv", "fmul", "fneg", "fpext", "fptosi", "fptoui",
    "fptrunc", "freeze", "frem", "fsub", "getelementptr", "icmp", "insertelement", "insertvalue", "inttoptr",
    "landingpad", "load", "lshr", "mul", "or", "phi", "ptrtoint", "sdiv", "select", "sext", "shl", "shufflevector",
    "sitofp", "srem", "sub", "trunc", "udiv", "uitofp", "urem", "va_arg", "xor", "zext",
};
// clang-format on

bool is_terminator(std::string_view mnemonic) {
  return contains(kTerminators, mnemonic) || mnemonic == "catchswitch";
}

// Reads the body in one pass, from its { to after its }.
class Body {
 public:
  Body(const Tokens& tokens, Function& function) : tokens_(tokens), at_(function.body), function_(function) {}

  // Returns the token after the body.
  std::size_t run() {
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
      if (kind == TokenKind::kGlobal && tokens_.text(at_) == "@llvm.coro.begin") function_.is_coroutine = true;
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
    return at_;
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
  // Whether `word` begins an instruction: it is at the beginning of a line and does not begin a constant expression.
  bool begins_unnamed_value(std::string_view word) const {
    return contains(kUnnamedValues, word) && !tokens_.is_punctuation(at_ + 1, '(') &&
           !tokens_.is_punctuation(at_ + 2, '(') && begins_line();
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

  // ---- Numbers: a value or block without a name has the next number, even if it is not written ----------------------

  // Counts the value or block whose name is at `token`; kNoIndex: it has no name.
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
    if (contains(kUnnamedValues, word)) return true;
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

  // Fills in the successors of each block: the blocks that its terminator names as `label %x`.
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
  std::size_t at_;
  Function& function_;
  std::unordered_map<std::uint32_t, std::uint32_t> by_number_;  // the blocks with implicit labels
  std::uint32_t next_number_ = 0, number_of_entry_ = 0;
};

}  // namespace

std::size_t parse_body(const Tokens& tokens, Function& function) {
  return Body(tokens, function).run();
}

}  // namespace janus::lower
