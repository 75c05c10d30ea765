// SPDX-License-Identifier: Apache-2.0
#include "ll_types.h"

#include <array>

#include "opcodes.h"
#include "types.h"
#include "words.h"

namespace janus::lower {
namespace {

constexpr std::array<std::string_view, 18> kArithmetic = {"add",  "sub",  "mul",  "udiv", "sdiv", "urem",
                                                          "srem", "and",  "or",   "xor",  "shl",  "lshr",
                                                          "ashr", "fadd", "fsub", "fmul", "fdiv", "frem"};
constexpr std::array<std::string_view, 12> kCasts = {"trunc",  "zext",   "sext",   "fptrunc",  "fpext",    "fptoui",
                                                     "fptosi", "uitofp", "sitofp", "ptrtoint", "inttoptr", "bitcast"};

}  // namespace

LocalTypes::LocalTypes(const Tokens& tokens, const Function& function) : tokens_(tokens), function_(function) {
  for (std::uint32_t i = 0; i < function.parameter_names.size(); ++i)
    if (function.parameter_names[i] != kNoIndex) parameters_.emplace(tokens.name(function.parameter_names[i]), i);
  for (std::uint32_t i = 0; i < function.instructions.size(); ++i)
    if (function.instructions[i].has_result) definitions_.emplace(tokens.name(function.instructions[i].first), i);
}

const Instruction* LocalTypes::definition(std::string_view written) const {
  const auto found = definitions_.find(name_of_local(written));
  return found == definitions_.end() ? nullptr : &function_.instructions[found->second];
}

bool LocalTypes::is_parameter(std::string_view written) const {
  return parameters_.contains(name_of_local(written));
}

bool LocalTypes::is_unknown(std::string_view written) const {
  return !written.empty() && written[0] == '%' && definition(written) == nullptr && !is_parameter(written) &&
         name_of_local(written).find_first_not_of("0123456789") != std::string::npos;
}

std::optional<std::string> LocalTypes::type_of(std::string_view written) const {
  if (const auto parameter = parameters_.find(name_of_local(written)); parameter != parameters_.end())
    return function_.signature.parameters[parameter->second].type;
  const Instruction* const instruction = definition(written);
  return instruction == nullptr ? std::nullopt : result_type(*instruction);
}

std::optional<std::string> LocalTypes::result_type(const Instruction& instruction) const {
  const std::string_view mnemonic = tokens_.text(instruction.mnemonic);
  std::size_t i = instruction.mnemonic + 1;
  if (const auto opcode = opcode_of(mnemonic)) {
    if (makes_task(*opcode)) return "i64";
    return std::nullopt;
  }
  if (contains(kCasts, mnemonic)) {
    for (i = instruction.end; i > instruction.mnemonic; --i)
      if (tokens_.is_word(i - 1, "to")) {
        const auto type = parse_type(tokens_, i);
        return type ? std::optional(type->text) : std::nullopt;
      }
    return std::nullopt;
  }
  if (mnemonic == "select") {  // the condition, and two values of one type
    while (i < instruction.end && !tokens_.is_punctuation(i, ','))
      i = tokens_.opens_group(i) ? tokens_.behind_group(i) : i + 1;
    const auto type = parse_type(tokens_, i + 1);
    return i < instruction.end && type ? std::optional(type->text) : std::nullopt;
  }
  const bool tells_first = contains(kArithmetic, mnemonic) || mnemonic == "fneg" || mnemonic == "load" ||
                           mnemonic == "phi" || mnemonic == "freeze" || mnemonic == "icmp" || mnemonic == "fcmp" ||
                           mnemonic == "call" || mnemonic == "invoke" || mnemonic == "alloca";
  if (!tells_first) return std::nullopt;
  // Flags, orderings, attributes and conventions stand before the type.
  while (i < instruction.end && !begins_type(tokens_, i)) {
    ++i;
    if (i < instruction.end && tokens_.is_punctuation(i, '(')) i = tokens_.behind_group(i);
  }
  if (i >= instruction.end) return std::nullopt;
  const auto type = parse_type(tokens_, i);
  if (!type) return std::nullopt;
  if (mnemonic == "icmp" || mnemonic == "fcmp")
    return type->text.find('<') == std::string::npos ? std::optional<std::string>("i1") : std::nullopt;
  if (mnemonic == "alloca") return std::nullopt;
  if (type->result) return type->result;
  return type->text;
}

}  // namespace janus::lower
