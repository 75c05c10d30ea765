// SPDX-License-Identifier: Apache-2.0
// qtjir_check.cpp — checks the names, types and nurseries of a .qtjir file.
#include <algorithm>
#include <charconv>
#include <map>

#include "qtjir_ast.h"
#include "qtjir_strings.h"
#include "runtime_names.h"
#include "types.h"

namespace janus::lower::qtjir {
namespace {

bool is_integer(std::string_view type) {
  return integer_width(type) != 0;
}

bool is_decimal(std::string_view number) {
  if (number.substr(0, 1) == "-") number.remove_prefix(1);
  return !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
}

// The T of a type `prefix T`; nothing for other types.
std::optional<std::string> element_of(std::string_view type, std::string_view prefix) {
  if (type.size() <= prefix.size() + 1 || type.substr(0, prefix.size()) != prefix || type[prefix.size()] != ' ')
    return std::nullopt;
  return std::string(type.substr(prefix.size() + 1));
}

constexpr const char* kUnknown = "?";  // the type of what has an error

class FunctionCheck {
 public:
  FunctionCheck(const Tokens& tokens, const File& file, Function& function)
      : tokens_(tokens), file_(file), function_(function) {}

  void run() {
    for (std::size_t i = 0; i < function_.parameters.size(); ++i)
      if (!declare(function_.parameter_names[i], function_.parameters[i]))
        error(function_.parameter_names[i], "a second parameter of this name");
    collect_labels();
    for (std::size_t b = 0; b < function_.blocks.size(); ++b) {
      for (Instruction& one : function_.blocks[b].instructions) check(one);
      connect(b);
    }
    follow_nurseries();
  }

 private:
  void error(std::uint32_t token, const std::string& message) {
    tokens_.source().error(tokens_.begin_of(token), message);
  }

  // ---- Names --------------------------------------------------------------------------------------------------------------

  bool declare(std::uint32_t token, const std::string& type) {
    const auto [entry, is_new] =
        registers_.emplace(tokens_.name(token), static_cast<std::uint32_t>(function_.registers.size()));
    if (is_new) function_.registers.push_back({entry->first, type});
    return is_new;
  }

  // Gives the result's register its type; reports an error if the register has another type already.
  void assign(Instruction& one, const std::string& type) {
    if (one.result == kNoIndex) return;
    if (type == "void") return error(one.result, one.word + " has no result here");
    const std::string name(tokens_.name(one.result));
    declare(one.result, type);
    one.result_number = registers_.at(name);
    const Register& known = function_.registers[one.result_number];
    if (known.type != kUnknown && known.type != type)
      error(one.result, "%" + name + " is of type " + known.type + ", and this is of type " + type);
  }

  void collect_labels() {
    for (std::uint32_t b = 0; b < function_.blocks.size(); ++b) {
      const std::uint32_t label = function_.blocks[b].label;
      if (label != kNoIndex && !labels_.emplace(tokens_.name(label), b).second)
        error(label, "a second label of this name");
    }
  }

  void connect(std::size_t b) {
    Block& block = function_.blocks[b];
    for (std::size_t i = 0; i + 1 < block.instructions.size(); ++i)
      if (ends_block(block.instructions[i]))
        error(block.instructions[i + 1].token, "no path leads here: a label is missing");
    for (Instruction& one : block.instructions) {
      one.first_successor = static_cast<std::uint32_t>(block.successors.size());
      for (const std::uint32_t label : one.labels) {
        // Numbers and texts in quotes are labels here.
        const std::string_view written = tokens_.text(label);
        const auto found =
            labels_.find(tokens_.kind(label) == TokenKind::kString ? name_of_quoted(written) : std::string(written));
        if (found == labels_.end())
          error(label, "unknown label " + std::string(tokens_.text(label)));
        else
          block.successors.push_back(found->second);
      }
    }
    if (!block.instructions.empty() && ends_block(block.instructions.back())) return;
    const std::uint32_t last = !block.instructions.empty() ? block.instructions.back().token
                               : block.label != kNoIndex   ? block.label
                                                           : function_.name;
    if (b + 1 == function_.blocks.size()) return error(last, "the function ends without a return, branch or jump");
    block.successors.push_back(static_cast<std::uint32_t>(b + 1));
    block.instructions.emplace_back();
    block.instructions.back().kind = Kind::kJump;
    block.instructions.back().token = last;
    block.instructions.back().first_successor = static_cast<std::uint32_t>(block.successors.size() - 1);
  }
  static bool ends_block(const Instruction& one) {
    return one.kind == Kind::kBranch || one.kind == Kind::kJump || one.kind == Kind::kReturn;
  }

