// SPDX-License-Identifier: Apache-2.0
// qtjir_calls.cpp — calls of bodies and of external functions.
#include "qtjir_calls.h"

#include "runtime_names.h"

namespace janus::lower::qtjir {

void Calls::call(const Instruction& one) {
  const Module& module = text_.module();
  const FunctionHead& target = module.callee(one);
  const std::string name = module.name_of(target);
  // An intrinsic is an instruction rather than a call. The runtime's own functions are yield checks themselves.
  const bool is_unchecked = target.is_external && (is_intrinsic(name) || is_of_runtime(name));
  if (module.has_yield_checks() && !is_unchecked) points_.check(one, "1");
  if (!target.is_external) return call_body(one, target, text_.typed_values(one.operands), points_.unwinds());
  const std::string list = external_arguments(one, target), result = module.external_result(target);
  const std::string called =
      result + " " + (target.is_variadic ? variadic_type(target) : "") + symbol(name) + "(" + list + ")";
  if (result == "void") return text_.line("call ", called);
  const std::string value = text_.fresh("v");
  text_.line(value, " = call ", called);
  text_.store_result(one, target.result, value);
}

void Calls::defer(const Instruction& one) {
  Deferred deferred{text_.local("i1", "deferred"), {}, &one};
  for (const Operand& operand : one.operands) {
    const std::string type = text_.module().llvm(operand.type);
    deferred.arguments.push_back(text_.local(type, "argument"));
    const std::string argument = text_.typed_value(operand);
    text_.line("store ", argument, ", ", text_.to(type), " ", deferred.arguments.back());
  }
  text_.line("store i1 true, ", text_.to("i1"), " ", deferred.is_armed);
  deferred_.push_back(std::move(deferred));
}

// The arguments as C code receives them: narrow integers are extended, to an int where the parameter has no declared
// type.
std::string Calls::external_arguments(const Instruction& one, const FunctionHead& target) {
  std::string list;
  for (std::size_t i = 0; i < one.operands.size(); ++i) {
    const Operand& operand = one.operands[i];
    std::string type = text_.module().llvm(operand.type), value = text_.value(operand);
    const std::string_view extension = extension_of(operand.type);
    list.append(i == 0 ? "" : ", ");
    if (i >= target.parameters.size() && !extension.empty()) {
      const std::string wide = text_.fresh("v");
      text_.line(wide, " = ", extension == "zeroext" ? "zext " : "sext ", type, " ", value, " to i32");
      type = "i32";
      value = wide;
    } else if (!extension.empty()) {
      type.append(" ").append(extension);
    }
    list.append(type).append(" ").append(value);
  }
  return list;
}

// Runs the deferred calls, the last first.
void Calls::write_exit() {
  for (auto deferred = deferred_.rbegin(); deferred != deferred_.rend(); ++deferred) run(*deferred);
}

// With `may_unwind`, a cancel that ended the called body ends this function, too.
void Calls::call_body(const Instruction& one, const FunctionHead& target, const std::string& list, bool may_unwind) {
  const std::string result = text_.module().llvm(target.result), both = body_result(result), name = text_.fresh("v");
  text_.line(name, " = call ", both, " ", text_.module().body_symbol(target), "(", list, ")");
  std::string told = name;
  if (result != "void") {
    const std::string value = text_.fresh("v");
    told = text_.fresh("told");
    text_.line(value, " = extractvalue ", both, " ", name, ", 0");
    text_.line(told, " = extractvalue ", both, " ", name, ", 1");
    if (one.kind == Kind::kCall) text_.store_result(one, target.result, value);
  }
  if (may_unwind && !target.is_cleanup) points_.leave_if(one, told);
}

void Calls::run(const Deferred& deferred) {
  const Module& module = text_.module();
  const std::string is_armed = text_.fresh("v"), run = text_.fresh_label(), next = text_.fresh_label();
  text_.line(is_armed, " = load i1, ", text_.to("i1"), " ", deferred.is_armed);
  text_.line("br i1 ", is_armed, ", label %", run, ", label %", next);
  text_.begin(run);
  const FunctionHead& target = module.callee(*deferred.instruction);
  std::string list;
  for (std::size_t i = 0; i < deferred.arguments.size(); ++i) {
    const std::string type = module.llvm(deferred.instruction->operands[i].type), argument = text_.fresh("v");
    text_.line(argument, " = load ", type, ", ", text_.to(type), " ", deferred.arguments[i]);
    const std::string_view extension = target.is_external ? extension_of(deferred.instruction->operands[i].type) : "";
    list.append(i == 0 ? "" : ", ").append(type).append(extension.empty() ? "" : " ").append(extension);
    list.append(" ").append(argument);
  }
  const std::string result = module.external_result(target);
  if (target.is_external)
    text_.line(result == "void" ? "" : text_.fresh("unused") + " = ", "call ", result, " ",
               symbol(module.name_of(target)), "(", list, ")");
  else
    call_body(*deferred.instruction, target, list, false);
  text_.line("br label %", next);
  text_.begin(next);
}

std::string Calls::variadic_type(const FunctionHead& target) const {
  std::string list;
  for (const std::string& parameter : target.parameters) list += text_.module().llvm(parameter) + ", ";
  return "(" + list + "...) ";
}

}  // namespace janus::lower::qtjir
