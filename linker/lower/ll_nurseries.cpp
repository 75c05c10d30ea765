// SPDX-License-Identifier: Apache-2.0
#include "ll_nurseries.h"

#include <algorithm>
#include <optional>

#include "types.h"

namespace janus::lower {

// ---- Which are open where -------------------------------------------------------------------------------------------------

bool Nurseries::is_nursery(const Operand& operand) {
  const Instruction* const definition = rewrite_.types().definition(operand.value);
  return definition != nullptr && rewrite_.tokens.is_word(definition->mnemonic, "Nursery_Begin");
}

bool Nurseries::check_is_nursery(const Operand& operand) {
  if (is_nursery(operand)) return true;
  rewrite_.error(operand.token, rewrite_.types().is_unknown(operand.value)
                                    ? "unknown value " + operand.value
                                    : operand.value +
                                          " is not the result of a Nursery_Begin: a nursery is named by that result "
                                          "itself, not by a value that was loaded or copied");
  return false;
}

bool Nurseries::follow(std::vector<OpcodeAt>& uses) {
  if (!check_names(uses)) return false;
  blocks_.resize(rewrite_.function.blocks.size());
  std::size_t next = 0;
  for (std::uint32_t b = 0; b < blocks_.size(); ++b) read_block(b, uses, next);
  const bool is_right = flow_.run(blocks_);
  auto use = uses.begin();
  for (FlowBlock& block : blocks_)
    for (FlowEvent& event : block.events)
      if (event.kind != FlowEvent::Kind::kReturn) (use++)->event = &event;
  uses_ = &uses;
  read_sites(uses);
  return is_right;
}

// Whether the opcode's operand has to be a nursery. An Await of a pointer is one of a nursery: a task is an i64.
bool Nurseries::takes_nursery(const OpcodeUse& use) {
  if (use.operands.empty()) return false;
  if (use.opcode == Opcode::kNurseryEnd || use.opcode == Opcode::kNurseryCancel) return true;
  if (use.opcode != Opcode::kAwait || !use.type.empty()) return false;
  const Operand& operand = use.operands[0];
  return is_pointer(operand.type.empty() ? rewrite_.types().type_of(operand.value).value_or("") : operand.type);
}

// The flow is not followed past a wrong name, so that one mistake has one message.
bool Nurseries::check_names(const std::vector<OpcodeAt>& uses) {
  bool is_right = true;
  for (const OpcodeAt& use : uses)
    if (takes_nursery(use.opcode) && !check_is_nursery(use.opcode.operands[0])) is_right = false;
  return is_right;
}

// `next` is the number of the first opcode in this block or behind it.
void Nurseries::read_block(std::uint32_t b, const std::vector<OpcodeAt>& uses, std::size_t& next) {
  const Tokens& tokens = rewrite_.tokens;
  const Block& block = rewrite_.function.blocks[b];
  const std::size_t place = block.label != kNoIndex   ? block.label
                            : block.first < block.end ? rewrite_.instruction(block.first).first
                                                      : rewrite_.function.body;
  blocks_[b].offset = tokens.begin_of(place);
  blocks_[b].branch =
      block.first < block.end ? tokens.begin_of(rewrite_.instruction(block.end - 1).mnemonic) : blocks_[b].offset;
  blocks_[b].successors = block.successors;
  for (std::uint32_t i = block.first; i < block.end; ++i) {
    const Instruction& one = rewrite_.instruction(i);
    if (next < uses.size() && uses[next].instruction == i) {
      const OpcodeUse& use = uses[next].opcode;
      const bool awaits_nursery = use.opcode == Opcode::kAwait && is_nursery(use.operands[0]);
      const FlowEvent::Kind kind = awaits_nursery ? FlowEvent::Kind::kAwait : *flow_kind_of(use.opcode);
      blocks_[b].events.push_back(event_of(uses[next], kind));
      ++next;
    } else if (rewrite_.leaves(one)) {
      blocks_[b].events.push_back({FlowEvent::Kind::kReturn, tokens.begin_of(one.mnemonic), ""});
    }
  }
}

FlowEvent Nurseries::event_of(const OpcodeAt& use, FlowEvent::Kind kind) {
  using Kind = FlowEvent::Kind;
  const Tokens& tokens = rewrite_.tokens;
  const Instruction& one = rewrite_.instruction(use.instruction);
  std::string name;
  if (kind == Kind::kBegin && one.has_result) {
    name = tokens.name(one.first);
  } else if ((kind == Kind::kEnd || kind == Kind::kAwait || kind == Kind::kCancel) && !use.opcode.operands.empty()) {
    const Operand& operand = use.opcode.operands[0];
    name = tokens.kind(operand.token) == TokenKind::kLocal ? std::string(tokens.name(operand.token)) : operand.value;
  }
  return {kind, tokens.begin_of(one.mnemonic), name};
}

void Nurseries::read_sites(std::vector<OpcodeAt>& uses) {
  sites_.resize(flow_.sites());
  std::uint32_t site = 0;
  for (OpcodeAt& use : uses)
    if (use.opcode.opcode == Opcode::kNurseryBegin) {
      const Instruction& begin = rewrite_.instruction(use.instruction);
      const NurseryOptions& options = use.opcode.nursery;
      sites_[site].value =
          begin.has_result ? std::string(rewrite_.tokens.text(begin.first)) : rewrite_.module.fresh("nursery");
      sites_[site].is_opened = options.has_budget || options.on_error != 0 || options.on_exhaustion != 0;
      use.site = site++;
    } else if (use.event->kind == FlowEvent::Kind::kAwait && use.event->is_reached &&
               use.event->stack != NurseryFlow::kEmpty) {
      sites_[stack(use.event->stack).site].is_awaited = true;
    }
}

Nurseries::Parent Nurseries::parent_of(const OpcodeAt& use) {
  if (!use.is_reached()) return {"null", &scope_.list};
  if (use.event->stack == NurseryFlow::kEmpty) {
    if (rewrite_.function.is_coroutine)
      rewrite_.error(rewrite_.instruction(use.instruction).mnemonic,
                     "a coroutine cannot have a nursery of its own, which would end where it returns: open one");
    return {scope_name(), &scope_.list};
  }
  Site& site = sites_[stack(use.event->stack).site];
  return {site.value, &site.list};
}

void Nurseries::check_join(const OpcodeAt& use) {
  const Operand& task = use.opcode.operands[0];
  const Instruction* const definition = rewrite_.types().definition(task.value);
  if (definition == nullptr) return;
  const OpcodeAt* const spawn = use_of(*definition);
  if (spawn != nullptr && makes_task(spawn->opcode.opcode) && flow_.has_ended(*spawn->event, *use.event))
    rewrite_.error(task.token, "a join of a task whose nursery " + flow_.described(spawn->event->stack) + " has ended");
}

// Returns nullptr if the instruction is not an opcode, or is an opcode that takes no part in the flow.
const OpcodeAt* Nurseries::use_of(const Instruction& one) const {
  const auto number = static_cast<std::uint32_t>(&one - rewrite_.function.instructions.data());
  const auto use = std::lower_bound(uses_->begin(), uses_->end(), number,
                                    [](const OpcodeAt& a, std::uint32_t b) { return a.instruction < b; });
  return use != uses_->end() && use->instruction == number ? &*use : nullptr;
}

// ---- Opcodes --------------------------------------------------------------------------------------------------------------

void Nurseries::begin(const OpcodeAt& use) {
  Helpers& helpers = rewrite_.helpers;
  const Site& site = sites_[use.site];
  const std::string call = site.is_opened
                               ? helpers.nursery_open(use.opcode.nursery) + "(" + rewrite_.budget_arguments(use) + ")"
                               : helpers.nursery_begin() + "()";
  rewrite_.put_lines(use, site.value + " = call " + helpers.pointer() + " " + call + use.opcode.attachments);
}

void Nurseries::end(const OpcodeAt& use) {
  check_operand(use);
  if (!use.opcode.type.empty() && use.opcode.type != "i64")
    rewrite_.error(use.opcode.operands[0].token, "the nursery's result is of type i64, not " + use.opcode.type);
  ends_.push_back(&use);
}

void Nurseries::check_operand(const OpcodeAt& use) {
  const bool is_opaque = rewrite_.helpers.pointer() == "ptr";
  if (!use.opcode.operands.empty())
    rewrite_.check_type(use.opcode.operands[0], is_opaque ? "ptr" : "i8 *", "the nursery");
}

void Nurseries::cancel(const OpcodeAt& use) {
  check_operand(use);
  if (!use.is_reached()) return rewrite_.put(use, "add i32 0, 0");
  Helpers& helpers = rewrite_.helpers;
  const Site& site = sites_[stack(flow_.target(*use.event)).site];
  rewrite_.put(use, "call i32 " + helpers.nursery_cancel() + "(" + helpers.pointer() + " " + site.value + ")");
}

void Nurseries::write_ends() {
  for (const OpcodeAt* const use : ends_) {
    const Instruction& one = rewrite_.instruction(use->instruction);
    const std::string name =
        one.has_result ? std::string(rewrite_.tokens.text(one.first)) : rewrite_.module.fresh("unused");
    rewrite_.put_lines(*use, use->is_reached() ? text_of_end(*use, name) : name + " = add i64 0, 0");
  }
}

// The text that replaces a Nursery_End or an Await of a nursery, and gives its result the name `name`.
std::string Nurseries::text_of_end(const OpcodeAt& use, const std::string& name) {
  Helpers& helpers = rewrite_.helpers;
  const std::string& place = use.opcode.attachments;
  const NurseryFlow::Stack& open = stack(use.event->stack);
  Site& site = sites_[open.site];
  if (open.is_awaited) return name + " = load i64, " + helpers.pointer_to("i64") + " " + outcome_of(site) + place;
  std::string text = name + " = call i64 " + helpers.nursery_end(site.is_opened) + "(" + helpers.pointer() + " " +
                     site.value + ")" + place;
  if (!site.list.empty()) text += "\n  " + free_of(site.list) + place;
  if (use.opcode.opcode == Opcode::kAwait)
    text += "\n  store i64 " + name + ", " + helpers.pointer_to("i64") + " " + outcome_of(site) + place;
  return text;
}

const std::string& Nurseries::outcome_of(Site& site) {
  if (site.outcome.empty()) site.outcome = rewrite_.local("i64", "outcome");
  return site.outcome;
}

std::string Nurseries::free_of(const std::string& list) const {
  Helpers& helpers = rewrite_.helpers;
  return "call void " + helpers.free_records() + "(" + helpers.pointer_to(helpers.pointer()) + " " + list + ")";
}

// ---- The function's own nursery -------------------------------------------------------------------------------------------

const std::string& Nurseries::scope_name() {
  if (scope_.value.empty()) scope_.value = rewrite_.module.fresh("scope");
  return scope_.value;
}

std::string Nurseries::begin_scope(const std::string& place) {
  Helpers& helpers = rewrite_.helpers;
  return scope_name() + " = call " + helpers.pointer() + " " + helpers.nursery_begin() + "()" + place + "\n  ";
}

std::string Nurseries::end_scope(const std::string& place) {
  Helpers& helpers = rewrite_.helpers;
  std::string text = rewrite_.module.fresh("unused") + " = call i64 " + helpers.nursery_end(false) + "(" +
                     helpers.pointer() + " " + scope_name() + ")" + place + "\n  ";
  if (!scope_.list.empty()) text += free_of(scope_.list) + place + "\n  ";
  return text;
}

}  // namespace janus::lower