  const FunctionHead* callee(const Instruction& one) {
    const std::string name(tokens_.name(one.callee));
    const auto found = file_.by_name.find(name);
    if (found != file_.by_name.end()) return &file_.functions[found->second];
    error(one.callee, "unknown function @" + name);
    return nullptr;
  }

  // ---- Types --------------------------------------------------------------------------------------------------------------

  // The operand's type where it has one of its own: that of its register, ptr for a text. kUnknown behind an error, which
  // is reported once.
  std::optional<std::string> own_type(Operand& operand) {
    if (operand.type == kUnknown) return kUnknown;
    if (operand.kind == Operand::Kind::kString) return "ptr";
    if (operand.kind == Operand::Kind::kInteger) return std::nullopt;
    const std::string name(tokens_.name(operand.token));
    const auto found = registers_.find(name);
    if (found == registers_.end()) {
      error(operand.token, "unknown register %" + name + " (one is assigned above its first use)");
      operand.type = kUnknown;
      return kUnknown;
    }
    operand.register_number = found->second;
    return function_.registers[found->second].type;
  }

  void expect(Operand& operand, const std::string& type, const std::string& what) {
    const auto own = own_type(operand);
    operand.type = type;
    if (own) {
      if (*own != kUnknown && *own != type) error(operand.token, what + " is of type " + *own + ", not " + type);
    } else if (!is_integer(type)) {
      error(operand.token, what + " is a number, not of type " + type);
    } else if (!is_decimal(tokens_.text(operand.token))) {
      error(operand.token, std::string(tokens_.text(operand.token)) + " is not a decimal number");
    } else if (!fits(tokens_.text(operand.token), integer_width(type))) {
      error(operand.token, std::string(tokens_.text(operand.token)) + " does not fit into " + type);
    }
  }

  // Returns the common type of the operands: the written type, or that of the first register among them, or i64.
  std::string common_type(Instruction& one, bool allows_pointer) {
    std::string type = one.type;
    for (Operand& operand : one.operands) {
      if (!type.empty()) break;
      if (const auto own = own_type(operand); own && *own != kUnknown) type = *own;
    }
    if (type.empty()) type = "i64";
    if (!is_integer(type) && !(allows_pointer && type == "ptr"))
      error(one.operands[0].token, one.word + " takes integers, not " + type);
    for (Operand& operand : one.operands) expect(operand, type, "the operand");
    return type;
  }

  void check_arguments(Instruction& one, const FunctionHead& target) {
    const std::string name(tokens_.text(target.name));
    const bool is_wrong = target.is_variadic ? one.operands.size() < target.parameters.size()
                                             : one.operands.size() != target.parameters.size();
    if (is_wrong)
      return error(one.callee, name + " takes " + std::to_string(target.parameters.size()) + " arguments, not " +
                                   std::to_string(one.operands.size()));
    for (std::size_t i = 0; i < one.operands.size(); ++i) {
      if (i < target.parameters.size()) {
        expect(one.operands[i], target.parameters[i], "argument " + std::to_string(i + 1) + " of " + name);
      } else {
        const auto own = own_type(one.operands[i]);
        expect(one.operands[i], own ? *own : "i64", "an argument");
      }
    }
  }

