// SPDX-License-Identifier: Apache-2.0
// ll_opcodes.h — the operands of an opcode in a line of LLVM IR.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "helpers.h"
#include "ll_module.h"
#include "opcodes.h"

namespace janus::lower {

struct Operand {
  std::string type;  // empty if not written
  std::string value;
  std::uint32_t token = 0;
  std::string refused;  // an attribute that makes the argument more than a value
};

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kBudgetComponents = {
    {{"ops", "i32"}, {"memory", "i64"}, {"spawn_count", "i16"}, {"channel_ops", "i16"}, {"syscalls", "i16"}}};
// Each component's operand has the component's type. Its value is empty if the component is not given.
using BudgetOperands = std::array<Operand, 5>;

struct OpcodeUse {
  Opcode opcode;
  std::uint32_t function = kNoIndex;  // token of the task's function
  std::string type;                   // of the result, empty where none is written
  std::vector<Operand> operands;
  std::unique_ptr<BudgetOperands> budget;  // if one is given
  NurseryOptions nursery;
  std::string attachments;  // ", !dbg !5"
};

// Reports errors and then returns nothing.
std::optional<OpcodeUse> parse_opcode(const Tokens& tokens, const Instruction& instruction);

// The `, !dbg !5` of an instruction, or nothing.
std::string debug_location(const Tokens& tokens, const Instruction& instruction);

}  // namespace janus::lower
