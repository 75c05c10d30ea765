// SPDX-License-Identifier: Apache-2.0
#include "ll_tasks.h"

#include "runtime_names.h"
#include "types.h"

namespace janus::lower {

void Tasks::spawn(const OpcodeAt& use) {
  const OpcodeUse& opcode = use.opcode;
  const auto found = rewrite_.module.module.callables.find(rewrite_.tokens.name(opcode.function));
  const std::string name(rewrite_.tokens.text(opcode.function));
  if (found == rewrite_.module.module.callables.end())
    return rewrite_.error(opcode.function, "unknown function " + name);
  if (found->second.is_unknown_alias)
    return rewrite_.error(opcode.function, name +
                                               " is an alias, and its function is not known here, or has other types: "
                                               "call it in a function");
  const Signature& signature = *found->second.signature;
  if (!fits(use, signature, name)) return;
  TaskShape shape{signature, found->second.symbol, Handle::kNone, opcode.budget != nullptr, false};
  const bool keeps_handle = rewrite_.instruction(use.instruction).has_result;
  if (opcode.opcode == Opcode::kAsyncCall)
    shape.handle = Handle::kChannel;
  else if (keeps_handle)
    shape.handle = handle_for(signature.result);
  const Nurseries::Parent parent = nurseries_.parent_of(use);
  std::string arguments = rewrite_.helpers.pointer() + " " + parent.nursery + ", " + rewrite_.helpers.task(shape);
  if (shape.handle == Handle::kRecord || shape.handle == Handle::kChannel) {
    if (parent.list->empty()) *parent.list = rewrite_.local(rewrite_.helpers.pointer(), "records");
    arguments += ", " + rewrite_.helpers.pointer_to(rewrite_.helpers.pointer()) + " " + *parent.list;
  }
  std::string stores;
  for (std::size_t i = 0; i < opcode.operands.size(); ++i) {
    const std::string& type = signature.parameters[i].type;
    if (!depends_on_features(type)) {
      arguments += ", " + type + " " + opcode.operands[i].value;
      continue;
    }
    const std::string address = rewrite_.helpers.pointer_to(type) + " " + rewrite_.place_for(type, i);
    stores.append("store ").append(type).append(" ").append(opcode.operands[i].value).append(", ");
    stores.append(address).append("\n  ");
    arguments += ", " + address;
  }
  if (opcode.budget) arguments += ", " + rewrite_.budget_arguments(use);
  rewrite_.put(use, "call i64 " + rewrite_.helpers.spawn(shape) + "(" + arguments + ")", "unused", stores);
}

// Whether a task can run this function with these arguments.
bool Tasks::fits(const OpcodeAt& use, const Signature& signature, const std::string& name) {
  const OpcodeUse& opcode = use.opcode;
  if (is_intrinsic(rewrite_.tokens.name(opcode.function))) {
    rewrite_.error(opcode.function, name + " is an intrinsic, which a task cannot begin in: call it in a function");
    return false;
  }
  if (signature.is_variadic) {
    rewrite_.error(opcode.function, name + " takes a variable number of arguments, which a task cannot have");
    return false;
  }
  if (!opcode.type.empty() && opcode.type != signature.result) {
    rewrite_.error(opcode.function, name + " returns " + signature.result + ", not " + opcode.type);
    return false;
  }
  if (opcode.operands.size() != signature.parameters.size()) {
    rewrite_.error(opcode.function, name + " takes " + std::to_string(signature.parameters.size()) +
                                        " arguments, not " + std::to_string(opcode.operands.size()));
    return false;
  }
  const bool keeps_result = opcode.opcode == Opcode::kAsyncCall || rewrite_.instruction(use.instruction).has_result;
  if (keeps_result && !is_storable(joined_type(signature.result))) {
    rewrite_.error(opcode.function, "a task's result cannot be of type " + signature.result);
    return false;
  }
  for (std::size_t i = 0; i < opcode.operands.size(); ++i) {
    const Parameter& parameter = signature.parameters[i];
    const std::string what = "argument " + std::to_string(i + 1) + " of " + name;
    const std::string& refused = parameter.refused.empty() ? opcode.operands[i].refused : parameter.refused;
    if (!refused.empty() || !is_storable(parameter.type)) {
      rewrite_.error(opcode.operands[i].token, what + " is passed as " + (refused.empty() ? parameter.type : refused) +
                                                   ", which a task cannot have");
      return false;
    }
    rewrite_.check_type(opcode.operands[i], parameter.type, what);
  }
  return true;
}

void Tasks::join(const OpcodeAt& use) {
  const Operand& operand = use.opcode.operands[0];
  const auto [is_handle, kind, is_told] = kinds_.kind_of(operand);
  if (!is_handle || !rewrite_.check_type(operand, "i64", "the task")) return;
  if (is_told && kind->handle == Handle::kChannel && use.opcode.opcode == Opcode::kTaskJoin)
    return rewrite_.error(operand.token, "a join of what is no task: " + operand.value +
                                             " is the handle of an Async_Call, which Await waits for");
  std::string result = use.opcode.type;
  if (kind && !result.empty() && joined_type(kind->result) != result)
    return rewrite_.error(operand.token,
                          "the task's result is of type " + joined_type(kind->result) + ", not " + result);
  if (is_told)
    result = kind->result;
  else if (result.empty())
    return rewrite_.error(operand.token,
                          "the type of the task's result is not known here; write it: " +
                              std::string(rewrite_.tokens.text(rewrite_.instruction(use.instruction).mnemonic)) +
                              " i64, " + operand.value);
  if (!is_storable(joined_type(result)))
    return rewrite_.error(operand.token, "a task's result cannot be of type " + result);
  const bool is_await = use.opcode.opcode == Opcode::kAwait;
  if (!is_told && (kinds_.may_be_async(operand) || (is_await && makes_async_calls())))
    return rewrite_.error(
        operand.token,
        "it is not known here whether this is the handle of a task or of an Async_Call; keep each in a "
        "value or a variable of its own, or join tasks by Task_Join");
  nurseries_.check_join(use);
  const Handle handle = is_told ? kind->handle : handle_for(result);
  const std::string type = joined_type(result), helper = rewrite_.helpers.join(handle, result);
  if (!depends_on_features(type))
    return rewrite_.put(use, "call " + type + " " + helper + "(i64 " + operand.value + ")");
  const std::string address = rewrite_.helpers.pointer_to(type) + " " + rewrite_.place_for(type, 0);
  rewrite_.put(
      use, "load " + type + ", " + address, "unused",
      "call void " + helper + "(i64 " + operand.value + ", " + address + ")" + use.opcode.attachments + "\n  ");
}

bool Tasks::makes_async_calls() {
  if (!makes_async_calls_) {
    makes_async_calls_ = false;
    for (const Instruction& one : rewrite_.function.instructions)
      if (rewrite_.tokens.is_word(one.mnemonic, "Async_Call")) makes_async_calls_ = true;
  }
  return *makes_async_calls_;
}

}  // namespace janus::lower