  void check(Instruction& one) {
    switch (one.kind) {
      case Kind::kCopy:
        one.type = common_copy(one);
        return assign(one, one.type);
      case Kind::kArithmetic:
        one.type = common_type(one, false);
        return assign(one, one.type);
      case Kind::kComparison:
        one.type = common_type(one, true);
        return assign(one, "i1");
      case Kind::kConversion:
        return conversion(one);
      case Kind::kCall: {
        const FunctionHead* const target = callee(one);
        if (target == nullptr) return;
        check_arguments(one, *target);
        return assign(one, target->result);
      }
      case Kind::kDefer: {
        const FunctionHead* const target = callee(one);
        if (target == nullptr) return;
        if (!target->is_external && !target->is_cleanup)
          error(one.callee, "defer takes a function that is marked `cleanup`, which a cancel does not cut short");
        if (target->is_variadic) error(one.callee, "defer of a function with a variable number of arguments");
        check_arguments(one, *target);
        return assign(one, "void");
      }
      case Kind::kPrint:
        return print(one);
      case Kind::kBranch:
        return expect(one.operands[0], "i1", "the condition");
      case Kind::kJump:
        return assign(one, "void");
      case Kind::kReturn:
        if (function_.result == "void" && !one.operands.empty())
          return error(one.operands[0].token, "this function returns nothing");
        if (function_.result != "void" && one.operands.empty())
          return error(one.token, "this function returns " + function_.result);
        if (!one.operands.empty()) expect(one.operands[0], function_.result, "the result");
        return assign(one, "void");
      case Kind::kChannelCreate:
        refuse_in_core(one);
        expect(one.operands[0], "i64", "the capacity");
        return assign(one, "channel " + one.type);
      case Kind::kSend:
        refuse_in_core(one);
        if (const auto element = channel(one)) expect(one.operands[1], *element, "the element");
        return assign(one, "void");
      case Kind::kRecv:
        refuse_in_core(one);
        if (const auto element = channel(one)) {
          one.type = *element;
          assign(one, *element);
        }
        return;
      case Kind::kClose:
        refuse_in_core(one);
        (void)channel(one);
        return assign(one, "void");
      case Kind::kOpcode:
        return opcode(one);
    }
  }

  std::string common_copy(Instruction& one) {
    if (!one.type.empty()) {
      expect(one.operands[0], one.type, "the operand");
      return one.type;
    }
    const auto own = own_type(one.operands[0]);
    std::string type = own && *own != kUnknown ? *own : "i64";
    if (type == "nursery") {
      error(one.operands[0].token, "a nursery cannot be copied");
      is_flow_known_ = false;
    }
    expect(one.operands[0], type, "the operand");
    return type;
  }

  void conversion(Instruction& one) {
    const auto own = own_type(one.operands[0]);
    const std::string from = own ? *own : "i64";
    if (from == kUnknown) return;
    expect(one.operands[0], from, "the operand");
    const unsigned before = integer_width(from), after = integer_width(one.type);
    const bool is_right = before != 0 && after != 0 && (one.word == "trunc" ? after < before : after > before);
    if (!is_right) error(one.token, one.word + " from " + from + " to " + one.type);
    assign(one, one.type);
  }

  void print(Instruction& one) {
    const std::size_t places = split_at_places(tokens_.text(one.operands[0].token)).size() - 1;
    if (places != one.operands.size() - 1)
      error(one.operands[0].token, "the text has " + std::to_string(places) + " places {} for " +
                                       std::to_string(one.operands.size() - 1) + " values");
    if (unescaped(tokens_.text(one.operands[0].token)).find('\0') != std::string::npos)
      error(one.operands[0].token, "a text that is printed cannot have a byte 0, which ends texts");
    for (std::size_t i = 1; i < one.operands.size(); ++i) {
      const auto own = own_type(one.operands[i]);
      const std::string type = own ? *own : "i64";
      if (type != kUnknown && type != "ptr" && (integer_width(type) == 0 || integer_width(type) > 64))
        error(one.operands[i].token, "print takes texts and integers of up to 64 bits, not " + type);
      if (type != kUnknown) expect(one.operands[i], type, "the value");
    }
    assign(one, "void");
  }

  std::optional<std::string> channel(Instruction& one) {
    const auto own = own_type(one.operands[0]);
    if (own) one.operands[0].type = *own;
    auto element = own ? element_of(*own, "channel") : std::nullopt;
    if (!element && (!own || *own != kUnknown))
      error(one.operands[0].token, one.word + " takes a channel, not " + (own ? *own : "a number"));
    return element;
  }

  // ---- Opcodes ------------------------------------------------------------------------------------------------------------

