// SPDX-License-Identifier: Apache-2.0
#include "ll_lower.h"

#include <map>
#include <set>

#include "back_edges.h"
#include "edits.h"
#include "helpers.h"
#include "ll_module.h"
#include "ll_opcodes.h"
#include "ll_types.h"
#include "nursery_flow.h"
#include "types.h"

namespace janus::lower {
namespace {

// What a task's handle is known to be, from where it was made.
struct HandleKind {
  Handle handle;
  std::string result;
};

struct Lowering {
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

// One function.
class FunctionLowering {
 public:
  FunctionLowering(Lowering& lowering, const Function& function)
      : lowering_(lowering), tokens_(lowering.tokens), function_(function), helpers_(lowering.helpers) {}

  void run() {
    const bool has_own_code = tokens_.name(function_.name).substr(0, helpers_.prefix().size()) != helpers_.prefix();
    collect_opcodes();
    const bool inserts_checks = lowering_.inserts_checks && has_own_code && !function_.is_naked;
    if (!uses_.empty() && !lower_opcodes()) return;
    if (inserts_checks) insert_checks();
    if (!function_.is_naked && has_own_code)
      lowering_.edits.insert(tokens_.begin_of(function_.behind_parameters), "\"probe-stack\"=\"inline-asm\" ");
    write_returns();
    write_entry();
  }

 private:
  struct Use {
    std::uint32_t instruction;
    OpcodeUse opcode;
    FlowEvent* event = nullptr;
    std::uint32_t site = 0;  // of a Nursery_Begin
  };

  const Instruction& instruction(std::uint32_t i) const { return function_.instructions[i]; }
  void error(std::size_t token, const std::string& message) {
    lowering_.source.error(tokens_.begin_of(token), message);
  }

  // ---- Reading ------------------------------------------------------------------------------------------------------------

  void collect_opcodes() {
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i) {
      const Instruction& one = instruction(i);
      if (!is_opcode(tokens_.text(one.mnemonic))) continue;
      if (lowering_.profile == "core") {
        error(one.mnemonic, std::string(tokens_.text(one.mnemonic)) +
                                ": profile :core has no scheduler; choose :service, :cluster or :sovereign");
        continue;
      }
      if (auto use = parse_opcode(tokens_, one)) uses_.push_back({i, std::move(*use), nullptr, 0});
    }
  }

  static std::optional<FlowEvent::Kind> event_of(Opcode opcode) {
    switch (opcode) {
      case Opcode::kNurseryBegin:
        return FlowEvent::Kind::kBegin;
      case Opcode::kNurseryEnd:
        return FlowEvent::Kind::kEnd;
      case Opcode::kNurseryCancel:
        return FlowEvent::Kind::kCancel;
      case Opcode::kTaskCreate:
      case Opcode::kSpawn:
      case Opcode::kAsyncCall:
        return FlowEvent::Kind::kSpawn;
      case Opcode::kFork:
        return FlowEvent::Kind::kFork;
      default:
        return std::nullopt;
    }
  }

  // Whether the operand is the result of a Nursery_Begin.
  bool is_nursery(const Operand& operand) const {
    const Instruction* const definition = types_->definition(operand.value);
    return definition != nullptr && tokens_.is_word(definition->mnemonic, "Nursery_Begin");
  }
  static std::string name_of(const Tokens& tokens, const Operand& operand) {
    return tokens.kind(operand.token) == TokenKind::kLocal ? std::string(tokens.name(operand.token)) : operand.value;
  }

  bool lower_opcodes() {
    types_.emplace(tokens_, function_);
    if (!follow_nurseries()) return false;
    for (Use& use : uses_) lower(use);
    return true;
  }

