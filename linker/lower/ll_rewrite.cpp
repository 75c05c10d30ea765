// SPDX-License-Identifier: Apache-2.0
#include "ll_rewrite.h"

#include <algorithm>

#include "types.h"

namespace janus::lower {

const LocalTypes& FunctionRewrite::types() {
  if (!types_) types_.emplace(tokens, function);
  return *types_;
}

bool FunctionRewrite::check_type(const Operand& operand, const std::string& type, const std::string& what) {
  std::string given = operand.type;
  if (given.empty() || given == type)
    if (const auto told = types().type_of(operand.value); told && operand.value[0] == '%') given = *told;
  bool is_right = true;
  const auto complain = [&](const std::string& message) {
    is_right = false;
    error(operand.token, message);
  };
  if (!given.empty() && given != type) complain(what + " is of type " + given + ", not " + type);
  const unsigned width = integer_width(type);
  const bool is_number = operand.value.find_first_not_of("-0123456789") == std::string::npos;
  if (is_number && width != 0 && width <= kMaxFitWidth && !fits(operand.value, width))
    complain(operand.value + " does not fit into " + type);
  if (types().is_unknown(operand.value)) complain("unknown value " + operand.value);
  return is_right;
}

void FunctionRewrite::check_definitions(const OpcodeAt& use) {
  for (const Operand& operand : use.opcode.operands) check_definition(operand, use.instruction);
  if (!use.opcode.budget) return;
  for (const Operand& amount : *use.opcode.budget) check_definition(amount, use.instruction);
}

void FunctionRewrite::check_definition(const Operand& operand, std::uint32_t use) {
  if (operand.value.empty() || operand.value[0] != '%') return;
  const Instruction* const definition = types().definition(operand.value);
  if (definition == nullptr) return;
  const auto defined = static_cast<std::uint32_t>(definition - function.instructions.data());
  const std::uint32_t from = block_of(defined), to = block_of(use);
  if (from != to && !dominators_) dominators_.emplace(function.blocks);
  if (from == to ? defined < use : dominators_->dominates(from, to)) return;
  error(operand.token, operand.value + " is not defined on every path to here: its definition is in line " +
                           std::to_string(module.source.line_of(tokens.begin_of(definition->first))));
}

std::uint32_t FunctionRewrite::block_of(std::uint32_t instruction) const {
  const auto behind = std::upper_bound(function.blocks.begin(), function.blocks.end(), instruction,
                                       [](std::uint32_t number, const Block& block) { return number < block.first; });
  return static_cast<std::uint32_t>(behind - function.blocks.begin() - 1);
}

std::string FunctionRewrite::budget_arguments(const OpcodeAt& use) {
  std::string list;
  if (!use.opcode.budget) return list;
  for (std::size_t i = 0; i < kBudgetComponents.size(); ++i) {
    const auto& [name, type] = kBudgetComponents[i];
    const Operand& amount = (*use.opcode.budget)[i];
    if (!amount.value.empty()) check_type(amount, std::string(type), std::string(name));
    list.append(i == 0 ? "" : ", ").append(type).append(" ").append(amount.value.empty() ? "0" : amount.value);
  }
  return list;
}

void FunctionRewrite::put(const OpcodeAt& use, const std::string& text, std::string_view result,
                          const std::string& before) {
  const Instruction& one = instruction(use.instruction);
  const std::string name = one.has_result   ? std::string(tokens.text(one.first))
                           : result.empty() ? ""
                                            : module.fresh(result);
  put_lines(use, before + (name.empty() ? "" : name + " = ") + text + use.opcode.attachments);
}

void FunctionRewrite::put_lines(const OpcodeAt& use, const std::string& text) {
  const Instruction& one = instruction(use.instruction);
  module.edits.replace(tokens.begin_of(one.first), tokens.end_of(one.end - 1), text);
}

std::string FunctionRewrite::local(const std::string& type, std::string_view what) {
  std::string name = module.fresh(what);
  const std::string zero = is_pointer(type) ? "null" : integer_width(type) != 0 ? "0" : "zeroinitializer";
  entry_ += name + " = alloca " + type + "\n  store " + type + " " + zero + ", " + helpers.pointer_to(type) + " " +
            name + "\n  ";
  return name;
}

const std::string& FunctionRewrite::place_for(const std::string& type, std::size_t number) {
  std::string& place = places_[{type, number}];
  if (place.empty()) place = local(type, "place");
  return place;
}

void FunctionRewrite::write_entry(const std::string& text) {
  if (entry_.empty() && text.empty()) return;
  const Block& entry = function.blocks[0];
  const std::size_t at = entry.label != kNoIndex ? tokens.end_of(entry.label) : tokens.end_of(function.body);
  module.edits.insert(at, "\n  " + entry_ + text);
}

}  // namespace janus::lower
