// SPDX-License-Identifier: Apache-2.0
// qtjir_text.cpp — a function's locals and the values of its operands.
#include "qtjir_text.h"

#include <array>
#include <charconv>

#include "qtjir_strings.h"
#include "types.h"

namespace janus::lower::qtjir {

void FunctionText::restart() {
  head_.clear();
  body_.clear();
  names_ = 0;
}

std::string FunctionText::fresh(std::string_view what) {
  std::array<char, 24> digits;
  const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), names_++).ptr;
  std::string name(1, '%');
  name.append(what).append(1, '.').append(digits.data(), static_cast<std::size_t>(end - digits.data()));
  return name;
}

std::string FunctionText::local(const std::string& type, std::string_view what) {
  std::string name = fresh(what);
  head_ += "  " + name + " = alloca " + type + "\n  store " + type + " " + (is_pointer(type) ? "null" : "0") + ", " +
           to(type) + " " + name + "\n";
  return name;
}

std::string FunctionText::value(const Operand& operand) {
  const Tokens& tokens = module_.tokens();
  if (operand.kind == Operand::Kind::kInteger) {
    const std::string_view digits = tokens.text(operand.token);
    return operand.type == "i1" ? (digits.find_first_not_of("0-") == std::string_view::npos ? "false" : "true")
                                : std::string(digits);
  }
  if (operand.kind == Operand::Kind::kString) return module_.string(unescaped(tokens.text(operand.token)));
  const std::string type = module_.llvm(operand.type);
  std::string name = fresh("v");
  line(name, " = load ", type, ", ", to(type), " ", register_at(operand.register_number));
  return name;
}

std::string FunctionText::typed_value(const Operand& operand) {
  const std::string text = value(operand);
  return module_.llvm(operand.type) + " " + text;
}

std::string FunctionText::typed_values(const std::vector<Operand>& operands) {
  std::string list;
  for (const Operand& operand : operands) {
    const std::string argument = typed_value(operand);
    list += (list.empty() ? "" : ", ") + argument;
  }
  return list;
}

void FunctionText::store_result(const Instruction& one, const std::string& type, const std::string& text) {
  if (one.result_number == kNoIndex) return;
  const std::string llvm = module_.llvm(type);
  line("store ", llvm, " ", text, ", ", to(llvm), " ", register_at(one.result_number));
}

}  // namespace janus::lower::qtjir