  bool follow_nurseries() {
    blocks_.resize(function_.blocks.size());
    std::size_t next = 0;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const Block& block = function_.blocks[b];
      const std::size_t place = block.label != kNoIndex   ? block.label
                                : block.first < block.end ? instruction(block.first).first
                                                          : function_.body;
      blocks_[b].offset = tokens_.begin_of(place);
      blocks_[b].successors = block.successors;
      for (std::uint32_t i = block.first; i < block.end; ++i) {
        if (next < uses_.size() && uses_[next].instruction == i) {
          const OpcodeUse& use = uses_[next].opcode;
          const bool awaits_nursery = use.opcode == Opcode::kAwait && is_nursery(use.operands[0]);
          if (const auto kind = awaits_nursery ? std::optional(FlowEvent::Kind::kAwait) : event_of(use.opcode)) {
            std::string name = !use.operands.empty() && (awaits_nursery || *kind == FlowEvent::Kind::kEnd ||
                                                         *kind == FlowEvent::Kind::kCancel)
                                   ? name_of(tokens_, use.operands[0])
                                   : "";
            if (*kind == FlowEvent::Kind::kBegin && instruction(i).has_result)
              name = tokens_.name(instruction(i).first);
            blocks_[b].events.push_back({*kind, tokens_.begin_of(instruction(i).mnemonic), name});
            event_places_.push_back({b, blocks_[b].events.size() - 1, next});
          }
          ++next;
        } else if (leaves(instruction(i))) {
          blocks_[b].events.push_back({FlowEvent::Kind::kReturn, tokens_.begin_of(instruction(i).mnemonic), ""});
        }
      }
    }
    flow_.emplace(lowering_.source);
    const bool is_right = flow_->run(blocks_);
    for (const auto& place : event_places_) uses_[place.use].event = &blocks_[place.block].events[place.event];
    sites_.resize(flow_->sites());
    needs_scope_ = flow_->needs_scope();
    std::uint32_t site = 0;
    for (Use& use : uses_)
      if (use.opcode.opcode == Opcode::kNurseryBegin) {
        const Instruction& begin = instruction(use.instruction);
        sites_[site].value = begin.has_result ? std::string(tokens_.text(begin.first)) : lowering_.fresh("nursery");
        use.site = site;
        sites_[site].is_opened =
            use.opcode.nursery.has_budget || use.opcode.nursery.on_error != 0 || use.opcode.nursery.on_exhaustion != 0;
        ++site;
      } else if (use.opcode.opcode == Opcode::kAwait && use.event != nullptr && use.event->is_reached &&
                 use.event->stack != NurseryFlow::kEmpty) {
        sites_[flow_->stacks()[use.event->stack].site].is_awaited = true;
      }
    return is_right;
  }

  // ---- Opcodes ------------------------------------------------------------------------------------------------------------

  struct Site {
    std::string value;  // the nursery
    bool is_opened = false, is_awaited = false;
    std::string list;     // a local that holds the first record, if there are any
    std::string outcome;  // a local for what Await found
  };

  // The call that stands in the opcode's place. `%x =` is kept.
  void put(const Use& use, const std::string& text, std::string_view result = "unused") {
    const Instruction& one = instruction(use.instruction);
    const std::string name = one.has_result   ? std::string(tokens_.text(one.first))
                             : result.empty() ? ""
                                              : lowering_.fresh(result);
    put_lines(use, (name.empty() ? "" : name + " = ") + text + attachments(use));
  }
  static std::string attachments(const Use& use) { return use.opcode.attachments; }
  void put_lines(const Use& use, const std::string& text) {
    const Instruction& one = instruction(use.instruction);
    lowering_.edits.replace(tokens_.begin_of(one.first), tokens_.end_of(one.end - 1), text);
  }

  // Whether the opcode stands where the flow has been; elsewhere it is never executed.
  bool is_reached(const Use& use) const { return use.event == nullptr || use.event->is_reached; }

  void no_result(const Use& use) {
    const Instruction& one = instruction(use.instruction);
    if (one.has_result) error(one.first, std::string(tokens_.text(one.mnemonic)) + " has no result here");
  }

