// SPDX-License-Identifier: Apache-2.0
#include "ll_checks.h"

#include <algorithm>

#include "loops.h"
#include "runtime_names.h"
#include "types.h"

namespace janus::lower {

void YieldChecks::insert() {
  const Function& function = rewrite_.function;
  Helpers& helpers = rewrite_.helpers;
  const Loops loops(
      static_cast<std::uint32_t>(function.blocks.size()),
      [&function](std::uint32_t block) -> const Loops::Targets& { return function.blocks[block].successors; });
  for (std::uint32_t b = 0; b < function.blocks.size(); ++b) {
    const Block& block = function.blocks[b];
    for (std::uint32_t i = block.first; i < block.end; ++i)
      if (is_checked_call(rewrite_.instruction(i))) before(i, helpers.check(), "i64 1");
    const std::vector<bool> ends = loops.iteration_ends(b, 0);
    if (ends.empty() || rewrite_.tokens.is_word(rewrite_.instruction(block.end - 1).mnemonic, "catchswitch")) continue;
    if (function.is_coroutine) {
      before(block.end - 1, helpers.check(), "i64 " + iterations(block.end - 1, ends, "i64"));
      continue;
    }
    if (counter_.empty()) counter_ = rewrite_.local("i32", "counter");
    before(block.end - 1, helpers.loop_check(),
           helpers.pointer_to("i32") + " " + counter_ + ", i32 " + iterations(block.end - 1, ends, "i32"));
  }
}

// A value of the type: 1 if the instruction is going to take an edge that ends an iteration, or else 0. Which edge an
// invoke, a callbr or an indirectbr takes is not known before; it counts as an end of an iteration.
std::string YieldChecks::iterations(std::uint32_t i, const std::vector<bool>& ends, const std::string& type) {
  const Tokens& tokens = rewrite_.tokens;
  const Instruction& one = rewrite_.instruction(i);
  const bool is_switch = tokens.is_word(one.mnemonic, "switch");
  if (std::find(ends.begin(), ends.end(), false) == ends.end() || (!is_switch && !tokens.is_word(one.mnemonic, "br")))
    return "1";
  std::string condition;
  if (is_switch) {
    condition = rewrite_.module.fresh("ends");
    rewrite_.insert_before(
        i, condition + " = call i1 " + end_of_iteration(one, ends) + debug_location(tokens, one) + "\n  ");
    condition = "i1 " + condition;
  } else {
    condition = std::string(tokens.range(one.mnemonic + 1, tokens.first_word(one.mnemonic + 1, "label") - 1));
  }
  const bool is_first = is_switch || ends[0];
  std::string count = rewrite_.module.fresh("iterations");
  rewrite_.insert_before(i, count + " = select " + condition + ", " + type + (is_first ? " 1, " : " 0, ") + type +
                                (is_first ? " 0" : " 1") + "\n  ");
  return count;
}

// A call, without the type of its result, of a helper that has the same cases as the switch.
std::string YieldChecks::end_of_iteration(const Instruction& one, const std::vector<bool>& ends) {
  const Tokens& tokens = rewrite_.tokens;
  std::size_t label = tokens.first_word(one.mnemonic + 1, "label");
  const auto type = parse_type(tokens, one.mnemonic + 1);
  const std::string_view value = tokens.range(one.mnemonic + 1, label - 1);
  std::string cases = std::string(", label ") + (ends[0] ? "%ends" : "%goes_on") + " [";
  for (std::size_t index = 1; index < ends.size(); ++index) {
    const std::size_t first = label + (index == 1 ? 3 : 2);  // behind `label %x [` or `label %x`
    label = tokens.first_word(first, "label");
    cases.append(" ").append(tokens.range(first, label)).append(ends[index] ? " label %ends" : " label %goes_on");
  }
  return rewrite_.helpers.switch_ends(type ? type->text : "i32", cases + " ]") + "(" + std::string(value) + ")";
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
  if (is_intrinsic(name)) return false;
  const bool is_own = rewrite_.module.module.definitions.contains(name);
  if (name.substr(0, 1) == "\x01") name.remove_prefix(1);
  return is_own || !is_of_runtime(name);
}

std::string YieldChecks::at_return(const std::string& place) {
  return rewrite_.module.fresh("check") + " = call i32 " + rewrite_.helpers.loop_end() + "(" +
         rewrite_.helpers.pointer_to("i32") + " " + counter_ + ")" + place + "\n  ";
}

}  // namespace janus::lower
