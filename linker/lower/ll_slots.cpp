// SPDX-License-Identifier: Apache-2.0
#include "ll_slots.h"

#include "types.h"

namespace janus::lower {

Slots::Slots(const Tokens& tokens, const Function& function) : tokens_(tokens) {
  for (const Instruction& one : function.instructions)
    if (one.has_result && tokens.is_word(one.mnemonic, "alloca")) slots_.try_emplace(tokens.name(one.first));
  if (slots_.empty()) return;
  for (const Instruction& one : function.instructions) read(one);
}

const std::vector<std::uint32_t>* Slots::stored_to_source_of(const Instruction& load) const {
  const auto found = access(load);
  if (!found) return nullptr;
  const auto slot = slots_.find(tokens_.name(found->address));
  return slot == slots_.end() || !slot->second.is_private ? nullptr : &slot->second.stored;
}

// Records what the instruction stores in a variable. If a variable is used by anything else than a load or store of an
// i64, except what only describes it, its address may be passed on, so it is not private then.
void Slots::read(const Instruction& one) {
  const auto found = access(one);
  const bool is_store = tokens_.is_word(one.mnemonic, "store");
  for (std::size_t i = one.has_result ? one.first + 1 : one.first; i < one.end; ++i) {
    if (tokens_.kind(i) != TokenKind::kLocal) continue;
    const auto slot = slots_.find(tokens_.name(i));
    if (slot == slots_.end()) continue;
    if (found && i == found->address) {
      if (is_store) slot->second.stored.push_back(static_cast<std::uint32_t>(found->value));
    } else if (!only_describes(one)) {
      slot->second.is_private = false;
    }
  }
}

// Parses a load or store of an i64 at an address that has a name: `[atomic] [volatile] i64`, and for a store the value.
std::optional<Slots::Access> Slots::access(const Instruction& one) const {
  const bool is_store = tokens_.is_word(one.mnemonic, "store");
  if (!is_store && !tokens_.is_word(one.mnemonic, "load")) return std::nullopt;
  std::size_t i = one.mnemonic + 1;
  while (i < one.end && (tokens_.is_word(i, "atomic") || tokens_.is_word(i, "volatile"))) ++i;
  const auto type = parse_type(tokens_, i);
  if (!type || type->text != "i64") return std::nullopt;
  Access access{type->end, 0};
  const std::size_t comma = is_store ? type->end + 1 : type->end;
  if (!tokens_.is_punctuation(comma, ',')) return std::nullopt;
  const auto pointer = parse_type(tokens_, comma + 1);
  if (!pointer || pointer->end >= one.end || tokens_.kind(pointer->end) != TokenKind::kLocal) return std::nullopt;
  access.address = pointer->end;
  return access;
}

// Whether the instruction only serves debuggers, or marks the beginning or end of a variable's life.
bool Slots::only_describes(const Instruction& one) const {
  if (tokens_.kind(one.mnemonic) == TokenKind::kAttribute) return true;  // #dbg_declare
  if (!tokens_.is_word(one.mnemonic, "call")) return false;
  for (std::size_t i = one.mnemonic; i < one.end; ++i)
    if (tokens_.kind(i) == TokenKind::kGlobal) {
      const std::string_view name = tokens_.name(i);
      return name.substr(0, 9) == "llvm.dbg." || name.substr(0, 14) == "llvm.lifetime.";
    }
  return false;
}

}  // namespace janus::lower