  void lower(Use& use) {
    switch (use.opcode.opcode) {
      case Opcode::kBudgetCheck:
        return put(use, "call i32 " + helpers_.check() + "(i64 0)");
      case Opcode::kBudgetDecrement:
        return put(use, "call i32 " + helpers_.decrement() + "(i64 " + value_of(use, 0, "i64") + ")");
      case Opcode::kYield:
        return put(use, "call i32 " + helpers_.yield() + "()");
      case Opcode::kSleep:
        return put(use, "call i32 " + helpers_.sleep() + "(i64 " + value_of(use, 0, "i64") + ")");
      case Opcode::kTaskCreate:
      case Opcode::kSpawn:
      case Opcode::kFork:
      case Opcode::kAsyncCall:
        return lower_task(use);
      case Opcode::kTaskJoin:
        return lower_join(use);
      case Opcode::kAwait:
        if (is_nursery(use.opcode.operands[0])) return lower_await(use);
        return lower_join(use);
      case Opcode::kNurseryBegin:
        return lower_begin(use);
      case Opcode::kNurseryEnd:
        return lower_end(use);
      case Opcode::kNurseryCancel:
        return lower_cancel(use);
    }
  }

  // The operand, which has to be of the type.
  std::string value_of(const Use& use, std::size_t i, const std::string& type) {
    const Operand& operand = use.opcode.operands[i];
    check_type(operand, type, "the operand");
    return operand.value;
  }
  void check_type(const Operand& operand, const std::string& type, const std::string& what) {
    std::string given = operand.type;
    if (given.empty() || given == type)
      if (const auto told = types_->type_of(operand.value); told && operand.value[0] == '%') given = *told;
    if (!given.empty() && given != type) error(operand.token, what + " is of type " + given + ", not " + type);
    if (operand.value[0] == '%' && types_->definition(operand.value) == nullptr &&
        !types_->is_parameter(operand.value) &&
        tokens_.name(operand.token).find_first_not_of("0123456789") != std::string_view::npos)
      error(operand.token, "unknown value " + operand.value);
  }

  void lower_begin(Use& use) {
    Site& site = sites_[use.site];
    const NurseryOptions& options = use.opcode.nursery;
    const std::string call =
        site.is_opened ? helpers_.nursery_open(options) + "(" + budget_of(use) + ")" : helpers_.nursery_begin() + "()";
    put_lines(use, site.value + " = call " + helpers_.pointer() + " " + call + attachments(use));
  }
  std::string budget_of(const Use& use) {
    std::string list;
    if (use.opcode.budget)
      for (std::size_t i = 0; i < kBudgetComponents.size(); ++i)
        list += (i == 0 ? "" : ", ") + std::string(kBudgetComponents[i].second) + " " + (*use.opcode.budget)[i];
    return list;
  }

  std::string end_of(Site& site) {
    return "call i64 " + helpers_.nursery_end(site.is_opened) + "(" + helpers_.pointer() + " " + site.value + ")";
  }
  std::string free_of(const Site& site, const Use& use) {
    return "\n  call void " + helpers_.free_records() + "(" + helpers_.pointer_to(helpers_.pointer()) + " " +
           site.list + ")" + attachments(use);
  }

  // What needs the whole function: whether the site has records is known once every spawn was seen, so ends come last.
  void lower_end(Use& use) { ends_.push_back(&use); }
  void lower_await(Use& use) { ends_.push_back(&use); }

  void write_ends() {
    for (Use* const use : ends_) {
      const Instruction& one = instruction(use->instruction);
      const std::string name = one.has_result ? std::string(tokens_.text(one.first)) : lowering_.fresh("unused");
      if (!is_reached(*use)) {
        put_lines(*use, name + " = add i64 0, 0");
        continue;
      }
      const NurseryFlow::Stack& stack = flow_->stacks()[use->event->stack];
      Site& site = sites_[stack.site];
      if (stack.is_awaited) {
        put_lines(*use,
                  name + " = load i64, " + helpers_.pointer_to("i64") + " " + outcome_of(site) + attachments(*use));
        continue;
      }
      std::string text = name + " = " + end_of(site) + attachments(*use);
      if (!site.list.empty()) text += free_of(site, *use);
      if (use->opcode.opcode == Opcode::kAwait)
        text +=
            "\n  store i64 " + name + ", " + helpers_.pointer_to("i64") + " " + outcome_of(site) + attachments(*use);
      put_lines(*use, text);
    }
  }
  const std::string& outcome_of(Site& site) {
    if (site.outcome.empty()) site.outcome = local("i64", "outcome");
    return site.outcome;
  }

