// SPDX-License-Identifier: Apache-2.0
#include "ll_checks.h"

#include "back_edges.h"
#include "runtime_names.h"
#include "types.h"

namespace janus::lower {

void YieldChecks::insert() {
  const Function& function = rewrite_.function;
  Helpers& helpers = rewrite_.helpers;
  const auto back = blocks_with_back_edges(static_cast<std::uint32_t>(function.blocks.size()),
                                           [&function](std::uint32_t block) -> const std::vector<std::uint32_t>& {
                                             return function.blocks[block].successors;
                                           });
  for (std::uint32_t b = 0; b < function.blocks.size(); ++b) {
    const Block& block = function.blocks[b];
    for (std::uint32_t i = block.first; i < block.end; ++i)
      if (is_checked_call(rewrite_.instruction(i))) before(i, helpers.check(), "i64 1");
    if (!back[b] || rewrite_.tokens.is_word(rewrite_.instruction(block.end - 1).mnemonic, "catchswitch")) continue;
    if (function.is_coroutine) {
      before(block.end - 1, helpers.check(), "i64 1");
      continue;
    }
    if (counter_.empty()) counter_ = rewrite_.local("i32", "counter");
    before(block.end - 1, helpers.loop_check(), helpers.pointer_to("i32") + " " + counter_);
  }
}

void YieldChecks::before(std::uint32_t i, const std::string& helper, const std::string& argument) {
  rewrite_.insert_before(i, rewrite_.module.fresh("check") + " = call i32 " + helper + "(" + argument + ")" +
                                debug_location(rewrite_.tokens, rewrite_.instruction(i)) + "\n  ");
}

// The token at which a call's callee begins: after flags, calling convention, attributes, and the type of the result or
// function.
std::size_t YieldChecks::callee_of(const Instruction& one) const {
  const Tokens& tokens = rewrite_.tokens;
  std::size_t i = one.mnemonic + 1;
  while (i < one.end && !begins_type(tokens, i)) {
    ++i;
    if (tokens.is_punctuation(i, '(')) i = tokens.behind_group(i);
  }
  const auto type = parse_type(tokens, i);
  return type ? type->end : i;
}

// Whether the instruction calls a function that needs a check before it. Intrinsics, inline assembly and the runtime's
// functions, which are checks themselves, do not.
bool YieldChecks::is_checked_call(const Instruction& one) const {
  const Tokens& tokens = rewrite_.tokens;
  const std::string_view mnemonic = tokens.text(one.mnemonic);
  if (mnemonic != "call" && mnemonic != "invoke" && mnemonic != "callbr") return false;
  const std::size_t callee = callee_of(one);
  if (tokens.is_word(callee, "asm")) return false;
  // The callee may be a constant expression that contains a function: bitcast (void ()* @f to void (i8*)*).
  std::size_t end = callee + 1;
  if (tokens.kind(callee) == TokenKind::kWord)
    end = tokens.is_punctuation(callee + 1, '(') ? tokens.behind_group(callee + 1) : callee + 2;
  for (std::size_t i = callee; i < end && i < one.end; ++i)
    if (tokens.kind(i) == TokenKind::kGlobal) return is_checked_function(tokens.name(i));
  return true;
}

bool YieldChecks::is_checked_function(std::string_view name) const {
  if (name.substr(0, 5) == "llvm.") return false;
  const bool is_own = rewrite_.module.module.definitions.contains(name);
  if (name.substr(0, 1) == "\x01") name.remove_prefix(1);
  return is_own || !is_of_runtime(name);
}

std::string YieldChecks::at_return(const std::string& place) {
  return rewrite_.module.fresh("check") + " = call i32 " + rewrite_.helpers.loop_end() + "(" +
         rewrite_.helpers.pointer_to("i32") + " " + counter_ + ")" + place + "\n  ";
}

}  // namespace janus::lower
