// SPDX-License-Identifier: Apache-2.0
// ll_rewrite.h — a module and one of its functions while they are rewritten: the state that all rewriting code shares.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "dominators.h"
#include "edits.h"
#include "helpers.h"
#include "ll_module.h"
#include "ll_opcodes.h"
#include "ll_types.h"
#include "nursery_flow.h"

namespace janus::lower {

struct ModuleRewrite {
  Source& source;
  const Tokens& tokens;
  const Module& module;
  Helpers& helpers;
  Edits edits;
  std::string profile;
  bool inserts_checks;
  std::size_t names = 0;

  std::string fresh(std::string_view what) {
    return "%" + helpers.prefix() + std::string(what) + std::to_string(names++);
  }
};

// An opcode in a function.
struct OpcodeAt {
  std::uint32_t instruction;
  OpcodeUse opcode;
  FlowEvent* event = nullptr;  // filled in if the opcode takes part in the flow of nurseries
  std::uint32_t site = 0;      // of a Nursery_Begin

  // Whether control flow from the entry reaches the opcode. If not, the opcode is never executed.
  bool is_reached() const { return event->is_reached; }
};

class FunctionRewrite {
 public:
  FunctionRewrite(ModuleRewrite& rewrite, const Function& what)
      : module(rewrite), tokens(rewrite.tokens), helpers(rewrite.helpers), function(what) {}

  ModuleRewrite& module;
  const Tokens& tokens;
  Helpers& helpers;
  const Function& function;

  const Instruction& instruction(std::uint32_t i) const { return function.instructions[i]; }
  // Made at the first call: most functions have no opcode.
  const LocalTypes& types();
  void error(std::size_t token, const std::string& message) { module.source.error(tokens.begin_of(token), message); }
  // Reports an operand that is not of the type, or not a value of this function. `what` is the operand's name in the
  // message. Returns whether the operand is right.
  bool check_type(const Operand& operand, const std::string& type, const std::string& what);

  // Reports operands whose definitions are not on every path to the opcode.
  void check_definitions(const OpcodeAt& use);

  // The five components of the opcode's budget as arguments; nothing if it has none.
  std::string budget_arguments(const OpcodeAt& use);

  // Replaces the opcode by a call, with the lines `before` ahead of it. `%x =` is kept. If the opcode has no result
  // name, the call's result is called `result`, unless `result` is empty.
  void put(const OpcodeAt& use, const std::string& text, std::string_view result = "unused",
           const std::string& before = "");
  void put_lines(const OpcodeAt& use, const std::string& text);
  void insert_before(std::uint32_t i, const std::string& text) {
    module.edits.insert(tokens.begin_of(instruction(i).first), text);
  }

  // A variable of the whole function, initially zero.
  std::string local(const std::string& type, std::string_view what);
  // A variable for an operand that is given to a helper in memory, or for a result. `number` distinguishes the
  // variables of one opcode.
  const std::string& place_for(const std::string& type, std::size_t number);
  // Writes the beginning of the entry block: the variables, and then `text`.
  void write_entry(const std::string& text);

  // Whether the instruction leaves the function: by its end, or by an exception that a caller gets.
  bool leaves(const Instruction& one) const {
    return tokens.is_word(one.mnemonic, "ret") || tokens.is_word(one.mnemonic, "resume");
  }

 private:
  void check_definition(const Operand& operand, std::uint32_t use);
  std::uint32_t block_of(std::uint32_t instruction) const;

  std::optional<LocalTypes> types_;
  std::optional<Dominators> dominators_;  // made at the first operand from another block
  std::map<std::pair<std::string, std::size_t>, std::string> places_;
  std::string entry_;
};

}  // namespace janus::lower