  void lower_cancel(Use& use) {
    if (!is_reached(use)) return put(use, "add i32 0, 0");
    const Site& site = sites_[flow_->stacks()[flow_->target(*use.event)].site];
    put(use, "call i32 " + helpers_.nursery_cancel() + "(" + helpers_.pointer() + " " + site.value + ")");
  }

  // The nursery of a task and the list of its records.
  struct Parent {
    std::string nursery;
    std::string* list;
  };
  Parent parent_of(const Use& use) {
    if (!is_reached(use)) return {"null", &scope_.list};
    if (use.event->stack == NurseryFlow::kEmpty) return {scope_name(), &scope_.list};
    Site& site = sites_[flow_->stacks()[use.event->stack].site];
    return {site.value, &site.list};
  }
  const std::string& scope_name() {
    if (scope_.value.empty()) scope_.value = lowering_.fresh("scope");
    return scope_.value;
  }

  void lower_task(Use& use) {
    const OpcodeUse& opcode = use.opcode;
    const auto found = lowering_.module.signatures.find(tokens_.name(opcode.function));
    const std::string name(tokens_.text(opcode.function));
    if (found == lowering_.module.signatures.end()) return error(opcode.function, "unknown function " + name);
    TaskShape shape{found->second, Handle::kNone, opcode.budget.has_value(), false};
    const Signature& signature = shape.signature;
    if (!fits(use, signature, name)) return;
    const bool keeps_handle = instruction(use.instruction).has_result;
    if (opcode.opcode == Opcode::kAsyncCall)
      shape.handle = Handle::kChannel;
    else if (keeps_handle)
      shape.handle = handle_for(signature.result);
    const Parent parent = parent_of(use);
    std::string arguments = helpers_.pointer() + " " + parent.nursery;
    if (shape.handle == Handle::kRecord || shape.handle == Handle::kChannel) {
      if (parent.list->empty()) *parent.list = local(helpers_.pointer(), "records");
      arguments += ", " + helpers_.pointer_to(helpers_.pointer()) + " " + *parent.list;
    }
    for (std::size_t i = 0; i < opcode.operands.size(); ++i)
      arguments += ", " + signature.parameters[i].type + " " + opcode.operands[i].value;
    if (opcode.budget) arguments += ", " + budget_of(use);
    put(use, "call i64 " + helpers_.spawn(shape) + "(" + arguments + ")");
  }

  // Whether a task can be made of the function with these arguments.
  bool fits(const Use& use, const Signature& signature, const std::string& name) {
    const OpcodeUse& opcode = use.opcode;
    if (signature.is_variadic) {
      error(opcode.function, name + " takes a variable number of arguments, which a task cannot have");
      return false;
    }
    if (!opcode.type.empty() && opcode.type != signature.result) {
      error(opcode.function, name + " returns " + signature.result + ", not " + opcode.type);
      return false;
    }
    if (opcode.operands.size() != signature.parameters.size()) {
      error(opcode.function, name + " takes " + std::to_string(signature.parameters.size()) + " arguments, not " +
                                 std::to_string(opcode.operands.size()));
      return false;
    }
    for (std::size_t i = 0; i < opcode.operands.size(); ++i) {
      const Parameter& parameter = signature.parameters[i];
      const std::string what = "argument " + std::to_string(i + 1) + " of " + name;
      if (!parameter.refused.empty() || !is_storable(parameter.type)) {
        error(opcode.operands[i].token, what + " is passed as " +
                                            (parameter.refused.empty() ? parameter.type : parameter.refused) +
                                            ", which a task cannot have");
        return false;
      }
      check_type(opcode.operands[i], parameter.type, what);
    }
    return true;
  }