  void refuse_in_core(const Instruction& one) {
    if (file_.profile == "core")
      error(one.token, one.word + ": profile :core has no scheduler; choose :service, :cluster or :sovereign");
  }

  void opcode(Instruction& one) {
    refuse_in_core(one);
    for (std::size_t i = 0; i < one.budget.size(); ++i)
      if (one.budget[i])
        expect(*one.budget[i], std::string(kBudgetParts[i].second), std::string(kBudgetParts[i].first));
    switch (one.opcode) {
      case Opcode::kBudgetCheck:
      case Opcode::kYield:
        return assign(one, "void");
      case Opcode::kBudgetDecrement:
        expect(one.operands[0], "i64", "the cost");
        return assign(one, "void");
      case Opcode::kSleep:
        expect(one.operands[0], "i64", "the time in milliseconds");
        return assign(one, "i64");
      case Opcode::kNurseryBegin:
        if (one.result != kNoIndex)
          if (const auto known = registers_.find(std::string(tokens_.name(one.result))); known != registers_.end()) {
            function_.registers[known->second].type = kUnknown;
            return error(one.result, "a second value for the register of a nursery");
          }
        return assign(one, "nursery");
      case Opcode::kNurseryEnd:
      case Opcode::kNurseryCancel:
        if (!one.operands.empty()) {
          const auto own = own_type(one.operands[0]);
          if (!own || (*own != "nursery" && *own != kUnknown))
            error(one.operands[0].token, one.word + " takes a nursery, not " + (own ? *own : "a number"));
          if (!own || *own != "nursery") is_flow_known_ = false;
        }
        return assign(one, one.opcode == Opcode::kNurseryEnd ? "i64" : "void");
      case Opcode::kTaskCreate:
      case Opcode::kSpawn:
      case Opcode::kFork:
      case Opcode::kAsyncCall:
        return task(one);
      case Opcode::kTaskJoin:
      case Opcode::kAwait:
        return join(one);
    }
  }

  void task(Instruction& one) {
    const FunctionHead* const target = callee(one);
    if (target == nullptr) return;
    if (target->is_variadic)
      return error(one.callee, std::string(tokens_.text(target->name)) +
                                   " takes a variable number of arguments, which a task cannot have");
    check_arguments(one, *target);
    one.type = target->result;
    assign(one, (one.opcode == Opcode::kAsyncCall ? "async " : "task ") + target->result);
  }

  void join(Instruction& one) {
    Operand& operand = one.operands[0];
    const auto own = own_type(operand);
    operand.type = own ? *own : "i64";
    if (own && *own == kUnknown) return;
    if (one.opcode == Opcode::kAwait && own && *own == "nursery") {
      one.type = "nursery";
      return assign(one, "i64");
    }
    auto result = own ? element_of(*own, "task") : std::nullopt;
    if (!result && own && one.opcode == Opcode::kAwait) result = element_of(*own, "async");
    if (!result)
      return error(operand.token, "a join of what is no task: " + std::string(tokens_.text(operand.token)) + " is " +
                                      (own ? "of type " + *own : "a number"));
    one.type = *result;
    assign(one, *result == "void" ? "i64" : *result);
  }

  // ---- Nurseries ----------------------------------------------------------------------------------------------------------

  static FlowEvent::Kind flow_kind(const Instruction& one) {
    if (one.kind == Kind::kReturn) return FlowEvent::Kind::kReturn;
    if (one.kind != Kind::kOpcode) return FlowEvent::Kind::kPoint;
    if (one.opcode == Opcode::kAwait && one.type == "nursery") return FlowEvent::Kind::kAwait;
    return flow_kind_of(one.opcode).value_or(FlowEvent::Kind::kPoint);
  }

