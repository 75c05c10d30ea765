// SPDX-License-Identifier: Apache-2.0
#include "ll_handles.h"

#include <algorithm>

namespace janus::lower {
namespace {

// Whether the token is a value of type i64 with its type before it, in a select or freeze.
bool is_behind_type(const Tokens& tokens, std::size_t i) {
  const TokenKind kind = tokens.kind(i - 1);
  if (kind != TokenKind::kLocal) return kind == TokenKind::kWord && tokens.text(i - 1) == "i64";
  const auto alias = tokens.type_aliases.find(tokens.name(i - 1));
  return alias != tokens.type_aliases.end() && alias->second == "i64" && tokens.kind(i) != TokenKind::kPunctuation;
}

}  // namespace

HandleKinds::Answer HandleKinds::kind_of(const Operand& operand) {
  const std::string& value = operand.value;
  if (value.empty() || value[0] != '%') {
    rewrite_.error(operand.token, "a join of what is no task: " + value);
    return {false, std::nullopt, false};
  }
  const Instruction* const definition = rewrite_.types().definition(value);
  if (definition == nullptr) {
    if (!rewrite_.types().is_unknown(value)) return {true, std::nullopt, false};
    rewrite_.error(operand.token, "unknown value " + value);
    return {false, std::nullopt, false};
  }
  const Found& found = follow(index_of(*definition));
  if (!found.error.empty()) {
    rewrite_.error(operand.token, found.error);
    return {false, std::nullopt, false};
  }
  return {true, found.kind, found.kind && !found.has_others};
}

bool HandleKinds::may_be_async(const Operand& operand) {
  const Instruction* const definition = rewrite_.types().definition(operand.value);
  return definition != nullptr && follow(index_of(*definition)).has_async;
}

const Slots& HandleKinds::slots() {
  if (!slots_) slots_.emplace(rewrite_.tokens, rewrite_.function);
  return *slots_;
}

// Tarjan's algorithm for strongly connected components: values that depend on each other get the same answer, which is
// found for all of them together.
const HandleKinds::Found& HandleKinds::follow(std::uint32_t root) {
  struct Step {
    std::uint32_t value, low;
    std::vector<std::uint32_t> sources;
    std::size_t next;
    Found found;
  };
  std::vector<Step> path;
  std::vector<std::uint32_t> open;  // values that are entered and not known
  const auto enter = [&](std::uint32_t value) {
    const auto order = static_cast<std::uint32_t>(open.size());
    order_[value] = order;
    open.push_back(value);
    path.push_back({value, order, {}, 0, {}});
    path.back().found = read(value, path.back().sources);
  };
  if (const auto known = known_.find(root); known != known_.end()) return known->second;
  enter(root);
  while (true) {
    Step& step = path.back();
    if (step.next < step.sources.size()) {
      const std::uint32_t source = step.sources[step.next++];
      if (const auto known = known_.find(source); known != known_.end())
        meet(known->second, step.found);
      else if (const auto entered = order_.find(source); entered != order_.end())
        step.low = std::min(step.low, entered->second);
      else
        enter(source);
      continue;
    }
    const Step done = std::move(path.back());
    path.pop_back();
    if (done.low == order_.at(done.value)) {
      std::uint32_t value = kNoIndex;
      do {
        value = open.back();
        open.pop_back();
        order_.erase(value);
        known_.emplace(value, done.found);
      } while (value != done.value);
    }
    if (path.empty()) return known_.at(root);
    path.back().low = std::min(path.back().low, done.low);
    meet(done.found, path.back().found);
  }
}

// What the instruction alone tells of its result. Adds the instructions of this function from which the result takes
// the handle to `sources`.
HandleKinds::Found HandleKinds::read(std::uint32_t value, std::vector<std::uint32_t>& sources) {
  const Tokens& tokens = rewrite_.tokens;
  const Instruction& definition = rewrite_.instruction(value);
  const std::string_view mnemonic = tokens.text(definition.mnemonic);
  Found found;
  if (const auto opcode = opcode_of(mnemonic); opcode && makes_task(*opcode)) {
    found.kind = kind_made_by(definition, *opcode);
    found.has_async = *opcode == Opcode::kAsyncCall;
    return found;
  }
  if (mnemonic == "phi" || mnemonic == "select" || mnemonic == "freeze") {
    for (std::size_t i = definition.mnemonic + 1; i < definition.end; ++i) {
      const bool is_incoming = mnemonic == "phi" ? tokens.is_punctuation(i - 1, '[') : is_behind_type(tokens, i);
      if (is_incoming) read_source(tokens.text(i), sources, found);
    }
  } else if (mnemonic == "load") {
    found.is_variable = true;
    const auto* const stored = slots().stored_to_source_of(definition);
    found.has_others = stored == nullptr;
    if (stored != nullptr)
      for (const std::uint32_t token : *stored)
        if (tokens.kind(token) == TokenKind::kLocal) read_source(tokens.text(token), sources, found);
  } else if (mnemonic == "atomicrmw") {
    found.has_others = true;
    const std::size_t operation = definition.mnemonic + (tokens.is_word(definition.mnemonic + 1, "volatile") ? 2 : 1);
    if (!tokens.is_word(operation, "xchg"))
      found.error = "a join of what is no task: " + std::string(tokens.text(definition.first)) +
                    " is the result of atomicrmw " + std::string(tokens.text(operation));
  } else if (mnemonic == "call" || mnemonic == "invoke" || mnemonic == "extractvalue" || mnemonic == "extractelement") {
    found.has_others = true;
  } else {
    found.error = "a join of what is no task: " + std::string(tokens.text(definition.first)) + " is the result of " +
                  std::string(mnemonic);
  }
  return found;
}

void HandleKinds::read_source(std::string_view value, std::vector<std::uint32_t>& sources, Found& found) {
  if (value == "0" || value == "undef" || value == "poison") return;  // no task on this path
  if (value.empty() || value[0] != '%') {
    if (found.error.empty()) found.error = "a join of what is no task: " + std::string(value);
  } else if (const Instruction* const definition = rewrite_.types().definition(value)) {
    sources.push_back(index_of(*definition));
  } else if (!rewrite_.types().is_unknown(value)) {
    found.has_others = true;
  } else if (found.error.empty()) {
    found.error = "unknown value " + std::string(value);
  }
}

// Combines what is known from two paths. The kinds of a handle must be the same on all paths, except for a variable,
// which may have been used for other handles before.
void HandleKinds::meet(const Found& other, Found& found) {
  if (!found.error.empty()) return;
  found.has_async |= other.has_async;
  found.has_others |= other.has_others;
  if (!found.is_variable) found.error = other.error;
  const bool differs = found.kind && other.kind && !are_same(*found.kind, *other.kind);
  if (differs && !found.is_variable)
    found.error =
        "tasks with results of different types meet here: " + found.kind->result + " and " + other.kind->result;
  found.is_mixed |= other.is_mixed || differs;
  if (found.is_mixed)
    found.kind.reset();
  else if (other.kind)
    found.kind = other.kind;
}

std::optional<HandleKind> HandleKinds::kind_made_by(const Instruction& definition, Opcode opcode) const {
  const Tokens& tokens = rewrite_.tokens;
  for (std::size_t i = definition.mnemonic + 1; i < definition.end; ++i) {
    if (tokens.kind(i) != TokenKind::kGlobal) continue;
    const auto found = rewrite_.module.module.callables.find(tokens.name(i));
    if (found == rewrite_.module.module.callables.end()) return std::nullopt;
    const std::string& result = found->second.signature->result;
    return HandleKind{opcode == Opcode::kAsyncCall ? Handle::kChannel : handle_for(result), result};
  }
  return std::nullopt;
}

}  // namespace janus::lower