  // What a handle was made as, followed through phi, select and freeze. Reports what cannot be one.
  std::optional<HandleKind> kind_of(const Operand& operand) {
    std::optional<HandleKind> kind;
    std::set<std::string> seen;
    std::vector<std::string> to_visit{operand.value};
    while (!to_visit.empty()) {
      const std::string value = to_visit.back();
      to_visit.pop_back();
      if (!seen.insert(value).second) continue;
      if (value.empty() || value[0] != '%') {
        if (value == "0" && seen.size() > 1) continue;  // no task on this path
        error(operand.token, "a join of what is no task: " + value);
        return std::nullopt;
      }
      const Instruction* const definition = types_->definition(value);
      if (definition == nullptr) {
        if (!types_->is_parameter(value) && value.find_first_not_of("%0123456789") != std::string::npos)
          error(operand.token, "unknown value " + value);
        continue;
      }
      const std::string_view mnemonic = tokens_.text(definition->mnemonic);
      if (const auto opcode = opcode_of(mnemonic); opcode && makes_task(*opcode)) {
        if (!meet(kind_made_by(*definition, *opcode), kind, operand)) return std::nullopt;
      } else if (const auto known = known_kinds_.find(value); known != known_kinds_.end()) {
        if (!meet(known->second, kind, operand)) return std::nullopt;
      } else if (mnemonic == "phi" || mnemonic == "select" || mnemonic == "freeze") {
        for (std::size_t i = definition->mnemonic + 1; i < definition->end; ++i) {
          const bool is_incoming = mnemonic == "phi"
                                       ? tokens_.is_punctuation(i - 1, '[')
                                       : tokens_.kind(i - 1) == TokenKind::kWord && tokens_.text(i - 1) == "i64";
          if (is_incoming) to_visit.emplace_back(tokens_.text(i));
        }
      } else if (mnemonic != "load" && mnemonic != "call" && mnemonic != "invoke" && mnemonic != "extractvalue" &&
                 mnemonic != "extractelement" && mnemonic != "tail") {
        error(operand.token, "a join of what is no task: " + value + " is the result of " + std::string(mnemonic));
        return std::nullopt;
      }
    }
    if (kind) known_kinds_.emplace(operand.value, *kind);
    return kind;
  }
  // Whether what a handle was made as on one path is what it was made as on the others.
  bool meet(const std::optional<HandleKind>& made, std::optional<HandleKind>& kind, const Operand& operand) {
    if (made && kind && (made->handle != kind->handle || made->result != kind->result)) {
      error(operand.token, "tasks with results of different types meet here: " + made->result + " and " + kind->result);
      return false;
    }
    if (made) kind = made;
    return true;
  }
  std::optional<HandleKind> kind_made_by(const Instruction& definition, Opcode opcode) const {
    for (std::size_t i = definition.mnemonic + 1; i < definition.end; ++i) {
      if (tokens_.kind(i) != TokenKind::kGlobal) continue;
      const auto found = lowering_.module.signatures.find(tokens_.name(i));
      if (found == lowering_.module.signatures.end()) return std::nullopt;
      return HandleKind{opcode == Opcode::kAsyncCall ? Handle::kChannel : handle_for(found->second.result),
                        found->second.result};
    }
    return std::nullopt;
  }

  void lower_join(Use& use) {
    const Operand& operand = use.opcode.operands[0];
    const bool has_errors = lowering_.source.has_errors();
    const auto kind = kind_of(operand);
    if (!has_errors && lowering_.source.has_errors()) return;
    std::string result = use.opcode.type;
    if (kind && !result.empty() && joined_type(kind->result) != result)
      return error(operand.token, "the task's result is of type " + joined_type(kind->result) + ", not " + result);
    if (kind)
      result = kind->result;
    else if (result.empty())
      return error(operand.token, "the type of the task's result is not known here; write it: " +
                                      std::string(tokens_.text(instruction(use.instruction).mnemonic)) + " i64, " +
                                      operand.value);
    if (!is_storable(joined_type(result))) return error(operand.token, "a task's result cannot be of type " + result);
    check_type(operand, "i64", "the task");
    const Handle handle = kind ? kind->handle : handle_for(result);
    put(use, "call " + joined_type(result) + " " + helpers_.join(handle, result) + "(i64 " + operand.value + ")");
  }

  // ---- Checks -------------------------------------------------------------------------------------------------------------