  void follow_nurseries() {
    if (!is_flow_known_) return;
    auto& blocks = function_.flow_blocks;
    for (const Block& block : function_.blocks) {
      const std::uint32_t place = block.label != kNoIndex ? block.label : function_.name;
      blocks.push_back({tokens_.begin_of(place), tokens_.begin_of(place), {}, block.successors});
      for (const Instruction& one : block.instructions) {
        const FlowEvent::Kind kind = flow_kind(one);
        std::string nursery;
        if (kind == FlowEvent::Kind::kBegin && one.result != kNoIndex) nursery = tokens_.name(one.result);
        const bool names_one =
            kind == FlowEvent::Kind::kEnd || kind == FlowEvent::Kind::kCancel || kind == FlowEvent::Kind::kAwait;
        if (names_one && !one.operands.empty()) nursery = tokens_.name(one.operands[0].token);
        blocks.back().events.push_back({kind, tokens_.begin_of(one.token), nursery});
      }
    }
    function_.flow.emplace(tokens_.source());
    const bool is_right = function_.flow->run(blocks);
    for (std::size_t b = 0; b < blocks.size(); ++b)
      for (std::size_t i = 0; i < blocks[b].events.size(); ++i)
        function_.blocks[b].instructions[i].event = &blocks[b].events[i];
    if (is_right && !tokens_.source().has_errors()) check_joins();
  }

  using Spawns = std::map<std::uint32_t, const FlowEvent*>;  // by stack of nurseries

  // Whether the nurseries of all spawns have ended. Looks at each spawn or at each open nursery, whichever are fewer: many
  // spawns may assign one register.
  bool have_ended(const Spawns& spawns, const FlowEvent& at) const {
    const NurseryFlow& flow = *function_.flow;
    const auto has_ended = [&](const FlowEvent& spawn) { return flow.has_ended(spawn, at); };
    if (spawns.size() <= flow.stacks()[at.stack].depth)
      return std::all_of(spawns.begin(), spawns.end(), [&](const auto& spawn) { return has_ended(*spawn.second); });
    // A spawn in no nursery or in code that is not reached has the first stack.
    if (!has_ended(*spawns.begin()->second)) return false;
    for (std::uint32_t open = at.stack; open != NurseryFlow::kEmpty; open = flow.stacks()[open].outer)
      if (const auto spawn = spawns.find(open); spawn != spawns.end() && !has_ended(*spawn->second)) return false;
    return true;
  }

  // A join is wrong if its register can only hold tasks of nurseries that have ended.
  void check_joins() {
    struct Writers {
      Spawns spawns;
      bool has_others = false;
    };
    std::vector<Writers> writers(function_.registers.size());
    for (std::size_t i = 0; i < function_.parameters.size() && i < writers.size(); ++i) writers[i].has_others = true;
    std::vector<const Instruction*> joins;
    for (const Block& block : function_.blocks)
      for (const Instruction& one : block.instructions) {
        const bool is_opcode = one.kind == Kind::kOpcode;
        if (one.result_number != kNoIndex && is_opcode && makes_task(one.opcode))
          writers[one.result_number].spawns.emplace(one.event->stack, one.event);
        else if (one.result_number != kNoIndex)
          writers[one.result_number].has_others = true;
        const bool waits = is_opcode && (one.opcode == Opcode::kTaskJoin || one.opcode == Opcode::kAwait);
        if (waits && one.type != "nursery" && one.operands[0].kind == Operand::Kind::kRegister) joins.push_back(&one);
      }
    for (const Instruction* const join : joins) {
      const Operand& task = join->operands[0];
      if (task.register_number >= writers.size()) continue;
      const auto& [spawns, has_others] = writers[task.register_number];
      if (!spawns.empty() && !has_others && have_ended(spawns, *join->event))
        error(task.token,
              "a join of a task whose nursery " + function_.flow->described(spawns.begin()->first) + " has ended");
    }
  }

  const Tokens& tokens_;
  const File& file_;
  Function& function_;
  std::unordered_map<std::string, std::uint32_t> registers_, labels_;
  bool is_flow_known_ = true;  // each nursery is named by the register of its Nursery_Begin
};

}  // namespace

void check(const Tokens& tokens, const File& file, Function& function) {
  if (tokens.name(function.name) == "main" &&
      (!function.parameters.empty() || function.result == "ptr" || function.is_external))
    tokens.source().error(tokens.begin_of(function.name), "@main takes nothing and returns an integer or nothing");
  if (!function.is_external && is_intrinsic(tokens.name(function.name)))
    tokens.source().error(tokens.begin_of(function.name), "names that begin with llvm. are those of LLVM's intrinsics");
  if (!function.is_external) FunctionCheck(tokens, file, function).run();
}

}  // namespace janus::lower::qtjir
