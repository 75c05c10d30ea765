// SPDX-License-Identifier: Apache-2.0
#include "ll_handles.h"

#include <set>
#include <vector>

namespace janus::lower {

std::optional<HandleKind> HandleKinds::kind_of(const Operand& operand) {
  const Tokens& tokens = rewrite_.tokens;
  const LocalTypes& types = rewrite_.types();
  std::optional<HandleKind> kind;
  std::set<std::string> seen;
  std::vector<std::string> to_visit{operand.value};
  while (!to_visit.empty()) {
    const std::string value = to_visit.back();
    to_visit.pop_back();
    if (!seen.insert(value).second) continue;
    if (value.empty() || value[0] != '%') {
      if (value == "0" && seen.size() > 1) continue;  // no task on this path
      rewrite_.error(operand.token, "a join of what is no task: " + value);
      return std::nullopt;
    }
    const Instruction* const definition = types.definition(value);
    if (definition == nullptr) {
      if (!types.is_parameter(value) && value.find_first_not_of("%0123456789") != std::string::npos)
        rewrite_.error(operand.token, "unknown value " + value);
      continue;
    }
    const std::string_view mnemonic = tokens.text(definition->mnemonic);
    if (const auto opcode = opcode_of(mnemonic); opcode && makes_task(*opcode)) {
      if (!meet(kind_made_by(*definition, *opcode), kind, operand)) return std::nullopt;
    } else if (const auto known = known_.find(value); known != known_.end()) {
      if (!meet(known->second, kind, operand)) return std::nullopt;
    } else if (mnemonic == "phi" || mnemonic == "select" || mnemonic == "freeze") {
      for (std::size_t i = definition->mnemonic + 1; i < definition->end; ++i) {
        const bool is_incoming = mnemonic == "phi"
                                     ? tokens.is_punctuation(i - 1, '[')
                                     : tokens.kind(i - 1) == TokenKind::kWord && tokens.text(i - 1) == "i64";
        if (is_incoming) to_visit.emplace_back(tokens.text(i));
      }
    } else if (mnemonic != "load" && mnemonic != "call" && mnemonic != "invoke" && mnemonic != "extractvalue" &&
               mnemonic != "extractelement" && mnemonic != "tail") {
      rewrite_.error(operand.token,
                     "a join of what is no task: " + value + " is the result of " + std::string(mnemonic));
      return std::nullopt;
    }
  }
  if (kind) known_.emplace(operand.value, *kind);
  return kind;
}

// Whether what a handle was made as on one path is what it was made as on the others.
bool HandleKinds::meet(const std::optional<HandleKind>& made, std::optional<HandleKind>& kind, const Operand& operand) {
  if (made && kind && (made->handle != kind->handle || made->result != kind->result)) {
    rewrite_.error(operand.token,
                   "tasks with results of different types meet here: " + made->result + " and " + kind->result);
    return false;
  }
  if (made) kind = made;
  return true;
}

std::optional<HandleKind> HandleKinds::kind_made_by(const Instruction& definition, Opcode opcode) const {
  const Tokens& tokens = rewrite_.tokens;
  for (std::size_t i = definition.mnemonic + 1; i < definition.end; ++i) {
    if (tokens.kind(i) != TokenKind::kGlobal) continue;
    const auto found = rewrite_.module.module.signatures.find(tokens.name(i));
    if (found == rewrite_.module.module.signatures.end()) return std::nullopt;
    return HandleKind{opcode == Opcode::kAsyncCall ? Handle::kChannel : handle_for(found->second.result),
                      found->second.result};
  }
  return std::nullopt;
}

}  // namespace janus::lower