  void insert_checks() {
    const auto back = blocks_with_back_edges(static_cast<std::uint32_t>(function_.blocks.size()),
                                             [this](std::uint32_t block) -> const std::vector<std::uint32_t>& {
                                               return function_.blocks[block].successors;
                                             });
    for (std::uint32_t b = 0; b < function_.blocks.size(); ++b) {
      const Block& block = function_.blocks[b];
      for (std::uint32_t i = block.first; i < block.end; ++i)
        if (is_checked_call(instruction(i))) before(i, helpers_.check(), "i64 1");
      if (!back[b] || tokens_.is_word(instruction(block.end - 1).mnemonic, "catchswitch")) continue;
      if (counter_.empty()) counter_ = local("i32", "counter");
      before(block.end - 1, helpers_.loop_check(), helpers_.pointer_to("i32") + " " + counter_);
    }
  }

  void before(std::uint32_t i, const std::string& helper, const std::string& argument) {
    const Instruction& one = instruction(i);
    lowering_.edits.insert(tokens_.begin_of(one.first), lowering_.fresh("check") + " = call i32 " + helper + "(" +
                                                            argument + ")" + debug_location(tokens_, one) + "\n  ");
  }

  // Calls of functions; not of intrinsics, of inline assembly, or of the runtime's, which are checks themselves.
  bool is_checked_call(const Instruction& one) const {
    const std::string_view mnemonic = tokens_.text(one.mnemonic);
    if (mnemonic != "call" && mnemonic != "invoke" && mnemonic != "callbr") return false;
    for (std::size_t i = one.mnemonic + 1; i < one.end; ++i) {
      if (tokens_.is_word(i, "asm")) return false;
      if (tokens_.is_punctuation(i, '{') || tokens_.is_punctuation(i, '[') || tokens_.is_punctuation(i, '<'))
        i = tokens_.behind_group(i) - 1;
      if (tokens_.kind(i) == TokenKind::kGlobal) {
        const std::string_view name = tokens_.name(i);
        return name.substr(0, 5) != "llvm." && name.substr(0, 6) != "janus_" && name.substr(0, 9) != "\\01janus_";
      }
    }
    return true;
  }

  // ---- The function's ends --------------------------------------------------------------------------------------------------

  std::string local(const std::string& type, std::string_view what) {
    std::string name = lowering_.fresh(what);
    const std::string zero = is_pointer(type) ? "null" : "0";
    entry_ += name + " = alloca " + type + "\n  store " + type + " " + zero + ", " + helpers_.pointer_to(type) + " " +
              name + "\n  ";
    return name;
  }

  // Whether the instruction leaves the function: by its end, or by an exception that a caller gets.
  bool leaves(const Instruction& one) const {
    return tokens_.is_word(one.mnemonic, "ret") || tokens_.is_word(one.mnemonic, "resume");
  }

  // What has to be done before each return: charge what the loops have counted, and end the function's own nursery.
  void write_returns() {
    write_ends();
    if (counter_.empty() && !needs_scope_) return;
    for (const Block& block : function_.blocks) {
      if (block.first == block.end || !leaves(instruction(block.end - 1))) continue;
      std::uint32_t at = block.end - 1;
      bool is_tail = false;
      for (std::uint32_t i = block.end - 1; i > block.first && block.end - i < 3 && !is_tail; --i)
        if (tokens_.is_word(instruction(i - 1).mnemonic - 1, "musttail")) {
          is_tail = true;
          at = i - 1;
        }
      const std::string place = debug_location(tokens_, instruction(block.end - 1));
      std::string text;
      if (!counter_.empty())
        text += lowering_.fresh("check") + " = call i32 " + helpers_.loop_end() + "(" + helpers_.pointer_to("i32") +
                " " + counter_ + ")" + place + "\n  ";
      if (needs_scope_) {
        if (is_tail)
          error(instruction(at).first, "a musttail call cannot follow the end of the nursery that SPAWN or fork needs");
        text += lowering_.fresh("unused") + " = call i64 " + helpers_.nursery_end(false) + "(" + helpers_.pointer() +
                " " + scope_name() + ")" + place + "\n  ";
        if (!scope_.list.empty())
          text += "call void " + helpers_.free_records() + "(" + helpers_.pointer_to(helpers_.pointer()) + " " +
                  scope_.list + ")" + place + "\n  ";
      }
      lowering_.edits.insert(tokens_.begin_of(instruction(at).first), text);
    }
  }

  void write_entry() {
    std::string text = entry_;
    if (needs_scope_) {
      const std::string place =
          function_.instructions.empty() ? "" : debug_location(tokens_, instruction(function_.blocks[0].first));
      text += scope_name() + " = call " + helpers_.pointer() + " " + helpers_.nursery_begin() + "()" + place + "\n  ";
    }
    if (text.empty()) return;
    const Block& entry = function_.blocks[0];
    const std::size_t at = entry.label != kNoIndex ? tokens_.end_of(entry.label) : tokens_.end_of(function_.body);
    lowering_.edits.insert(at, "\n  " + text);
  }

  Lowering& lowering_;
  const Tokens& tokens_;
  const Function& function_;
  Helpers& helpers_;
  struct EventPlace {
    std::size_t block, event, use;
  };
  std::vector<Use> uses_;
  std::vector<FlowBlock> blocks_;
  std::vector<EventPlace> event_places_;
  std::vector<Site> sites_;
  std::vector<Use*> ends_;
  std::optional<LocalTypes> types_;
  std::map<std::string, HandleKind> known_kinds_;  // of handles that were joined
  std::optional<NurseryFlow> flow_;
  Site scope_;  // the nursery of SPAWN and fork outside of all others
  bool needs_scope_ = false;
  std::string counter_;  // counts iterations
  std::string entry_;    // what the entry block begins with
};

// Whether pointers of this module have the types that they point to, as up to LLVM 14.
bool has_typed_pointers(const Tokens& tokens, const Options& options) {
  bool is_typed = false;
  for (std::size_t i = 0; !tokens.is_end(i); ++i) {
    if (tokens.is_word(i, "ptr")) return false;
    if (tokens.is_punctuation(i, '*')) is_typed = true;
  }
  return is_typed || (options.llvm_version != 0 && options.llvm_version < 15);
}

// A prefix that no name in the input has.
std::string free_prefix(std::string_view text) {
  std::string prefix = "janus.";
  for (int i = 1;
       text.find("@" + prefix) != std::string_view::npos || text.find("%" + prefix) != std::string_view::npos; ++i)
    prefix = "janus." + std::to_string(i) + ".";
  return prefix;
}

std::string profile_of(Source& source, const Tokens& tokens, const Module& module, const Options& options,
                       Edits& edits) {
  std::string profile = options.profile;
  for (const std::uint32_t line : module.profiles) {
    const std::string name(tokens.text(line + 2));
    if (!is_profile(name))
      source.error(tokens.begin_of(line), "unknown profile: there are :core, :service, :cluster and :sovereign");
    if (options.profile.empty()) profile = name;
    edits.replace(tokens.begin_of(line), tokens.end_of(line + 2), "");
  }
  return profile.empty() ? "service" : profile;
}

}  // namespace

std::optional<std::string> lower_ll(Source& source, const Options& options) {
  const Tokens tokens(source);
  const Module module = parse_module(tokens);
  const bool is_typed = has_typed_pointers(tokens, options);
  if (is_typed && options.llvm_version >= 17)
    source.error(0, "this module has typed pointers, which LLVM " + std::to_string(options.llvm_version) +
                        " does not read; make it with -opaque-pointers, or use clang 14");
  Edits edits;
  const std::string profile = profile_of(source, tokens, module, options, edits);
  Helpers helpers({is_typed, interval_of(options, profile), free_prefix(source.text()),
                   [&module](std::string_view name) { return module.signatures.contains(name); }});
  Lowering lowering{
      source, tokens, module, helpers, std::move(edits), profile, options.has_yield_checks && profile != "core"};
  if (!source.has_errors())
    for (const Function& function : module.functions) FunctionLowering(lowering, function).run();
  if (source.has_errors()) return std::nullopt;
  std::string text = lowering.edits.apply(source.text(), helpers.header());
  helpers.append_to(text);
  return text;
}

}  // namespace janus::lower
